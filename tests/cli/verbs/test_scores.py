"""`elmo scores` as it is typed."""

import json

import pytest

from elmo.cli.verbs.scores import main
from elmo.lm.language_model import EngineLanguageModel
from elmo.lm.perplexity import sentence_scores

LINES = ["the bank was steep .", "", "the zebra"]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return path


def test_every_line_has_a_score_that_equals_the_librarys(model_folder, language_model, text, capsys):
    assert main([str(model_folder), str(text), "--json", "--quiet"]) == 0
    told = capsys.readouterr()
    found = sentence_scores(EngineLanguageModel(language_model), [line.split() for line in LINES if line])
    expected = [
        {"line": number, **score.to_dict(), "sentence": line}
        for score, (number, line) in zip(found, ((1, LINES[0]), (3, LINES[2])), strict=True)
    ]
    assert [json.loads(line) for line in told.out.splitlines()] == expected
    assert told.err == ""


def test_columns_have_a_head(model_folder, text, capsys):
    assert main([str(model_folder), str(text)]) == 0
    told = capsys.readouterr()
    rows = [line.split("\t") for line in told.out.splitlines()]
    assert rows[0] == ["line", "forward", "backward", "mean", "per_prediction", "tokens", "unknown", "sentence"]
    assert [[row[0], *row[5:]] for row in rows[1:]] == [["1", "5", "0", LINES[0]], ["3", "2", "1", LINES[2]]]
    assert told.err == ""  # no bar where nobody can see it
