"""Coreference from files to clusters, as it is typed."""

import json
import random
import shlex
import unicodedata
from pathlib import Path

import pytest
from tests.tasks.test_pages import commands

from elmo.cli.main import main
from elmo.tasks.coref.conll import write_conll
from elmo.tasks.coref.documents import CorefSettings, Document
from elmo.tasks.coref.task import TASK
from elmo.tasks.task import TextReading

NAMES = {"Anna": "She", "Bell": "She", "Otto": "He", "Carl": "He"}


def document(number, chance):
    """Two persons, whose names and pronouns return."""
    she, he = chance.choice(["Anna", "Bell"]), chance.choice(["Otto", "Carl"])
    sentences, clusters, start = [], {"1": [], "2": []}, 0
    for turn in range(6):
        name = chance.choice([she, he])
        word = name if turn < 3 else NAMES[name]
        sentences.append((word, chance.choice(["smiled", "slept"]), "."))
        clusters["1" if name == she else "2"].append((start, start))
        start += 3
    return Document((f"nw/{number}", "000"), tuple(sentences)), {k: v for k, v in clusters.items() if len(v) > 1}


@pytest.fixture
def files(tmp_path) -> Path:
    return write_files(tmp_path)


def write_files(tmp_path) -> Path:
    """30 documents to train on, 6 others, and a small network's settings."""
    for name, count, seed in (("train", 30, 1), ("dev", 6, 2)):
        chance = random.Random(seed)
        found = [document(number, chance) for number in range(count)]
        lines = [line for one, clusters in found for line in write_conll(one, clusters)]
        (tmp_path / f"{name}.conll").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    (tmp_path / "small.toml").write_text(
        "hidden_size = 12\ncharacter_filters = 8\nspan_hidden_sizes = [16]\nfeature_size = 5\nmax_width = 2\n"
        "spans_per_token = 0.5\nepochs = 4\nlearning_rate = 0.01\nlexical_dropout = 0.1\nwindow_sentences = 5\n"
    )
    return tmp_path


def train(files, *flags):
    dev = str(files / "dev.conll")
    data = ["--train", str(files / "train.conll"), "--dev", dev, "--test", dev]
    return main(["task", "train", "coref", str(files / "small.toml"), *data, "-o", str(files / "run"), *flags])


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> str:
    """A model of one epoch, for tests that only use it."""
    folder = write_files(tmp_path_factory.mktemp("trained"))
    assert train(folder, "--encoder", "none", "--epochs", "1", "--quiet") == 0
    return str(folder / "run")


def test_raw_text_becomes_clusters_that_can_be_read(files, run, capsys):
    (files / "text.txt").write_text("Anna smiled. Otto slept. She smiled.\nShe slept.\n")
    assert main(["task", "predict", run, str(files / "text.txt")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.replace("[", "").split("]")[0].split()[0] for line in lines[:4]] == ["Anna", "Otto", "She", "She"]
    assert lines[4] == ""
    assert all(line[0].isdigit() and ": " in line for line in lines[5:])
    assert main(["task", "predict", run, str(files / "text.txt"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sentences"][0] == ["Anna", "smiled", "."]
    assert len(found["mentions"]) == len(found["prediction"])


def test_predictions_keep_the_layout_of_their_input(files, run, capsys):
    assert main(["task", "predict", run, str(files / "dev.conll")]) == 0
    assert capsys.readouterr().out.startswith("#begin document (nw/0); part 000\n")
    row = {"doc_key": "nw/7", "sentences": [["Anna", "smiled", "."], ["She", "slept"]]}
    (files / "new.jsonl").write_text(json.dumps(row) + "\n")
    assert main(["task", "predict", run, str(files / "new.jsonl")]) == 0
    assert json.loads(capsys.readouterr().out).keys() == {"doc_key", "sentences", "clusters"}


def test_one_document_of_two_files_is_refused(files, run, capsys):
    out, file = files / "out.conll", str(files / "dev.conll")
    assert main(["task", "predict", run, file, file, "-o", str(out)]) == 2
    assert "('nw/0', '000') is the name of another example too" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("new.conll", "nw/a 0 0 Anna NN * -\n", "new.conll:1: is outside a document"),
        ("new.jsonl", "[]\n", "new.jsonl:1: must be an object"),
    ],
)
def test_columns_and_json_lines_are_never_taken_for_raw_text(files, run, capsys, name, text, message):
    (files / name).write_text(text)
    assert main(["task", "predict", run, str(files / name)]) == 2
    assert message in capsys.readouterr().err


def test_documents_without_a_response_are_remarked_on(files, capsys):
    other = (files / "dev.conll").read_text().replace("(nw/0)", "(nw/other)")
    (files / "other.conll").write_text(other)
    assert main(["task", "score", "coref", str(files / "dev.conll"), str(files / "other.conll")]) == 0
    assert "1 of the key's" in capsys.readouterr().err
    (files / "none.conll").write_text("#begin document (x); part 000\n#end document\n")
    assert main(["task", "score", "coref", str(files / "dev.conll"), str(files / "none.conll")]) == 2
    assert "none.conll:1: 'x_000' and all other documents here are not in the key" in capsys.readouterr().err


def test_singletons_are_written_when_mentions_are_taught(files, capsys):
    assert train(files, "--encoder", "none", "--mention-loss", "1", "--epochs", "2") == 0
    capsys.readouterr()
    (files / "text.txt").write_text("Anna smiled.\n")
    assert main(["task", "predict", str(files / "run"), str(files / "text.txt"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mentions"] == [["Anna"]]


def test_every_command_of_the_page_runs(files, monkeypatch):
    lines = commands("coref")
    assert len(lines) >= 5
    (files / "text.txt").write_text("Anna smiled. She slept.\n", encoding="utf-8")
    monkeypatch.chdir(files)
    quick = ["--encoder", "none", "--epochs", "1", "--hidden-size", "4", "--quiet"]
    for line in lines:
        program, *words = shlex.split(line)
        assert program == "elmo"
        assert main([*words, *(quick if words[1] == "train" else [])]) == 0, line


def test_a_tokenizer_that_is_asked_for_takes_the_place_of_the_trained_one(tmp_path):
    (tmp_path / "text.txt").write_text("It rains.\n", encoding="utf-8")
    for reading, words in ((TextReading(tokenizer="auto"), ("It", "rains", ".")), (TextReading(), ("It", "rains."))):
        (found,) = TASK.read_unlabelled(tmp_path / "text.txt", CorefSettings(), reading)
        assert tuple(found.sentences[0]) == words


def test_raw_text_is_read_with_letters_composed(tmp_path):
    (tmp_path / "text.txt").write_text(unicodedata.normalize("NFD", "한국에 café 있다\n"), encoding="utf-8")
    (found,) = TASK.read_unlabelled(tmp_path / "text.txt", CorefSettings(), TextReading(tokenizer="auto"))
    assert found.sentences == (("한국에", "café", "있다"),)
