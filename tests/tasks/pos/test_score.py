"""Accuracies equal plain counts; the rule gives each word its most frequent tag."""

import random

import pytest

from elmo.tasks.columns import TaggedSentence
from elmo.tasks.counts import score_of
from elmo.tasks.pos.task import TokenTags, majority_tags, tag_counts, tag_scores

TAGS = ["A", "B", "C"]


@pytest.mark.parametrize("seed", range(10))
def test_figures_are_those_of_a_plain_count(seed):
    chance = random.Random(seed)
    gold = [[chance.choice(TAGS) for _ in range(chance.randrange(6))] for _ in range(30)]
    predicted = [
        TokenTags([chance.choice([tag, *TAGS]) for tag in tags], [chance.random() < 0.7 for _ in tags]) for tags in gold
    ]
    rows = [
        row for tags, one in zip(gold, predicted, strict=True) for row in zip(tags, one.tags, one.known, strict=True)
    ]
    scores = tag_scores(gold, predicted)
    assert (scores["tokens"], scores["unknown"]) == (len(rows), sum(not known for *_, known in rows))
    for name, chosen in (
        ("accuracy", rows),
        ("accuracy_known", [row for row in rows if row[2]]),
        ("accuracy_unknown", [row for row in rows if not row[2]]),
    ):
        assert scores[name] == pytest.approx(100 * sum(one == other for one, other, _ in chosen) / len(chosen))
    for tag in TAGS:
        right = sum(one == other == tag for one, other, _ in rows)
        own = scores["per_label"][tag]
        assert own["gold"] == sum(one == tag for one, *_ in rows)
        assert own["precision"] == pytest.approx(100 * right / sum(other == tag for _, other, _ in rows))
        assert own["recall"] == pytest.approx(100 * right / own["gold"])
    counts = [tag_counts(tags, one) for tags, one in zip(gold, predicted, strict=True)]
    assert score_of("accuracy", counts) == pytest.approx(scores["accuracy"])


def test_predictions_of_another_system_have_no_known_words():
    assert "accuracy_known" not in tag_scores([["A"]], [TokenTags(["A"])])
    assert tag_scores([["A"]], [TokenTags(["A"])])["accuracy"] == 100
    assert tag_scores([["A"]], [TokenTags(["A"], [True])])["accuracy_unknown"] == 0


def test_the_rule_gives_known_words_their_most_frequent_tag_and_others_that_of_all():
    rule = majority_tags(
        [TaggedSentence(["a", "b", "a"], tags=["X", "Y", "X"]), TaggedSentence(["a", "b"], tags=["Y", "Z"])]
    )
    # "b" was Y and Z once each: the first in the alphabet. Of all, X and Y are twice each.
    assert rule.predict([TaggedSentence(["b", "new", "a"])]) == [TokenTags(["Y", "X", "X"], [True, False, True])]
    assert "of unknown words: X" in rule.label
