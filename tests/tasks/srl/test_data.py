"""Roles are read from CoNLL columns and marked text; every fault is an error with its line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.errors import TextError
from elmo.tasks.srl.columns import column_of_spans, spans_of_column
from elmo.tasks.srl.data import (
    Proposition,
    marked_sentence,
    one_by_one,
    read_predicates,
    read_roles,
    sentences_with_predicates,
    write_props,
    write_roles,
)
from elmo.tasks.task import TextReading

CONLL2012 = """#begin document (a/b); part 000
a/b   0   0   She    PRP  (TOP*  -     -   -  -  *  (ARG0*)    *        -
a/b   0   1   began  VBD  *      begin 01  -  -  *  (V*)       *        -
a/b   0   2   to     TO   *      -     -   -  -  *  (ARG1*     *        -
a/b   0   3   take   VB   *      -     -   -  -  *  *          (V*      -
a/b   0   4   off    RP   *)     -     -   -  -  *  *)         *)       -

a/b   0   0   Yes    UH   (TOP*) -     -   -  -  *  -
#end document
"""
CONLL2005 = "She   -     (A0*)\n-     gave  (V*)\nit    -     (A1*\nup    -     *)\n\nNo    -\n"


@pytest.fixture
def read(tmp_path):
    def read(text, layout="auto"):
        path = tmp_path / "data"
        path.write_text(text, encoding="utf-8")
        return read_roles(path, layout)

    return read


def test_conll2012_columns_are_sentences_with_propositions(read):
    first, second = read(CONLL2012)
    assert first.tokens == ["She", "began", "to", "take", "off"]
    assert first.propositions == [
        Proposition((1, 2), [(0, 1, "ARG0"), (1, 2, "V"), (2, 5, "ARG1")]),
        Proposition((3, 5), [(3, 5, "V")]),  # a predicate of two tokens, without a lemma in its column
    ]
    assert list(first.columns.lines) == [2, 3, 4, 5, 6]
    assert first.columns.part_of_speech(1) == "VBD"
    assert (second.tokens, second.propositions) == (["Yes"], [])


def test_conll2005_columns_are_detected_and_told_apart_from_props(read):
    first, second = read(CONLL2005)
    assert first.tokens == ["She", "-", "it", "up"]
    assert first.propositions == [Proposition((1, 2), [(0, 1, "A0"), (1, 2, "V"), (2, 4, "A1")])]
    assert second.tokens == ["No"]
    with pytest.raises(TextError, match="data:1: a props file has no words"):
        read("- (A0*)\ngave (V*)\n", layout="props")
    assert read("Hi  -\n\n" + CONLL2005)[0].tokens == ["Hi"]  # one token is not a predicate with its column


@pytest.mark.parametrize("text", [CONLL2012, CONLL2005])
def test_predictions_are_written_into_the_columns_of_the_input(read, text):
    sentences = read(text)
    lines = list(write_roles((one, one.propositions) for one in sentences))
    again = read("\n".join(lines))
    assert [one.propositions for one in again] == [one.propositions for one in sentences]
    assert [one.columns.rows for one in again] == [one.columns.rows for one in sentences]
    assert (lines[0] == CONLL2012.splitlines()[0]) == (text == CONLL2012)
    other = list(
        write_roles((one, [Proposition((0, 1), [(0, 1, "X")]) for _ in one.propositions]) for one in sentences)
    )
    assert [own.split()[-2 if text == CONLL2012 else -1] for own in other if "She" in own] == ["(X*)"]


def test_a_folder_is_read_as_the_official_release_lies(tmp_path):
    for name in ("b/two.v4_gold_conll", "a/one.v4_gold_conll", "a/one.v4_auto_conll"):
        path = tmp_path / "annotations" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CONLL2012.replace("She", name[2:5]), encoding="utf-8")
    found = read_roles(tmp_path / "annotations", "auto")
    assert [sentence.tokens[0] for sentence in found] == ["one", "Yes", "two", "Yes"]
    assert found[2].columns.source.endswith("two.v4_gold_conll")
    with pytest.raises(TextError, match=r"a: there is no file \*gold_conll in it"):
        (tmp_path / "annotations" / "a" / "one.v4_gold_conll").unlink()
        read_roles(tmp_path / "annotations" / "a", "auto")


def test_marked_text_has_predicates_and_is_written_as_conll2005(read):
    sentence = marked_sentence(["He", "gave/V", "and/or", "/V", "-/V", "up"])
    assert sentence.tokens == ["He", "gave", "and/or", "/V", "-", "up"]
    assert [proposition.predicate for proposition in sentence.propositions] == [(1, 2), (4, 5)]
    roles = [Proposition((1, 2), [(0, 1, "A0"), (1, 2, "V")]), Proposition((4, 5), [(4, 5, "V"), (5, 6, "A1")])]
    lines = list(write_roles([(sentence, roles)]))
    assert [line.split() for line in lines[:5]] == [
        ["He", "-", "(A0*)", "*"],
        ["gave", "gave", "(V*)", "*"],
        ["and/or", "-", "*", "*"],
        ["/V", "-", "*", "*"],
        ["-", "V", "*", "(V*)"],
    ]
    (again,) = read("\n".join(lines))
    assert [proposition.predicate for proposition in again.propositions] == [(1, 2), (4, 5)]


@pytest.mark.parametrize(
    "text", ["She - (A0*)\nasked ask (V*)\n", "# a\n\nShe - * (A0*)\nmade make (V*) *\nask ask * (V*)\n"]
)
def test_columns_of_roles_are_told_from_text_whatever_the_file_is_called(tmp_path, text):
    (tmp_path / "data.txt").write_text(text, encoding="utf-8")
    (found,) = sentences_with_predicates(tmp_path / "data.txt", TextReading())
    assert found.tokens[0] == "She" and len(found.propositions) == text.count("(V*")


def test_text_with_stars_is_text(tmp_path):
    (tmp_path / "data.txt").write_text("She asked * him\nthey * ran\n", encoding="utf-8")
    assert len(list(sentences_with_predicates(tmp_path / "data.txt", TextReading()))) == 2


def test_predicates_are_read_from_columns_with_and_without_roles(tmp_path):
    path = tmp_path / "data.conll"
    bare = "\n".join(
        " ".join(line.split()[:11] + ["-"]) if line[:1] == "a" else line for line in CONLL2012.splitlines()
    )
    path.write_text(bare, encoding="utf-8")
    first, _ = read_predicates(path, "conll2012", "utf-8")
    assert first.propositions == [Proposition((1, 2))]  # "take" has no lemma, so nothing marks it here
    path.write_text(CONLL2012, encoding="utf-8")
    first, _ = read_predicates(path, "conll2012", "utf-8")
    assert first.propositions == [Proposition((1, 2)), Proposition((3, 5))]


def test_training_takes_each_proposition_by_itself(read):
    found = one_by_one(read(CONLL2012), keep_bare=False)
    assert [len(one.propositions) for one in found] == [1, 1]
    assert all(one.predicates == [(1, 2), (3, 5)] for one in found)
    assert [len(one.propositions) for one in one_by_one(read(CONLL2012), keep_bare=True)] == [1, 1, 0]
    assert found[0].tokens == found[1].tokens


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x 0 0 w N * - - - - *\n", r"data:1: has 11 columns, but the layout conll2012 has 12"),
        ("a a (V*)\nb b *\n", r"data:2: the sentence has 2 predicates, but only 1 columns of roles"),
        ("a a *\nb - (A0*)\n", r"data:1: column 1 of the roles has 0 '\(V\*\)'"),
        ("a a (V*)\nb - (A0*\n", r"data:2: the bracket '\(A0' is still open at the end of the sentence"),
        ("a a (V*)\nb - *)\n", r"data:2: the cell '\*\)' closes a bracket that was never opened"),
        ("a a (V*)\nb - A0\n", r"data:2: the cell 'A0' isn't of the form"),
        ("a a (V*)\nb - (*)\n", r"data:2: the cell '\(\*\)' isn't of the form"),
        ("a a (V*)\nb - (V*)\nc - (A1*)\n", r"data:2: column 1 of the roles has 2 '\(V\*\)'"),
        ("a a (V*)\nb - (A0*\nc - (A1*))\n", r"data:3: the argument 'A1' of predicate 1 begins inside another one"),
    ],
)
def test_what_is_wrong_is_an_error_with_its_line(read, text, message):
    layout = {"a": "conll2005", "x": "conll2012"}.get(text[:1], "auto")
    with pytest.raises(TextError, match=message):
        read(text, layout)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from(["A0", "A1", "C-A1"])), max_size=5))
def test_spans_come_back_from_their_column(parts):
    spans, place = [], 0
    for gap, length, label in parts:
        spans.append((place + gap, place + gap + length, label))
        place += gap + length
    cells = column_of_spans(spans, place + 1)
    assert spans_of_column(cells, [""] * len(cells)) == spans


def test_the_open_data_is_read_whole(shared):
    path = shared / "data" / "srl" / "propbank-ewt" / "test.conll.xz"
    sentences = read_roles(path, "auto")
    assert (len(sentences), sum(len(one.propositions) for one in sentences)) == (1116, 2643)


def test_props_have_no_words_and_name_the_predicate_as_its_file_does(read):
    first, second = read(CONLL2012)
    lines = list(write_props([(first, first.propositions), (second, [])]))
    assert lines == ["-      (ARG0*)  *", "begin  (V*)     *", "-      (ARG1*   *", "take   *        (V*",
                     "-      *)       *)", "", "-", ""]  # fmt: skip
    marked = marked_sentence(["-/V", "off/V"])
    spans = [[(0, 1, "V")], [(1, 2, "V")]]
    roles = [Proposition(one.predicate, own) for one, own in zip(marked.propositions, spans, strict=True)]
    assert list(write_props([(marked, roles)])) == ["V    (V*)  *", "off  *     (V*)", ""]


def test_unlabelled_input_that_can_not_be_read_is_left_out_if_asked(tmp_path):
    told = []
    skip = TextReading(errors="skip", on_bad_line=lambda number, _: told.append(number))
    columns, text = tmp_path / "data.conll", tmp_path / "data.txt"
    columns.write_text("He - *\nran ran (V*)\n\nShe - *)\nran ran (V*)\n\nIt -\nran ran (V*)\n", encoding="utf-8")
    text.write_bytes(b"He ran/V .\nIt \xff .\nShe ran/V .\n")
    assert [sentence.tokens for sentence in sentences_with_predicates(columns, skip)] == [["He", "ran"]]
    assert [sentence.tokens for sentence in sentences_with_predicates(text, skip)] == [
        ["He", "ran", "."], [], ["She", "ran", "."],
    ]  # fmt: skip
    assert sorted(told) == [2, 4, 8]
    for path in (columns, text):
        with pytest.raises(TextError, match=path.name):
            list(sentences_with_predicates(path, TextReading()))
    with pytest.raises(TextError, match="--errors skip"):  # not what is said of labelled files
        list(sentences_with_predicates(text, TextReading()))


def test_tags_in_columns_are_no_predicates(tmp_path):
    path = tmp_path / "data.conll"
    path.write_text("Rome B-LOC\nis O\nbig O\n", encoding="utf-8")
    (found,) = sentences_with_predicates(path, TextReading())
    assert (found.tokens, found.predicates) == (["Rome", "is", "big"], None)
    path.write_text("Rome -\nis be\nbig -\n", encoding="utf-8")
    (found,) = sentences_with_predicates(path, TextReading())
    assert found.predicates == [(1, 2)]
