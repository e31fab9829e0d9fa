"""Pairs are read from JSON lines, tables and columns; every fault is an error with its line."""

import json

import pytest

from elmo.errors import TextError
from elmo.tasks.snli.data import EntailmentSettings, SentencePair, SnliSettings, read_pairs, read_unlabelled_pairs
from elmo.tasks.snli.task import TASK
from elmo.tasks.task import TextReading

SPLIT = EntailmentSettings(text_tokenizer="whitespace")


def unlabelled(path, settings=SPLIT, **reading):
    return list(read_unlabelled_pairs(path, settings, TextReading(**reading)))


def row(label="neutral", **changes):
    return {"gold_label": label, "sentence1": "A man sleeps.", "sentence2": "He's old.", "pairID": "7", **changes}


@pytest.fixture
def read(tmp_path):
    def read(content, **settings):
        path = tmp_path / "data"
        lines = [line if isinstance(line, str) else json.dumps(line) for line in content]
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return read_pairs(path, EntailmentSettings(**settings))

    return read


def test_json_lines_are_tokenized_and_undecided_pairs_are_left_out(read, tmp_path):
    first, second = read([row(), "", row("-"), row("entailment", pairID=None)])
    assert first == SentencePair(
        ["A", "man", "sleeps", "."], ["He", "'s", "old", "."], "neutral", "7", str(tmp_path / "data"), 1
    )
    assert (second.label, second.id, second.line) == ("entailment", "4", 4)
    assert [pair.id for pair in read([row(pairID=7), row(pairID="")])] == ["7", "2"]


def test_labels_may_be_numbers_with_minus_one_for_undecided_pairs(read):
    assert [pair.label for pair in read([row(0), row(-1), row(2)])] == ["0", "2"]
    assert [pair.label for pair in read(["gold_label\tsentence1\tsentence2", "1\tA\tB", "-1\tA\tB"])] == ["1"]
    with pytest.raises(TextError, match="there is no pair with a label that isn't '-' or -1 in it"):
        read([row(-1)])
    with pytest.raises(TextError, match="gold_label must be a string .got true"):
        read([row(True)])


def test_leaves_of_a_parse_are_the_tokens(read):
    (pair,) = read([row(sentence1_binary_parse="( ( A -LRB- ) ( don't . ) )")])
    assert pair.premise == ["A", "(", "don't", "."]
    assert pair.hypothesis == ["He", "'s", "old", "."]


def test_tables_are_read_by_their_header_and_columns_without_one(read):
    table = ["gold_label\tx\tsentence1\tsentence2\tpairID", "neutral\t\tA man\tHe\tp1", "-\t\tA\tB\tp2"]
    (pair,) = read(table)
    assert (pair.premise, pair.hypothesis, pair.id, pair.line) == (["A", "man"], ["He"], "p1", 2)
    one, other = read(["yes\tA  man\tHe", "no\t\tHe"], text_tokenizer="whitespace")
    assert (one.label, one.premise, one.id) == ("yes", ["A", "man"], "1")
    assert other.premise == []


def test_pairs_without_labels_are_read_in_both_forms(tmp_path):
    path = tmp_path / "pairs"
    path.write_text("A man .\tHe\n\nA dog .\tIt\n", encoding="utf-8")
    found = unlabelled(path)
    assert [(pair.premise, pair.hypothesis, pair.label, pair.id) for pair in found] == [
        (["A", "man", "."], ["He"], "", "1"),
        (["A", "dog", "."], ["It"], "", "3"),
    ]
    for line, side in (("A\t \n", "hypothesis"), ("\tA\n", "premise")):
        path.write_text(f"A\tB\n{line}", encoding="utf-8")
        with pytest.raises(TextError, match=f"pairs:2: the {side} is empty or has no token"):
            unlabelled(path)
    skipped = []
    path.write_text("A\tB\nA\t\nB\nC\tD\n", encoding="utf-8")
    found = unlabelled(path, errors="skip", on_bad_line=lambda number, _: skipped.append(number))
    assert ([pair.premise for pair in found], skipped) == ([["A"], ["C"]], [2, 3])
    path.write_text('{"sentence1": "A", "sentence2": "B"}\n' + json.dumps(row("-")), encoding="utf-8")
    assert [pair.label for pair in unlabelled(path)] == ["", ""]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([row(), "[1]"], "data:2: must be an object"),
        ([row(), "[" * 10_000], "data:2: is JSON that can't be used"),
        ([row(), {"gold_label": "x"}], r"data:2: has no 'sentence1'; its members are: 'gold_label'"),
        ([{"sentence1": "A", "sentence2": "B"}], "data:1: has no 'gold_label'"),
        ([row(sentence2=3)], "data:1: sentence2 must be a string .got 3"),
        ([row(sentence2="\ud800")], "data:1: sentence2 has one half of a surrogate pair"),
        ([row(" ")], "data:1: has an empty gold_label"),
        ([row(pairID="\ud800")], "data:1: pairID has one half of a surrogate pair"),
        ([row(pairID={"a": 1})], "data:1: pairID must be a string .got "),
        (
            ["just text"],
            "data:1: has 1 tab-separated columns, but 3 are expected: gold_label TAB sentence1 TAB sentence2",
        ),
        (['[{"gold_label": "x"}]'], "data:1: has 1 tab-separated columns"),  # an array, as KLUE has it
        (["premise\thypothesis\tlabel", "yes\tA"], "data:2: has 2 tab-separated columns, but 3 are expected"),
        ([row("-"), row("-")], "there is no pair with a label that isn't '-' or -1 in it"),
    ],
)
def test_what_is_wrong_is_an_error_with_its_line(read, lines, message):
    with pytest.raises(TextError, match=message):
        read(lines)


def test_premises_are_no_labels(tmp_path):
    path = tmp_path / "data"
    path.write_text("".join(f"the premise number {n} says it\tthis\tthat {n}\n" for n in range(400)))
    with pytest.raises(TextError, match="400 labels of 400 kinds"):
        TASK.vocabulary(TASK.read(path, SnliSettings()), SnliSettings())


def test_the_open_data_is_read_whole(shared):
    folder = shared / "data" / "nli" / "snli-small"
    assert len(read_pairs(folder / "dev.jsonl", EntailmentSettings())) == 1000


def test_pairs_of_one_premise_stay_together():
    one, other = SentencePair(["a"], ["b"], "x"), SentencePair(["a"], ["c"], "y")
    assert TASK.group(one, 0) == TASK.group(other, 5)


def test_a_tokenizer_that_is_asked_for_takes_the_place_of_the_trained_one(tmp_path):
    (tmp_path / "pairs.tsv").write_text("It rains.\tIt's wet.\n", encoding="utf-8")
    for reading, premise in ((TextReading(tokenizer="auto"), ["It", "rains", "."]), (TextReading(), ["It", "rains."])):
        (found,) = TASK.read_unlabelled(tmp_path / "pairs.tsv", SnliSettings(), reading)
        assert list(found.premise) == premise
