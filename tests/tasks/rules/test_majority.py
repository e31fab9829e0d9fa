"""The majority rule."""

from elmo.tasks.labels.classification import classification_scores
from elmo.tasks.rules.majority import majority_rule
from elmo.tasks.snli.data import SentencePair
from elmo.tasks.snli.task import TASK


def test_the_most_frequent_label_is_given_to_every_example():
    rule = majority_rule("011123", str)
    found = rule.predict("1123")
    assert [one["label"] for one in found] == ["1"] * 4
    assert found[0]["probabilities"] == {"0": 1 / 6, "1": 0.5, "2": 1 / 6, "3": 1 / 6}
    assert classification_scores(["1", "1", "2", "3"], found)["accuracy"] == 50
    assert "(1)" in rule.label


def test_of_equally_frequent_labels_the_first_is_taken():
    assert [one["label"] for one in majority_rule("2211", str).predict("1")] == ["1"]


def test_pairs_have_it_too():
    pairs = [SentencePair(["a"], ["b"], label) for label in ("yes", "no", "no")]
    rule = TASK.rules(pairs)[0]
    assert TASK.score(pairs, rule.predict(pairs))["accuracy"] == 100 * 2 / 3
