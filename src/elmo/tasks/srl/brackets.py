"""A column of brackets - "(ARG0*", "*", "*)", "(V*)" - and the spans that it means.

Source: the formats of the shared tasks CoNLL-2005 and CoNLL-2012.
"""

import re
from collections.abc import Sequence

from elmo.errors import TextError
from elmo.tasks.tags import Span

_CELL = re.compile(r"((?:\([^()*\s]+)*)\*(\)*)")


def spans_of_column(cells: Sequence[str], where: Sequence[str]) -> list[Span]:
    """The spans of a column, ordered by start, the outer one first. `where`: file and line of each cell.

    Raises TextError for a cell that isn't such a bracket, and for brackets without a partner.
    """
    spans: list[Span] = []
    open_spans: list[tuple[int, int]] = []
    for place, cell in enumerate(cells):
        found = _CELL.fullmatch(cell)
        if found is None:
            raise TextError(
                f"{where[place]}: the cell {cell!r} isn't of the form '(LABEL*)', with any number of '(LABEL' before "
                "the star and of ')' after it. Fix the cell, or choose another --layout."
            )
        for label in found[1].split("(")[1:]:
            open_spans.append((place, len(spans)))
            spans.append((place, place + 1, label))
        for _ in found[2]:
            if not open_spans:
                raise TextError(
                    f"{where[place]}: the cell {cell!r} closes a bracket that was never opened. Fix the column."
                )
            start, number = open_spans.pop()
            spans[number] = (start, place + 1, spans[number][2])
    if open_spans:
        start, number = open_spans[-1]
        raise TextError(
            f"{where[start]}: the bracket '({spans[number][2]}' is still open at the end of the sentence. Close it "
            "with ')' at its last token."
        )
    return spans


def column_of_spans(spans: Sequence[Span], length: int) -> list[str]:
    """The cells of a sentence of `length` tokens; the spans don't overlap."""
    cells = ["*"] * length
    for start, end, label in spans:
        cells[start] = f"({label}{cells[start]}"
        cells[end - 1] += ")"
    return cells


def first_nested(spans: Sequence[Span]) -> Span | None:
    """The first span that begins inside another one, in the order of `spans_of_column`; None if there is none."""
    last_end = 0
    for span in spans:
        if span[0] < last_end:
            return span
        last_end = span[1]
    return None
