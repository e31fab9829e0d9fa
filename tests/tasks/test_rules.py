"""Rules without learning: the most frequent label, naive Bayes, runs of neighbors with a property."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.tasks.labels import classification_scores, predicted_labels
from elmo.tasks.rules import longest_runs, majority_rule, naive_bayes_rule, remark_on_rules, rule_scores
from elmo.tasks.snli.data import SentencePair
from elmo.tasks.snli.task import TASK
from elmo.tasks.sst.data import LabelledSentence


def labelled(labels: str) -> list[LabelledSentence]:
    return [LabelledSentence([], label) for label in labels]


def sentences(*rows: tuple[str, str]) -> list[LabelledSentence]:
    return [LabelledSentence(text.split(), label) for text, label in rows]


def test_the_most_frequent_label_is_given_to_every_example():
    rule = majority_rule(labelled("011123"))
    found = rule.predict(labelled("1123"))
    assert [one["label"] for one in found] == ["1"] * 4
    assert found[0]["probabilities"] == {"0": 1 / 6, "1": 0.5, "2": 1 / 6, "3": 1 / 6}
    assert classification_scores(["1", "1", "2", "3"], predicted_labels(found))["accuracy"] == 50
    assert "(1)" in rule.label


def test_of_equally_frequent_labels_the_first_is_taken():
    assert [one["label"] for one in majority_rule(labelled("2211")).predict(labelled("1"))] == ["1"]


TRAIN = sentences(("good film", "+"), ("good good plot", "+"), ("bad film", "-"))


def rule():
    return naive_bayes_rule(TRAIN, lambda one: one.tokens)


def test_probabilities_are_those_of_the_formula():
    # Vocabulary: good, film, plot, bad. Words of +: good 2, film 1, plot 1; of -: bad 1, film 1. "unheard" is left out.
    plus = 2 / 3 * (3 / 8) * (2 / 8)
    minus = 1 / 3 * (1 / 6) * (2 / 6)
    (found,) = rule().predict(sentences(("good film unheard", "")))
    assert found["label"] == "+"
    assert found["probabilities"] == pytest.approx({"+": plus / (plus + minus), "-": minus / (plus + minus)})


def test_a_word_counts_once_however_often_it_stands_there():
    once, often = rule().predict(sentences(("bad", ""), ("bad bad bad", "")))
    assert once == often
    assert once["label"] == "-"


def test_an_example_without_a_known_word_gets_the_most_frequent_label():
    (found,) = rule().predict(sentences(("", "")))
    assert found["probabilities"] == pytest.approx({"+": 2 / 3, "-": 1 / 3})


def test_hundreds_of_words_do_not_underflow():
    long = " ".join(f"w{number}" for number in range(3000))
    own = naive_bayes_rule(sentences((long, "+"), ("bad", "-")), lambda one: one.tokens)
    (found,) = own.predict(sentences((long, "")))
    # 3,000 words at 2/6001 against 1/3002 each.
    assert found["probabilities"]["-"] == pytest.approx(1 / (1 + (2 * 3002 / 6001) ** 3000))


def test_pairs_are_told_apart_by_what_the_premise_has():
    pairs = [SentencePair(["a", "Man"], ["man"], "yes"), SentencePair(["a", "man"], ["dog"], "no")] * 3
    others = [SentencePair(["dog"], ["Dog"], "yes")]
    by_name = {one["rule"]: one for one in rule_scores(TASK.rules(pairs), TASK.score, TASK.metric, {"dev": others})}
    assert list(by_name) == ["majority", "naive-bayes-hypothesis", "naive-bayes"]
    assert by_name["naive-bayes-hypothesis"]["dev"] == 0  # "dog" was new whenever it was seen
    assert by_name["naive-bayes"]["scores"]["dev"]["accuracy"] == by_name["naive-bayes"]["dev"]


@pytest.mark.parametrize(("mean", "is_said"), [(64.4, True), (64.5, False)])
def test_models_that_are_no_better_than_a_rule_are_remarked(mean, is_said):
    rules = [{"label": "rule: never", "dev": 33.0}, {"label": "rule: by words", "dev": 64.4}]
    said = remark_on_rules(rules, "accuracy", mean)
    assert (said is not None) == is_said
    assert said is None or '"by words" has accuracy 64.40 on the dev data, the trained models have 64.40.' in said


def test_without_rules_for_the_dev_data_nothing_is_said():
    assert remark_on_rules([], "f1", 0.0) is None
    assert remark_on_rules([{"label": "rule: never", "test": 3.0}], "f1", 0.0) is None


@pytest.mark.parametrize(
    ("wanted", "runs"),
    [
        ("", []),
        ("-", []),
        ("x", [(0, 0)]),
        ("xx-x", [(0, 1), (3, 3)]),
        ("--x--", [(2, 2)]),
    ],
)
def test_runs_by_hand(wanted, runs):
    assert list(longest_runs(mark == "x" for mark in wanted)) == runs
    assert list(longest_runs((mark == "x" for mark in wanted), 7)) == [(first + 7, last + 7) for first, last in runs]


@given(st.lists(st.booleans()))
def test_all_that_is_wanted_is_in_one_run_and_nothing_else(wanted):
    found = np.zeros(len(wanted), int)
    runs = list(longest_runs(wanted))
    for first, last in runs:
        found[first : last + 1] += 1
    assert found.tolist() == wanted
    assert all(last + 1 < first for (_, last), (first, _) in zip(runs, runs[1:], strict=False))
