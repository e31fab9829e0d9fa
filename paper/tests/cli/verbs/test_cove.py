"""`elmo-paper cove` as it is typed."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from elmo.disk.bounded import file_hash
from elmo_paper.cli.main import main
from elmo_paper.cove.encoder import CoVeEncoder

WORDS = {"the cat": "die katze", "the dog": "der hund", "a horse": "ein pferd", "The Bird": "Der Vogel"}
WORDS["mice"] = "mäuse"
VERBS = {"sees": "sieht", "hears": "hört", "eats": "frisst"}
SMALL = ("--cells", "6", "--epochs", "2", "--batch-pairs", "6", "--quiet")
FILES = ("cove.pth", "training/best.safetensors", "training/last/weights.safetensors")


@pytest.fixture
def command(tmp_path) -> list[str]:
    """A training on 30 sentences of a subject, a verb and an object."""
    pairs = [
        (f"{one} {verb} {other} .", f"{WORDS[one]} {VERBS[verb]} {WORDS[other]} .")
        for one in WORDS
        for verb in VERBS
        for other in ("the cat", "mice")
    ]
    for part, chosen in {"train": pairs, "dev": pairs[::5]}.items():
        for side, language in enumerate(("en", "de")):
            lines = "".join(pair[side] + "\n" for pair in chosen)
            (tmp_path / f"{part}.{language}").write_text(lines, encoding="utf-8")
    known = ["the", "cat", "dog", "a", "horse", "bird", "sees", "eats"]
    rows = [f"{word} {number} {number % 3} 1" for number, word in enumerate(known)]
    (tmp_path / "vectors.txt").write_text("\n".join(rows) + "\n")
    train, dev = ([str(tmp_path / f"{part}.{language}") for language in ("en", "de")] for part in ("train", "dev"))
    return ["cove", *train, "--dev", *dev, "--vectors", str(tmp_path / "vectors.txt")]


def test_pairs_become_an_encoder(command, tmp_path, capsys):
    output = tmp_path / "new" / "model"
    assert main([*command, "-o", str(output), *SMALL, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    expected = {"pairs": 30, "left_out": 0, "target_words": 4 + 12, "dim": 12, "best_epoch": 2, "bleu": None}
    assert expected.items() <= report.items()
    assert report["dev_perplexity"][1] < report["dev_perplexity"][0]
    assert {"date", "commit", "machine"} <= report.keys()
    assert report["facts"]["text"] == [file_hash(Path(file)) for file in (*command[1:3], *command[4:6])]
    encoder = CoVeEncoder.load(output)
    (layers,) = encoder.embed_iter([["The", "bird", "eats", "crumbs"]])
    assert layers.shape == (2, 4, 12)


def test_test_pairs_are_translated(command, tmp_path, capsys):
    assert main([*command, "-o", str(tmp_path / "model"), "--test", *command[1:3], *SMALL, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert 0 <= report["bleu"] <= 100 and "tok:none" in report["bleu_signature"]
    assert len((tmp_path / "model" / "training" / "translations.txt").read_text("utf-8").splitlines()) == 30


def test_more_pairs_of_files_may_follow_and_half_a_pair_is_refused(command, tmp_path, capsys):
    more = [*command[:3], *command[1:3], *command[3:]]
    assert main([*more, "-o", str(tmp_path / "model"), *SMALL, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"] == 60
    assert main([*command[:2], *command[3:], "-o", str(tmp_path / "other"), *SMALL]) == 2
    assert "1 training texts were given" in capsys.readouterr().err
    assert main([command[0], *command[3:], "-o", str(tmp_path / "other"), *SMALL]) == 2
    assert "no value was given" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


@pytest.mark.slow
def test_a_killed_training_resumed_is_one_that_was_never_killed(command, tmp_path):
    epochs, log = [*SMALL, "--epochs", "60"], tmp_path / "broken" / "training" / "last" / "log.json"
    assert main([*command, "-o", str(tmp_path / "whole"), *epochs]) == 0
    broken = [*command, "-o", str(tmp_path / "broken"), *epochs]
    with subprocess.Popen([sys.executable, "-m", "elmo_paper", *broken]) as training:
        while not log.exists():
            assert training.poll() is None
            time.sleep(0.01)
        training.kill()
    assert len(json.loads(log.read_text())) < 60
    assert main([*broken, "--resume"]) == 0
    for name in FILES:
        assert (tmp_path / "broken" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
