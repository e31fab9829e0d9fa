"""CoNLL-2012 columns: read with complaints that name the line, written byte for byte."""

import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.errors import TextError, TextWarning
from elmo.tasks.coref.conll import OpenMentions, cells_of, parts_of, say_the_same, write_conll
from elmo.tasks.coref.read import read_documents


def read(cells):
    column = OpenMentions()
    for token, cell in enumerate(cells):
        column.read(cell, token, "f:1")
    assert column.unclosed() is None
    return column.clusters


def test_nested_and_touching_mentions_of_one_cluster_are_told_apart():
    assert read(["(1|(1)", "1)|(1", "1)"]) == {"1": [(0, 0), (0, 1), (1, 2)]}
    assert read(["(1|(1", "1)", "1)|(2)"]) == {"1": [(0, 1), (0, 2)], "2": [(2, 2)]}


def test_cells_are_written_closings_first():
    clusters = {"1": [(0, 2), (2, 4)], "2": [(1, 2)], "3": [(2, 2)], "4": [(2, 3)]}
    assert cells_of(clusters, 5) == ["(1", "(2", "2)|1)|(3)|(1|(4", "4)", "1)"]


@given(
    st.lists(
        st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda ends: (min(ends), max(ends))), max_size=6),
        max_size=3,
    )
)
def test_columns_round_trip(sets):
    """Unless two mentions of one cluster cross: brackets can't say that."""
    clusters = {}
    for name, mentions in enumerate(sets):
        kept = []
        for a, b in sorted(mentions):
            if not any(c < a <= d < b for c, d in kept):
                kept.append((a, b))
        if kept:
            clusters[str(name)] = kept
    found = read(cells_of(clusters, 6))
    assert {name: sorted(mentions) for name, mentions in found.items()} == clusters


@pytest.mark.parametrize("cell", ["3", "(3)(4)", "()", "(3|", "|", "((3)", "(a b)"])
def test_what_is_no_cell_is_refused(cell):
    with pytest.raises(TextError, match="f:1: .* is not a coreference cell"):
        parts_of(cell, "f:1")


def test_the_order_of_parts_does_not_matter_but_for_ends_and_beginnings_of_one_cluster():
    assert say_the_same("(1|2)", "2)|(1") and say_the_same("(1)|1)|(2", "(2|1)|(1)")
    assert not say_the_same("(1|1)", "1)|(1")
    assert not say_the_same("(1", "(1|(1")


def written(documents, clusters=lambda document: dict(zip(document.ids, document.clusters, strict=True))):
    lines = [line for document in documents for line in write_conll(document, clusters(document))]
    return "".join(line + "\n" for line in lines)


def test_words_speakers_and_nested_mentions_are_read(conll_file):
    (document,) = read_documents(conll_file)
    assert document.key == ("nw/anna", "000")
    assert document.sentences == (("Anna", "saw", "her", "dog", "."), ("It", "(2)", "barked"))
    assert document.speakers == ("A",) * 5 + ("B",) * 3
    assert dict(zip(document.ids, document.clusters, strict=True)) == {"1": ((0, 0), (2, 2)), "2": ((2, 3), (5, 5))}
    assert document.source == f"{conll_file}:1"


def test_other_clusters_replace_the_last_column_only(conll_file, conll_text):
    expected = conll_text.replace("(2|(1)", "(2)").replace("*   2)", "*   -").replace("*   (1)", "*   (2)")
    expected = expected.replace("*   (2)\nnw/anna   0   1   (2)", "*   -\nnw/anna   0   1   (2)")
    assert written(read_documents(conll_file), lambda _: {"2": [(0, 0), (2, 2)]}) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", ["litbank", "ontogum"])
@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_the_open_data_round_trip(shared, name, part):
    path = shared / "data" / "coref" / name / f"{part}.conll.xz"
    assert written(read_documents(path)) == lzma.decompress(path.read_bytes()).decode("utf-8")


def test_documents_from_elsewhere_get_twelve_columns_that_read_back(conll_file, tmp_path):
    (document,) = read_documents(conll_file)
    clusters = dict(zip(document.ids, document.clusters, strict=True))
    plain = type(document)(document.key, document.sentences, document.speakers)
    path = tmp_path / "new.conll"
    path.write_text("".join(line + "\n" for line in write_conll(plain, clusters)), encoding="utf-8")
    (found,) = read_documents(path)
    assert (found.key, found.sentences, found.speakers) == (document.key, document.sentences, document.speakers)
    assert found.clusters == document.clusters


def test_comments_and_blank_lines_between_documents_are_kept(tmp_path, conll_text):
    text = "# made by hand\n\n" + conll_text + "\n# and\n" + conll_text.replace("part 000", "part 001") + "\n\n"
    path = tmp_path / "two.conll"
    path.write_text(text, encoding="utf-8")
    documents = read_documents(path)
    assert [document.name for document in documents] == ["nw/anna_000", "nw/anna_001"]
    assert written(documents) == text


