"""The majority rule."""

from elmo.tasks.classification import classification_scores
from elmo.tasks.sst.data import LabelledSentence
from elmo.tasks.sst.rules import rules_of


def sentences(labels: str) -> list[LabelledSentence]:
    return [LabelledSentence(["a", "film"], label) for label in labels]


def test_the_most_frequent_label_is_given_to_every_sentence():
    (rule,) = rules_of(sentences("011123"))
    found = rule.predict(sentences("1123"))
    assert [one["label"] for one in found] == ["1"] * 4
    assert found[0]["probabilities"] == {"0": 1 / 6, "1": 0.5, "2": 1 / 6, "3": 1 / 6}
    assert classification_scores(["1", "1", "2", "3"], found)["accuracy"] == 50
    assert "(1)" in rule.label


def test_of_equally_frequent_labels_the_first_is_taken():
    assert [one["label"] for one in rules_of(sentences("2211"))[0].predict(sentences("1"))] == ["1"]
