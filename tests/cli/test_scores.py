"""`elmo scores` as it is typed."""

import json

import pytest

from elmo.cli.scores import main
from elmo.errors import TextError
from elmo.lm.sentence_scores import sentence_scores
from elmo.model.bilm import BiLM
from elmo.model.lm_head import LMHead

LINES = ["the bank was steep .", "", "the zebra"]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return path


def test_every_line_has_a_score_that_equals_the_librarys(model_folder, language_model, text, capsys):
    assert main([str(model_folder), str(text), "--json", "--quiet"]) == 0
    told = capsys.readouterr()
    bilm, head = BiLM.from_checkpoint(language_model), LMHead.from_checkpoint(language_model)
    expected = [score.to_dict() for score in sentence_scores(bilm, head, [line.split() for line in LINES])]
    assert [json.loads(line) for line in told.out.splitlines()] == expected
    assert told.err == ""


def test_columns_have_a_head(model_folder, text, capsys):
    assert main([str(model_folder), str(text)]) == 0
    told = capsys.readouterr()
    rows = [line.split("\t") for line in told.out.splitlines()]
    assert rows[0] == ["forward", "backward", "mean", "per_prediction", "tokens", "unknown"]
    assert [row[4:] for row in rows[1:]] == [["5", "0"], ["0", "0"], ["2", "1"]]
    assert "3sentence" in told.err


def test_bad_lines_stop_or_are_listed(model_folder, text, capsys):
    text.write_bytes(b"the bank\ncaf\xe9\n")
    with pytest.raises(TextError, match=r"text\.txt:2"):
        main([str(model_folder), str(text), "--quiet"])
    assert main([str(model_folder), str(text), "--quiet", "--errors", "skip"]) == 1
    assert "text.txt:2: not valid UTF-8" in capsys.readouterr().err
