"""Entity F1 equals the shared task's procedure, which walks over tokens; rules without learning."""

import random

import pytest

from elmo.tasks.columns import TaggedSentence
from elmo.tasks.ner.task import TASK, entity_scores, handles, longest_matches, names_in
from elmo.tasks.tags import spans_of


def counts_by_walking(gold: list[list[str]], predicted: list[list[str]]) -> tuple[int, int, int]:
    """(gold, predicted, correct) as the script of CoNLL-2000 and 2003 counts them: token by token, with flags."""
    num_gold = num_predicted = num_correct = 0
    for gold_tags, predicted_tags in zip(gold, predicted, strict=True):
        before_gold, before_predicted, in_both = ("O", ""), ("O", ""), False
        for gold_tag, predicted_tag in zip([*gold_tags, "O"], [*predicted_tags, "O"], strict=True):
            now_gold, now_predicted = parts(gold_tag), parts(predicted_tag)
            if in_both:
                ends = (is_end(before_gold, now_gold), is_end(before_predicted, now_predicted))
                if all(ends) and before_gold[1] == before_predicted[1]:
                    in_both = False
                    num_correct += 1
                elif ends[0] != ends[1] or now_gold[1] != now_predicted[1]:
                    in_both = False
            starts = (is_start(before_gold, now_gold), is_start(before_predicted, now_predicted))
            if all(starts) and now_gold[1] == now_predicted[1]:
                in_both = True
            num_gold += starts[0]
            num_predicted += starts[1]
            before_gold, before_predicted = now_gold, now_predicted
    return num_gold, num_predicted, num_correct


def parts(tag: str) -> tuple[str, str]:
    return (tag, "") if tag == "O" else (tag[0], tag[2:])


def is_start(before: tuple[str, str], now: tuple[str, str]) -> bool:
    pair = before[0] + now[0]
    return pair in ("BB", "IB", "OB", "OI", "EE", "EI", "OE") or (now[0] != "O" and before[1] != now[1])


def is_end(before: tuple[str, str], now: tuple[str, str]) -> bool:
    pair = before[0] + now[0]
    return pair in ("BB", "BO", "IB", "IO", "EE", "EI", "EO") or (before[0] != "O" and before[1] != now[1])


@pytest.mark.parametrize("prefixes", ["BI", "I", "IE"], ids=["iob1-and-2", "i-only", "ioe"])
@pytest.mark.parametrize("seed", range(20))
def test_counts_equal_the_shared_tasks_walk_on_random_documents(prefixes, seed):
    chance = random.Random(seed)
    choices = ["O", *(f"{prefix}-{label}" for prefix in prefixes for label in ("PER", "LOC"))]
    gold = [[chance.choice(choices) for _ in range(chance.randrange(12))] for _ in range(30)]
    # Mostly right, so that there are entities in common.
    predicted = [[tag if chance.random() < 0.7 else chance.choice(choices) for tag in tags] for tags in gold]
    found = entity_scores([spans_of(tags) for tags in gold], [spans_of(tags) for tags in predicted])
    expected = counts_by_walking(gold, predicted)
    assert (found["gold"], found["predicted"], found["correct"]) == expected
    assert found["f1"] == pytest.approx(200 * expected[2] / (expected[0] + expected[1]))
    assert sum(part["correct"] for part in found["per_label"].values()) == expected[2] > 0


def test_figures_are_percentages_by_hand():
    scores = entity_scores([[(0, 1, "A"), (2, 3, "B")], []], [[(0, 1, "A")], [(0, 1, "A"), (1, 2, "A")]])
    assert scores["precision"] == pytest.approx(100 / 3)
    assert scores["recall"] == 50
    assert scores["f1"] == pytest.approx(40)
    assert scores["per_label"]["B"] == {
        "f1": 0.0, "precision": 0.0, "recall": 0.0, "gold": 1, "predicted": 0, "correct": 0,
    }  # fmt: skip


def test_nothing_found_and_nothing_there_is_zero():
    assert entity_scores([[]], [[]])["f1"] == 0
    assert entity_scores([[]], [[]])["per_label"] == {}


TRAIN = [
    TaggedSentence(["New", "York", "saw", "Anna"], [(0, 2, "LOC"), (3, 4, "PER")]),
    TaggedSentence(["New", "York", "Times", "and", "Paris"], [(0, 3, "ORG"), (4, 5, "LOC")]),
    TaggedSentence(["Paris", "Hilton", "or", "Paris"], [(0, 2, "PER"), (3, 4, "PER")]),
]


def test_names_with_two_labels_are_left_out():
    names = names_in(TRAIN)
    assert names == {
        ("New", "York"): "LOC",
        ("Anna",): "PER",
        ("New", "York", "Times"): "ORG",
        ("Paris", "Hilton"): "PER",
    }


def test_the_longest_name_wins_and_names_do_not_overlap():
    names = names_in(TRAIN)
    tokens = ["New", "York", "Times", "in", "New", "York", "of", "Anna", "Anna", "Paris"]
    found = longest_matches(tokens, names, longest=3)
    assert found == [(0, 3, "ORG"), (4, 6, "LOC"), (7, 8, "PER"), (8, 9, "PER")]
    assert longest_matches([], names, longest=3) == []
    assert longest_matches(tokens, {}, longest=0) == []


def test_a_handle_is_two_persons_of_one_token():
    assert handles(["hi", "@", "anna", "and", "@", "@"]) == [(1, 2, "PER"), (2, 3, "PER"), (4, 5, "PER"), (5, 6, "PER")]


def test_handles_are_a_rule_only_where_the_training_data_tag_them():
    assert [rule.name for rule in TASK.rules(TRAIN)] == ["training-names"]
    untagged = [*TRAIN, TaggedSentence(["@", "anna"], [(1, 2, "PER")])]
    assert [rule.name for rule in TASK.rules(untagged)] == ["training-names"]
    tweets = [*TRAIN, TaggedSentence(["@", "anna"], [(0, 1, "PER"), (1, 2, "PER")])]
    names, of_handles = TASK.rules(tweets)
    sentences = [TaggedSentence(["@", "bob", "saw", "Anna"])]
    assert names.predict(sentences) == [[(0, 1, "PER"), (3, 4, "PER")]]
    assert of_handles.predict(sentences) == [[(0, 1, "PER"), (1, 2, "PER")]]