def test_a_document_may_be_empty_or_of_one_word(tmp_path):
    text = "#begin document (a); part 0\n#end document\n#begin document b\nb 0 0 Hi -\n#end document\n"
    path = tmp_path / "small.conll"
    path.write_text(text, encoding="utf-8")
    empty, one = read_documents(path)
    assert (empty.num_tokens, one.sentences, one.key) == (0, (("Hi",),), ("b", ""))
    assert written([empty, one]) == text


ROW = "nw/anna   0   1   saw      VBD   *   -   -   -   A   *   -"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (ROW, ROW[:-1] + "1)", r"anna\.conll:3: '1\)' closes a mention of cluster 1 that was not opened"),
        ("*   2)", "*   -", r"anna\.conll:4: opens a mention of cluster 2 that is not closed"),
        ("*   2)\n", "*   -\n\n", r"anna\.conll:4: opens a mention of cluster 2"),
        (ROW, ROW[:-1] + "x", r"anna\.conll:3: 'x' is not a coreference cell"),
        (ROW, "nw/anna 0 1 saw", r"anna\.conll:3: has 4 columns, but a row has"),
        (
            ROW,
            "nw/anna 0 1 saw VBD -",
            r"anna\.conll:3: has 6 columns, but the row before, of the same sentence, has 12",
        ),
        (ROW, ROW.replace("   ", "\t").replace("saw", ""), r"anna\.conll:3: has \d+ columns|the word, is empty"),
        ("#begin document (nw/anna); part 000\n", "", r"anna\.conll:1: is outside a document"),
        ("\n#end", "\n#begin document (b); part 000\n#end", r"anna\.conll:1: .* another one begins in line 12"),
    ],
)
def test_what_does_not_fit_is_named(conll_file, conll_text, old, new, message):
    assert old in conll_text
    conll_file.write_text(conll_text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(TextError, match=message):
        read_documents(conll_file)


LITBANK = """\
#begin document (a_brat); part 0
a_brat\t0\t0\tYOU\t_\t_\t_\t_\t_\t_\t_\t_\t(0)
a_brat\t0\t1\tsaw\t_\t_\t_\t_\t_\t_\t_\t_\t
a_brat\t0\t2\tme\t_\t_\t_\t_\t_\t_\t_\t_\t(1)|(0
a_brat\t0\t3\t.\t_\t_\t_\t_\t_\t_\t_\t_\t0)

#end document
"""


@pytest.mark.parametrize("nothing", ["", "_", "*", "-"])
def test_cells_of_tokens_without_a_mention_are_read_as_litbank_and_others_write_them(tmp_path, nothing):
    path = tmp_path / "a.conll"
    text = LITBANK.replace("saw\t_\t_\t_\t_\t_\t_\t_\t_\t", f"saw\t_\t_\t_\t_\t_\t_\t_\t_\t{nothing}")
    path.write_text(text, encoding="utf-8")
    (document,) = read_documents(path)
    assert document.tokens == ["YOU", "saw", "me", "."]
    assert set(document.speakers) == {"-"}
    assert dict(zip(document.ids, document.clusters, strict=True)) == {"0": ((0, 0), (2, 3)), "1": ((2, 2),)}
    assert written([document]) == text
    other = "\n".join(write_conll(document, {"9": [(1, 1)]}))
    assert "saw\t_\t_\t_\t_\t_\t_\t_\t_\t(9)\n" in other and "YOU\t_\t_\t_\t_\t_\t_\t_\t_\t-\n" in other


def test_a_mention_may_go_on_over_the_end_of_a_sentence(tmp_path, conll_text):
    """The reference scorer knows no sentences."""
    path = tmp_path / "a.conll"
    path.write_text(conll_text.replace("*   2)", "*   -").replace("*   (2)\n", "*   2)\n"), encoding="utf-8")
    (document,) = read_documents(path)
    assert dict(zip(document.ids, document.clusters, strict=True))["2"] == ((2, 5),)
    assert written([document]) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "line", [b"# \xff\n", b"#begin document (\xff); part 000\nx   0   0   A   N   -\n#end document\n"]
)
def test_a_line_that_is_no_text_is_left_out_with_what_it_begins(tmp_path, conll_text, line):
    path, text = tmp_path / "a.conll", conll_text.encode()
    path.write_bytes(line + text + line + text.replace(b"nw/anna", b"nw/bob") + line)
    with pytest.warns(TextWarning, match=r"left out what can't be read, 3 in all .*a\.conll:1: not valid UTF-8"):
        documents = read_documents(path, errors="skip")
    assert [document.name for document in documents] == ["nw/anna_000", "nw/bob_000"]
    with pytest.raises(TextError, match=r"a\.conll:1: not valid UTF-8"):
        read_documents(path)
