"""Rules without learning: names of the training data, handles of tweets."""

from elmo.tasks.columns import TaggedSentence
from elmo.tasks.ner.task import TASK, handles, longest_matches, names_in

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
