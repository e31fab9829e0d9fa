"""The coreference column: brackets are read as they nest and written so that they read the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.tasks.coref.formats.brackets import BracketError, OpenMentions, cells_of, parts_of, say_the_same


def read(cells):
    column = OpenMentions()
    for token, cell in enumerate(cells):
        column.read(cell, token)
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
    with pytest.raises(BracketError, match="is not a coreference cell"):
        parts_of(cell)


def test_a_mention_may_not_end_before_it_begins():
    with pytest.raises(BracketError, match="cluster 3 that was not opened"):
        read(["3)", "(3"])


def test_an_unclosed_mention_is_named():
    column = OpenMentions()
    column.read("(3|(4", 7)
    column.read("3)", 8)
    assert column.unclosed() == ("4", 7)


def test_the_order_of_parts_does_not_matter():
    assert say_the_same("(1|2)", "2)|(1")
    assert not say_the_same("(1", "(1|(1")
