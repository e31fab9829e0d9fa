"""Textual entailment from files to predictions, as on the command line."""

import json
import random

import pytest

from elmo.cli.main import main
from elmo.tasks.snli.data import SentencePair, SnliSettings
from elmo.tasks.snli.task import TASK
from elmo.tasks.task import TextReading

ANIMALS, VERBS = ["cat", "dog", "bird"], ["sleeps", "runs"]


def pair(chance, number):
    """Entailed: the same animal and verb; contradicted: another animal."""
    animal, verb, other = *chance.sample(ANIMALS, 1), chance.choice(VERBS), chance.choice(ANIMALS)
    label = "entailment" if other == animal else "contradiction"
    return {
        "gold_label": label, "sentence1": f"A {animal} {verb} .", "sentence2": f"A {other} {verb} .",
        "pairID": f"p{number}",
    }  # fmt: skip


@pytest.fixture
def files(tmp_path):
    chance = random.Random(0)
    for name, count in (("train", 80), ("dev", 30)):
        rows = [pair(chance, number) for number in range(count)]
        rows.append({**rows[0], "gold_label": "-", "pairID": "undecided"})
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    words = ["A", ".", *ANIMALS, *VERBS]
    vectors = "".join(f"{word} {' '.join(str(chance.gauss(0, 1)) for _ in range(6))}\n" for word in words)
    (tmp_path / "vectors.txt").write_text(vectors, encoding="utf-8")
    (tmp_path / "small.toml").write_text(
        "hidden_size = 12\nepochs = 12\nbatch_size = 8\nlearning_rate = 0.01\ndropout = 0.1\ndecay = 'none'\n"
    )
    return tmp_path


def test_from_pairs_to_predictions_with_static_vectors(files, capsys):
    train, dev, run = str(files / "train.jsonl"), str(files / "dev.jsonl"), str(files / "run")
    flags = ["--encoder", "none", "--static", str(files / "vectors.txt"), "--json"]
    data = ["--train", train, "--dev", dev, "--test", dev]
    assert main(["task", "train", "snli", str(files / "small.toml"), *data, "-o", run, *flags]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["metric"] == "accuracy"
    assert found["test"]["mean"] > 90
    lines = (files / "run/seed-1/test.predictions").read_text().splitlines()
    assert (len(lines), lines[0].split("\t")[0]) == (30, "p0")
    (files / "pairs").write_text("A cat sleeps .\tA cat sleeps .\n\nA dog runs.\tA bird runs.\n")
    assert main(["task", "predict", run, str(files / "pairs")]) == 0
    assert capsys.readouterr().out == "1\tentailment\n3\tcontradiction\n"
    assert main(["task", "predict", run, str(files / "pairs"), "--json"]) == 0
    second = json.loads(capsys.readouterr().out.splitlines()[1])
    assert second["premise"] == ["A", "dog", "runs", "."]
    assert sum(second["prediction"]["probabilities"].values()) == pytest.approx(1)


def test_pairs_of_one_premise_stay_together():
    one, other = SentencePair(["a"], ["b"], "x"), SentencePair(["a"], ["c"], "y")
    assert TASK.group(one, 0) == TASK.group(other, 5)


def test_a_tokenizer_that_is_asked_for_takes_the_place_of_the_trained_one(tmp_path):
    (tmp_path / "pairs.tsv").write_text("It rains.\tIt's wet.\n", encoding="utf-8")
    for reading, premise in ((TextReading(tokenizer="auto"), ["It", "rains", "."]), (TextReading(), ["It", "rains."])):
        (found,) = TASK.read_unlabelled(tmp_path / "pairs.tsv", SnliSettings(), reading)
        assert list(found.premise) == premise
