"""Labelled sentences are read from trees and columns, and every fault is named by its line."""

from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.errors import TextError, TextWarning
from elmo.tasks.sst.data import ClassifierSettings, LabelledSentence, SstSettings, parse_tree, phrases_of, read_labelled
from elmo.tasks.sst.task import TASK

TREES = "(3 (2 It) (4 (2 's) (4 good)))\n\n(1 (2 (2 A) (2 film\\/book)) (1 (1 -LRB-) (1 bad)))\n"


def written(tmp_path, content, name="data"):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return path


def read(tmp_path, content, **settings):
    return read_labelled(written(tmp_path, content), ClassifierSettings(**settings))


def test_a_tree_is_its_tokens_and_all_its_phrases(tmp_path):
    first, second = read(tmp_path, TREES)
    assert (first.tokens, first.label, first.line) == (["It", "'s", "good"], "3", 1)
    assert [(phrase.label, phrase.start, phrase.end) for phrase in first.phrases] == [
        ("2", 0, 1), ("2", 1, 2), ("4", 2, 3), ("4", 1, 3), ("3", 0, 3)
    ]  # fmt: skip
    assert (second.tokens, second.label, second.line) == (["A", "film/book", "(", "bad"], "1", 3)
    assert first.source.endswith("data")


def test_training_takes_the_phrases_that_are_asked_for(tmp_path):
    tree = "(3 (3 (2 a) (2 b)) (3 (3 (2 a) (2 b)) (2 a)))\n"
    examples = read(tmp_path, tree * 2)

    def chosen(**settings):
        found = phrases_of(examples, ClassifierSettings(**settings))
        assert all(isinstance(example, LabelledSentence) for example in found)
        return [f"{example.label} {' '.join(example.tokens)}" for example in found]

    whole = ["3 a b a b a"] * 2
    assert chosen(phrases="none") == whole
    assert chosen(phrases="distinct", min_phrase_tokens=1) == [*whole, "2 a", "2 b", "3 a b", "3 a b a"]
    assert chosen(phrases="distinct", min_phrase_tokens=3) == [*whole, "3 a b a"]
    once = ["2 a", "2 b", "3 a b", "2 a", "2 b", "3 a b", "2 a", "3 a b a"]
    assert chosen(phrases="all", min_phrase_tokens=1) == [*whole, *once, *once]


BAD_TREES = {
    "(3 (2 It) (4 good)": "data:1: column 19: the line ends with 1 brackets still open",
    "(3 (2 It)) (4 good)": r"data:1: column 12: '\(' is outside the brackets",
    "(3 (2 It)))": r"data:1: column 11: '\)' is outside the brackets",
    "(5 (2 It) (4 good))": "data:1: column 2: the label must be one of 0, 1, 2, 3, 4 .got '5'",
    "(3 (It) (4 good))": "data:1: column 5: the label must be one of .* .got 'It'",
    "(3 (2 It) ())": r"data:1: column 12: the label must be one of .* .got '\)'",
    "(3 (2 It) (4))": "data:1: column 13: a bracket closes a phrase without a word",
    "((2 It) (4 good))": r"data:1: column 2: the label must be one of .* .got '\('",
    "It (4 good)": "data:1: column 1: 'It' is outside the brackets",
    "(": "data:1: column 2: the line ends with 1 brackets still open",
}


@pytest.mark.parametrize("line", BAD_TREES)
def test_a_line_that_is_no_tree_is_named(tmp_path, line):
    with pytest.raises(TextError, match=BAD_TREES[line]):
        read(tmp_path, line + "\n", layout="trees")


def test_the_number_of_a_bad_line_counts_blank_ones(tmp_path):
    with pytest.raises(TextError, match="data:4: column"):
        read(tmp_path, TREES + "(3 (2 It)\n")


def test_deep_trees_are_read():
    depth = 5000
    tokens, phrases = parse_tree("(2 " * depth + "x" + ")" * depth, "f:1")
    assert (tokens, len(phrases)) == (["x"], depth)


trees = st.recursive(
    st.text("abc'.", min_size=1, max_size=3),
    lambda inner: st.tuples(st.sampled_from("01234"), st.lists(inner, min_size=1, max_size=3)),
    max_leaves=12,
)


@given(st.sampled_from("01234"), st.lists(trees, min_size=1, max_size=3))
def test_any_tree_comes_back_from_its_line(label, children):
    expected = []

    def line_of(node, tokens):
        if isinstance(node, str):
            tokens.append(node)
            return node
        begin = len(tokens)
        text = f"({node[0]} {' '.join(line_of(child, tokens) for child in node[1])})"
        expected.append((node[0], begin, len(tokens)))
        return text

    words = []
    line = line_of((label, children), words)
    tokens, phrases = parse_tree(line, "f:1")
    assert tokens == words
    assert [(phrase.label, phrase.start, phrase.end) for phrase in phrases] == expected


