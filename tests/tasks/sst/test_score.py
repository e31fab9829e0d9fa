"""Accuracy, and the figures beside it, by hand."""

import pytest

from elmo.errors import TextError
from elmo.tasks.labels import Prediction
from elmo.tasks.settings import with_table
from elmo.tasks.sst.data import LabelledSentence
from elmo.tasks.sst.task import TASK, sentiment_scores
from elmo.tasks.task import TextReading
from elmo.text.reading.settings import AUTO


def certain(label, labels="01234"):
    return Prediction(label=label, probabilities={other: float(other == label) for other in labels})


def test_figures_are_right():
    gold = ["0", "1", "2", "3", "4", "4"]
    scores = sentiment_scores(gold, [certain(label) for label in "011344"])
    assert scores["accuracy"] == pytest.approx(100 * 5 / 6)
    assert scores["sentences"] == 6
    one = scores["per_label"]["1"]
    assert (one["gold"], one["predicted"], one["correct"]) == (1, 2, 1)
    assert (one["precision"], one["recall"], one["f1"]) == pytest.approx((50, 100, 200 / 3))
    assert scores["per_label"]["2"]["f1"] == 0
    assert scores["per_label"]["2"]["predicted_as"] == {"1": 1}
    assert scores["binary_accuracy"] == 100


def test_binary_accuracy_sums_probabilities_and_leaves_neutral_sentences_out():
    positive = Prediction(label="1", probabilities={"0": 0.0, "1": 0.35, "2": 0.2, "3": 0.25, "4": 0.2})
    scores = sentiment_scores(["3", "1", "2"], [positive] * 3)
    assert (scores["accuracy"], scores["binary_accuracy"]) == (pytest.approx(100 / 3), 50)


def test_other_labels_have_no_binary_accuracy_and_nothing_is_nothing():
    scores = sentiment_scores(["good", "ugly"], [certain("good", ["good", "bad"]), certain("bad", ["good", "bad"])])
    assert scores["accuracy"] == 50
    assert scores["per_label"]["ugly"] == {
        "f1": 0, "precision": 0, "recall": 0, "gold": 1, "predicted": 0, "correct": 0,
        "predicted_as": {"bad": 1},
    }  # fmt: skip
    assert "binary_accuracy" not in scores
    assert sentiment_scores([], [])["accuracy"] == 0


def test_labels_that_the_model_does_not_know_leave_binary_accuracy_out():
    assert "binary_accuracy" not in sentiment_scores(["0", "1"], [certain("1", "1234")] * 2)


def test_a_file_is_scored_for_the_gold_files_sentences_alone(tmp_path):
    (tmp_path / "gold.tsv").write_text("1\tgood film\n0\tbad film\n")
    (tmp_path / "predicted.tsv").write_text("1\tgood  film \n\n1\n")
    found = TASK.score_files(tmp_path / "gold.tsv", tmp_path / "predicted.tsv", TASK.settings())
    assert found["accuracy"] == 50
    (tmp_path / "predicted.tsv").write_text("0\tbad film\n1\tgood film\n")
    with pytest.raises(
        TextError, match=r"predicted\.tsv:1: token 1 is 'bad film' in the predictions, 'good film' in .*gold\.tsv:1"
    ):
        TASK.score_files(tmp_path / "gold.tsv", tmp_path / "predicted.tsv", TASK.settings())


def letters(text):
    return [letter for letter in text if letter.strip()]


def test_unlabelled_sentences_are_split_as_the_labelled_ones_were(tmp_path):
    (tmp_path / "train.tsv").write_text("1\tgood film.\n")
    (tmp_path / "text").write_text("good film.\n")
    settings = with_table(TASK.settings(), {"text_tokenizer": f"{__name__}:letters"}, "here")
    (labelled,), (unlabelled,) = (
        list(TASK.read(tmp_path / "train.tsv", settings)),
        list(TASK.read_unlabelled(tmp_path / "text", settings, TextReading(tokenizer=AUTO))),
    )
    assert labelled.tokens == unlabelled.tokens == list("goodfilm.")
    (other,) = TASK.read_unlabelled(tmp_path / "text", settings, TextReading(tokenizer="whitespace"))
    assert other.tokens == ["good", "film."]


def test_predictions_are_written_as_columns_that_can_be_read_again():
    examples = [LabelledSentence(["It", "works"]), LabelledSentence([])]
    assert list(TASK.write(zip(examples, [certain("3"), certain("2")], strict=True))) == ["3\tIt works", "2\t"]
