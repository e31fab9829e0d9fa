"""Pairs are read from JSON lines, tables and columns; every fault is an error with its line."""

import json

import pytest

from elmo.errors import TextError, TextWarning
from elmo.tasks.snli.data import SentencePair, read_pairs, read_unlabelled_pairs
from elmo.tasks.snli.settings import EntailmentSettings, SnliSettings
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
    assert [pair.label for pair in read(["label\tpremise\thypothesis", "1\tA\tB", "-1\tA\tB"])] == ["1"]
    with pytest.raises(TextError, match="all of its 1 pairs have the label '-1'"):
        read([row(-1)])
    with pytest.raises(TextError, match="the field 'gold_label' must be a text .got True"):
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
        ([row(), "{"], "data:2: not valid JSON"),
        ([row(), "[1]"], "data:2: not a JSON object"),
        ([row(), "[" * 10_000], "data:2: not valid JSON"),
        ([row(), {"gold_label": "x"}], r"data:2: there is no field 'sentence1', its fields are 'gold_label'"),
        ([{"sentence1": "A", "sentence2": "B"}], "data:1: there is no field 'gold_label'"),
        ([row(sentence2=3)], "data:1: the field 'sentence2' must be a text .got 3"),
        ([row(sentence2="\ud800")], "data:1: the field 'sentence2' has one half of a surrogate pair"),
        ([row(" ")], "data:1: gold_label is empty"),
        ([row("a\nb")], "data:1: the field 'gold_label' is .* has a line end in it"),
        ([row(pairID="\ud800")], "data:1: the field 'pairID' has one half of a surrogate pair"),
        ([row(pairID="a\tb")], "data:1: the pairID .* has a tab in it"),
        ([row(pairID="a\nb")], "data:1: the field 'pairID' is .* has a line end in it"),
        ([row(pairID={"a": 1})], "data:1: the field 'pairID' must be a text .got "),
        (
            ["yes\tA\tB", "no\tA"],
            "data:2: has 2 tab-separated columns, but gold_label TAB sentence1 TAB sentence2",
        ),
        (["just text"], "data:1: has 1 tab-separated column"),
        (
            ["gold_label\tsentence1\tsentence2", "yes\tA"],
            "data:2: has 2 tab-separated columns, but the header has 3",
        ),
        ([], "there is no labelled pair in it"),
        ([row("-"), row("-")], "all of its 2 pairs have the label '-', on which the annotators had no majority"),
    ],
)
def test_what_is_wrong_is_an_error_with_its_line(read, lines, message):
    with pytest.raises(TextError, match=message):
        read(lines)


SCITAIL = "".join(
    f"the premise number {n} says it\tso it does {n}\t{('entails', 'neutral')[n % 2]}\n" for n in range(8)
)


def test_a_label_in_another_column_is_asked_for(tmp_path):
    path = tmp_path / "data"
    path.write_text(SCITAIL, encoding="utf-8")
    with pytest.raises(TextError, match=r"column 3 has 'entails', which looks like a label.*--label-column 3 reads"):
        read_pairs(path, SPLIT)
    third = EntailmentSettings(label_column=3)
    pair = read_pairs(path, third)[1]
    assert (pair.label, pair.premise[2:4], pair.hypothesis[0]) == ("neutral", ["number", "1"], "so")
    assert unlabelled(path, third)[0].premise[0] == "the"


@pytest.mark.parametrize("count", [3, 400])
def test_premises_are_no_labels(tmp_path, count):
    path = tmp_path / "data"
    path.write_text("".join(f"the premise number {n} says it\tthis\tthat {n}\n" for n in range(count)))
    with pytest.raises(TextError, match="label"):
        TASK.vocabulary(TASK.read(path, SnliSettings()), SnliSettings())


def test_a_json_array_is_read_as_klue_has_it(tmp_path):
    path = tmp_path / "data.json"
    rows = [
        {"guid": f"k{n}", "premise": "비가 온다", "hypothesis": "맑다", "gold_label": "contradiction"} for n in range(3)
    ]
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=2), encoding="utf-8")
    found = read_pairs(path, SPLIT)
    assert [(pair.id, pair.line) for pair in found] == [("k0", 2), ("k1", 8), ("k2", 14)]
    assert (found[0].premise, found[0].hypothesis, found[0].label) == (["비가", "온다"], ["맑다"], "contradiction")
    assert len(unlabelled(path)) == 3
    path.write_text('[{"premise": "a", "hypothesis": "b", "label": "x"},\n {"premise": 1]', encoding="utf-8")
    with pytest.raises(TextError, match=r"data\.json:2: not a valid JSON array"):
        read_pairs(path, SPLIT)
    path.write_text(json.dumps([*rows, {"premise": "x"}]), encoding="utf-8")
    with pytest.warns(TextWarning, match="1 in all .* no field 'gold_label'"):
        assert len(read_pairs(path, EntailmentSettings(errors="skip"))) == 3


def test_headers_may_say_premise_hypothesis_and_label(read):
    (pair,) = read(["premise\thypothesis\tlabel", "A man\tHe\tneutral"])
    assert (pair.label, pair.premise, pair.hypothesis) == ("neutral", ["A", "man"], ["He"])


def test_the_open_data_is_read_whole(shared):
    folder = shared / "data" / "nli" / "snli-small"
    assert len(read_pairs(folder / "dev.jsonl", EntailmentSettings())) == 1000
