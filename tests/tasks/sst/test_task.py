"""Sentence classification from files to predictions, as it is typed."""

import json
import random

import pytest

from elmo.cli.main import main

WORDS = {"0": ["awful", "bad"], "2": ["a", "film", "the"], "4": ["fine", "great"]}


def tree(chance):
    label = chance.choice(["0", "4"])
    leaves = [("2", chance.choice(WORDS["2"])), (label, chance.choice(WORDS[label])), ("2", "film")]
    words = " ".join(f"({own} {word})" for own, word in leaves[1:])
    return f"({label} ({leaves[0][0]} {leaves[0][1]}) ({label} {words}))"


@pytest.fixture
def files(tmp_path):
    chance = random.Random(0)
    for name, count in (("train", 60), ("dev", 20)):
        (tmp_path / name).write_text("".join(tree(chance) + "\n" for _ in range(count)), encoding="utf-8")
    (tmp_path / "vectors.txt").write_text(
        "".join(f"{word} {' '.join(str(chance.gauss(0, 1)) for _ in range(6))}\n" for part in WORDS.values()
                for word in part), encoding="utf-8")  # fmt: skip
    (tmp_path / "small.toml").write_text("hidden_size = 8\nepochs = 8\nbatch_size = 16\nlearning_rate = 0.02\n")
    return tmp_path


def test_from_trees_to_predictions_with_static_vectors(files, capsys):
    data = ["--train", str(files / "train"), "--dev", str(files / "dev"), "--test", str(files / "dev")]
    run = str(files / "run")
    flags = ["--encoder", "none", "--static", str(files / "vectors.txt"), "--min-phrase-tokens", "1", "--json"]
    assert main(["task", "train", "sst", str(files / "small.toml"), *data, "-o", run, *flags]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["metric"] == "accuracy"
    assert found["test"]["mean"] > 90
    (files / "text").write_text("the great film\n\na bad film\n")
    assert main(["task", "predict", run, str(files / "text")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (lines[0], lines[1][1:], lines[2]) == ("4\tthe great film", "\t", "0\ta bad film")
    assert main(["task", "predict", run, str(files / "text"), "--json"]) == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert first["prediction"]["label"] == "4"
    assert sum(first["prediction"]["probabilities"].values()) == pytest.approx(1)


def test_a_classifier_that_knows_one_label_only_says_so(files, capsys):
    (files / "train").write_text("good\ta film\n" * 9 + "bad\tthe film\n")
    data = ["--train", str(files / "train"), "--dev", str(files / "train"), "--encoder", "none"]
    flags = ["--character-filters", "4", "--epochs", "1", "--learning-rate", "1e-6", "--hidden-size", "4"]
    assert main(["task", "train", "sst", *data, *flags, "-o", str(files / "run"), "--quiet"]) == 0
    told = capsys.readouterr().err
    assert "every sentence is given the label" in told
    assert main(["task", "evaluate", str(files / "run"), str(files / "train")]) == 0
    assert "predicted as: 9 " in capsys.readouterr().out
