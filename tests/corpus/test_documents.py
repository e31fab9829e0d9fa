"""Which documents are held out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.corpus.documents import DocumentMarks, DocumentPieces, is_held_out, joined, row_hash

rows = st.lists(st.sampled_from(["a b", "c", "d e f", ""]), max_size=25)


def marked(lines, sentence=0):
    marks = DocumentMarks()
    for line in lines:
        if line:
            marks.row(line, sentence)
            sentence += 1
        else:
            marks.end()
    return marks.done()


@given(rows, st.lists(st.integers(0, 25), max_size=4))
def test_a_document_has_one_hash_wherever_it_is_cut(lines, cuts):
    whole = marked(lines)
    edges = [0, *sorted(min(cut, len(lines)) for cut in cuts), len(lines)]
    parts = [marked(lines[start:end]) for start, end in zip(edges, edges[1:], strict=False)]
    found = []
    for part, edge in zip(parts, joined(parts, [True] + [False] * len(cuts)), strict=True):
        hashes = part.hashes.tolist()
        if hashes:
            hashes[0], hashes[-1] = edge.first, edge.last
            if not edge.begins:
                assert hashes.pop(0) == found[-1]
        found += hashes
    assert found == whole.hashes.tolist()


def test_a_file_begins_a_document_and_blank_lines_end_one():
    empty, five = np.zeros(0, np.uint64), np.array([5], dtype=np.uint64)
    open_piece = DocumentPieces(np.zeros(1, np.int64), five, begins=False, ends=False)
    assert [edge.begins for edge in joined([open_piece] * 3, [True, False, True])] == [True, False, True]
    assert [edge.first for edge in joined([open_piece] * 3, [True, False, True])] == [10, 10, 5]
    ended = DocumentPieces(np.zeros(0, np.int64), empty, begins=False, ends=True)
    assert [edge.first for edge in joined([open_piece, ended, open_piece], [True, False, False])] == [5, 5, 5]


def test_a_rows_hash_depends_on_its_words_alone():
    assert row_hash("a  b\r") == row_hash(" a b") == row_hash(["a", "b"])
    assert row_hash("a b") != row_hash("b a")
    assert row_hash("a b") == 0xBB37DEA5C027F928  # of all versions: the held-out text must not change


@pytest.mark.parametrize("share", [0.01, 0.3])
def test_the_share_held_out_is_about_what_was_asked_for(share):
    hashes = np.array([row_hash(f"document {number}") for number in range(20_000)], dtype=np.uint64)
    assert is_held_out(hashes, share).mean() == pytest.approx(share, rel=0.1)
