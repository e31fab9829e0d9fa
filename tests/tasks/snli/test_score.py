"""Predicted labels are scored by their pairs' names."""

import pytest

from elmo.errors import TextError
from elmo.tasks.labels import Prediction
from elmo.tasks.snli.data import SentencePair
from elmo.tasks.snli.task import TASK, score_label_files

GOLD = [SentencePair(["a"], ["b"], label, name, "gold", line) for line, (name, label) in
        enumerate([("p1", "yes"), ("p2", "no"), ("p3", "no")], start=1)]  # fmt: skip


@pytest.fixture
def score(tmp_path):
    def score(text):
        path = tmp_path / "predicted"
        path.write_text(text, encoding="utf-8")
        return score_label_files(GOLD, "gold", path, "utf-8")

    return score


def test_order_does_not_matter_and_other_pairs_are_ignored(score):
    scores = score("p3\tyes\np1\tyes\nother\tno\n\np2\tno\n")
    assert scores["accuracy"] == pytest.approx(200 / 3)
    assert scores["per_label"]["no"]["predicted_as"] == {"no": 1, "yes": 1}


def test_what_is_written_can_be_scored(score):
    predictions = [Prediction(label=label, probabilities={}) for label in ("yes", "no", "yes")]
    lines = list(TASK.write(zip(GOLD, predictions, strict=True)))
    assert lines == ["p1\tyes", "p2\tno", "p3\tyes"]
    assert score("\n".join(lines)) == TASK.score(GOLD, predictions)
    assert list(TASK.write([(SentencePair(["a"], ["b"]), predictions[0])])) == ["1\tyes"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p1\tyes\np2\tno\n", "predicted: has no prediction for the pair 'p3' of gold:3"),
        ("p1 yes\n", "predicted:1: has no label"),
        ("p1\tyes\np1\tno\n", "predicted:2: has no label, or another one than an earlier line"),
    ],
)
def test_what_is_wrong_is_an_error(score, text, message):
    with pytest.raises(TextError, match=message):
        score(text)


def test_two_gold_pairs_of_one_name_are_an_error(tmp_path):
    path = tmp_path / "predicted"
    path.write_text("p1\tyes\n", encoding="utf-8")
    twice = [GOLD[0], SentencePair(["c"], ["d"], "yes", "p1", "gold", 7)]
    with pytest.raises(TextError, match="gold:7: 'p1' is the name of another example too \\(in gold:1"):
        score_label_files(twice, "gold", path, "utf-8")
