"""Table 7: a model is fine-tuned on a task's own sentences; the perplexities are those of its dev text."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from elmo.lm.named_model import perplexity
from elmo.text.vocabulary import SPECIAL_WORDS
from elmo.weights.native.read import read
from elmo.weights.native.write import write
from elmo_paper.cli.main import main
from elmo_paper.queue import finetuned

WORDS = [*SPECIAL_WORDS, "the", "saw", "Anna", "Rome"]


@pytest.fixture
def run(place: Path, tiny_bilm, monkeypatch):
    """`run(...)`: the exit code of the script on the names of `place`, with a model that has a softmax."""
    checkpoint = tiny_bilm.to_checkpoint()
    random, size = np.random.default_rng(0), checkpoint.config.projection_size
    softmax = {"weight": random.normal(size=(len(WORDS), size)), "bias": random.normal(size=len(WORDS))}
    softmax = {name: array.astype(np.float32) for name, array in softmax.items()}
    write(dataclasses.replace(checkpoint, vocabulary=WORDS, softmax=softmax), place / "model", force=True)
    monkeypatch.setattr(finetuned, "PLAN", place / "plan.toml")
    words = [str(place / "out"), "--data", str(place / "data"), "--model", str(place / "model"), "--texts", "ner"]
    return lambda *more: main(["finetuned", *words, *more])


def test_the_record_has_the_perplexities_of_both_models_and_the_counts_of_each_sentence(run, place: Path):
    assert run("--seeds", "1", "2", "--record", str(place / "records")) == 0
    lines = (place / "out" / "ner" / "dev.txt").read_text().splitlines()
    assert len(lines) == len(set(lines)) > 1
    assert "Anna Rome" in lines
    record = json.loads((place / "records" / "ner.json").read_text())
    models = [place / "model", *(place / "out" / "ner" / f"seed-{seed}" / "model" for seed in (1, 2))]
    own = [perplexity([line.split() for line in lines], str(one)).of("mean") for one in models]
    before, after = record["perplexity"]["before"], record["perplexity"]["after"]
    assert [before, *after] == pytest.approx(own, rel=1e-5)
    assert after[0] != after[1]
    predictions, nats = (np.array(record["counts"][name]) for name in ("predictions", "nats"))
    assert predictions.tolist() == [len(line.split()) + 1 for line in lines]
    # Each count is rounded to 0.005 nats.
    assert np.log(own) == pytest.approx(
        nats.sum(axis=1) / predictions.sum(), abs=0.005 * len(lines) / predictions.sum()
    )
    low, high = record["ratio"]["interval"]
    assert low < record["ratio"]["mean"] < high < 1
    assert record["verdict"] == "agrees"


def test_what_is_done_is_not_done_again_and_trainings_of_other_data_or_models_are_not_taken(run, place: Path, capsys):
    assert run("--seeds", "1") == 0
    written = {path: path.stat().st_mtime_ns for path in (place / "out" / "ner" / "seed-1").rglob("*.safetensors")}
    assert run("--seeds", "1") == 0
    assert {path: path.stat().st_mtime_ns for path in written} == written
    path = place / "data" / "towns" / "train.conll"
    text = path.read_text()
    path.write_text(text + "\nOslo B-LOC\n")
    assert run("--seeds", "1") == 2
    assert "is the text of other data than" in capsys.readouterr().err
    path.write_text(text)
    checkpoint = read(place / "model")
    tensors = {name: 2 * array for name, array in checkpoint.tensors.items()}
    write(dataclasses.replace(checkpoint, tensors=tensors), place / "model", force=True)
    assert run("--seeds", "1") == 2
    assert "is a training of another model" in capsys.readouterr().err


def test_an_example_with_two_texts_gives_each_of_them_once(tmp_path: Path):
    asked = [
        {"question": f"Who is {name} ?", "id": name, "answers": [{"text": name, "answer_start": 6 * place}]}
        for place, name in enumerate("AB")
    ]
    articles = {"data": [{"title": "x", "paragraphs": [{"context": "A met B .", "qas": asked}]}]}
    (tmp_path / "train.json").write_text(json.dumps(articles))
    questions, contexts = (
        finetuned.sentences_of("squad", tmp_path / "train.json", part) for part in ("questions", "articles")
    )
    assert [" ".join(one) for one in questions] == ["Who is A ?", "Who is B ?"]
    assert [" ".join(one) for one in contexts] == ["A met B ."]


def test_a_wrong_model_is_a_message_and_exit_code_2(run, place: Path, capsys):
    (place / "model" / "config.json").unlink()
    assert run() == 2
    assert "model" in capsys.readouterr().err
