"""`elmo task` with parts of speech: trained, scored and used; wrong input ends with exit code 2."""

import io
import json
import random
import sys

import pytest

from elmo.cli.main import main
from elmo.cli.verbs.task import apply

WORDS = {"NOUN": ["cat", "dog", "tree"], "VERB": ["sees", "takes"], "DET": ["the", "a"]}
SMALL = ["--encoder", "none", "--hidden-sizes", "8", "--character-filters", "6", "--epochs", "2", "--quiet"]


def treebank(count, seed):
    chance = random.Random(seed)
    text = ""
    for _ in range(count):
        rows = [(chance.choice(WORDS[tag]), tag) for tag in ("DET", "NOUN", "VERB", "DET", "NOUN")]
        cells = (f"{at}\t{word}\t_\t{tag}\t{tag[:2]}\t_\t_\tdep\t_\t_\n" for at, (word, tag) in enumerate(rows, 1))
        text += "".join(cells) + "\n"
    return text


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("train", "dev", "test")):
        (tmp_path / f"{name}.conllu").write_text(treebank(30, seed), encoding="utf-8")
    with (tmp_path / "test.conllu").open("a", encoding="utf-8") as file:
        file.write("1\tunseen\t_\tNOUN\tNO\t_\t_\tdep\t_\t_\n\n")
    return tmp_path


def test_a_run_is_scored_beside_the_rule_and_predicts_in_the_form_of_its_input(place, capsys, monkeypatch):
    files = ["--train", "train.conllu", "--dev", "dev.conllu", "--test", "test.conllu", "-o", "run"]
    assert main(["task", "train", "pos", *files, *SMALL, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    test = summary["per_seed"][0]["test"]
    assert (test["tokens"], test["unknown"], summary["metric"]) == (151, 1, "accuracy")
    (rule,) = summary["rules"]
    assert rule["scores"]["test"]["accuracy_known"] == 100
    assert rule["scores"]["test"]["unknown"] == 1
    assert main(["task", "predict", "run", "test.conllu", "--quiet"]) == 0
    assert capsys.readouterr().out == (place / "run/seed-1/test.predictions").read_text()
    # Text is tagged line by line.
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"the cat sees\n\na dog\n"), encoding="utf-8"))
    assert main(["task", "predict", "run", "-", "--tokenizer", "whitespace", "--quiet"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["the", "cat", "sees", "", "", "a", "dog", ""]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"the cat\n"), encoding="utf-8"))
    assert main(["task", "predict", "run", "-", "--tokenizer", "whitespace", "--quiet", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["tokens"], found["characters"]) == (["the", "cat"], [[0, 3], [4, 7]])
    assert len(found["prediction"]) == 2
    # Marks stay as they are, as in training, so nobody is told that they become plain ones.
    looks = []
    monkeypatch.setattr(apply, "print_first_look", lambda look, *_, **__: looks.append(look))
    (place / "marks").write_text("the “ cat ”\n", encoding="utf-8")
    assert main(["task", "predict", "run", "marks", "--quiet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tokens"] == ["the", "“", "cat", "”"]
    assert [look.reading.plain_quotes for look in looks] == [False]


def test_words_of_held_out_dev_data_are_not_known(place, capsys):
    """Without --dev; each sentence has a word of its own, so those of the held-out ones are unknown."""
    rows = "\n\n".join(f"the DET\nw{number} NOUN" for number in range(30))
    (place / "own.txt").write_text(rows + "\n", encoding="utf-8")
    assert main(["task", "train", "pos", "--train", "own.txt", "-o", "own", *SMALL, "--json"]) == 0
    dev = json.loads(capsys.readouterr().out)["per_seed"][0]["dev"]
    assert dev["unknown"] == dev["tokens"] / 2 > 0