def test_columns_are_read_as_told(tmp_path):
    assert [(row.tokens, row.label, row.line) for row in read(tmp_path, "good\tIt works .\n\nbad\tIt doesn't\n")] == [
        (["It", "works", "."], "good", 1),
        (["It", "doesn't"], "bad", 3),
    ]
    rows = read(
        tmp_path, "id\tdocument\tlabel\n1\tIt's  fine.\t1\n", layout="tsv", label_column=3, header=True,
        text_tokenizer="unicode",
    )  # fmt: skip
    assert [(row.tokens, row.label) for row in rows] == [(["It", "'s", "fine", "."], "1")]
    assert read(tmp_path, "(sad)\t(really) sad\n")[0].label == "(sad)"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("good\tfine\nbad\n", "data:2: has 1 tab-separated columns, but 2 are expected"),
        ("good\tfine\n\tbad\n", "data:2: has an empty label"),
    ],
)
def test_bad_columns_are_named(tmp_path, content, message):
    with pytest.raises(TextError, match=message):
        read(tmp_path, content)


@pytest.mark.slow
def test_the_treebank_is_read_whole(shared):
    folder = shared / "data" / "licence-unstated" / "sst5"
    if not folder.is_dir():
        pytest.skip("needs the treebank in 'shared'")
    settings = ClassifierSettings(phrases="all", min_phrase_tokens=1)
    assert [len(read_labelled(folder / name, settings)) for name in ("dev.txt", "test.txt")] == [1101, 1105]
    train = read_labelled(folder / "train.txt.xz", settings)
    assert (len(train), len(phrases_of(train, settings))) == (8544, 318582)


def test_a_column_of_ids_is_not_taken_for_labels(tmp_path):
    lines = "".join(f"{number}\ttext {number}\t{number % 2}\n" for number in range(1000, 1250))
    train = TASK.read(written(tmp_path, lines), SstSettings())
    with pytest.raises(TextError, match=r"250 labels of 250 kinds \(1000, .* and 230 more\).*with --label-column"):
        TASK.vocabulary(train, SstSettings())
    settings = SstSettings(classifier=ClassifierSettings(label_column=3))
    assert TASK.vocabulary(TASK.read(written(tmp_path, lines), settings), settings) == {"labels": ["0", "1"]}
    with pytest.raises(TextError) as caught:  # a message that can be read, however many labels there are
        TASK.check(train[:1], {"labels": [str(number) for number in range(5000, 10_000)]}, SstSettings())
    assert "has 5000, 5001, " in str(caught.value) and "and 4,980 more: it can never be found" in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("head", "columns", "warned"),
    [
        ("sentence\tlabel\n", (2, 1), r"line 1 alone has the label 'label'. .*--header"),
        ("", (1, 2), "labels, such as 'a good film', have more words than the sentences"),
        ("", (2, 1), None),
    ],
)
def test_a_header_among_the_sentences_and_swapped_columns_are_told(tmp_path, head, columns, warned):
    lines = head + "a good film\tpos\na bad film\tneg\n" * 8
    settings = SstSettings(classifier=ClassifierSettings(label_column=columns[0], text_column=columns[1]))
    train = TASK.read(written(tmp_path, lines), settings)
    with pytest.warns(TextWarning, match=warned) if warned else nullcontext():
        TASK.vocabulary(train, settings)


@pytest.mark.parametrize("content", ["label\ttext\n", "label\ttext\n\n"])
def test_a_header_alone_is_no_data(tmp_path, content):
    (tmp_path / "films.tsv").write_text(content)
    with pytest.raises(TextError, match="sentence"):
        read_labelled(tmp_path / "films.tsv", ClassifierSettings(header=True))


def test_a_first_line_of_the_known_names_says_which_columns_are_which(tmp_path):
    assert [(row.label, row.tokens) for row in read(tmp_path, "id\ttext\tlabel\n7\tit works\t1\n")] == [
        ("1", ["it", "works"])
    ]


def test_lines_that_can_not_be_decoded_are_left_out_and_counted(tmp_path):
    (tmp_path / "cut").write_bytes(b"1\tfine\n0\tna\xefve\n")
    with pytest.warns(TextWarning, match="1 in all .*cut:2: "):
        assert len(read_labelled(tmp_path / "cut", ClassifierSettings(errors="skip"))) == 1


def test_json_lines_have_label_and_text(tmp_path):
    """As Hugging Face's `Dataset.to_json` writes them."""
    rows = read(tmp_path, '{"text": "good\\nfilm", "label": 1}\n\n{"label": "0", "text": "bad film"}\n')
    assert [(row.tokens, row.label, row.line) for row in rows] == [
        (["good", "film"], "1", 1),
        (["bad", "film"], "0", 3),
    ]


def test_columns_that_only_begin_like_an_array_are_read(tmp_path):
    assert [one.label for one in read(tmp_path, "[+]\tgood film\n(-)\tbad film\n")] == ["[+]", "(-)"]
