"""The coreference column of CoNLL-2012: brackets that open and close mentions.

A cell is "-" (in some files "_", "*" or nothing), or parts between "|": "(12" opens a mention of cluster 12, "12)"
closes one, "(12)" is one of one token.
A close ends the latest mention of its cluster that is open, so mentions of one cluster may nest.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from elmo.tasks.coref.documents import Mention

EMPTY = "-"
_EMPTY_CELLS = (EMPTY, "_", "*", "")
_PART = re.compile(r"(\()?([^()|\s]+)(\))?")


class BracketError(ValueError):
    """A cell that isn't of the grammar, or doesn't fit those before it; the message goes after "file:line: "."""


class OpenMentions:
    """Reads a column of cells from top to bottom."""

    def __init__(self) -> None:
        self._open: dict[str, list[int]] = defaultdict(list)
        self.clusters: dict[str, list[Mention]] = {}
        """The mentions of each cluster so far, in the order of their ends."""

    def read(self, cell: str, token: int) -> None:
        """Reads the cell of a token. Raises BracketError."""
        for name, opens, closes in parts_of(cell):
            if opens:
                self._open[name].append(token)
            if closes:
                if not self._open[name]:
                    raise BracketError(
                        f"{cell!r} closes a mention of cluster {name} that was not opened: a mention "
                        "would end before it begins"
                    )
                self.clusters.setdefault(name, []).append((self._open[name].pop(), token))

    def unclosed(self) -> tuple[str, int] | None:
        """The cluster and first token of a mention that is still open, the one that was opened first; or None."""
        still_open = [(starts[0], name) for name, starts in self._open.items() if starts]
        return None if not still_open else (min(still_open)[1], min(still_open)[0])


def parts_of(cell: str) -> list[tuple[str, bool, bool]]:
    """(cluster, whether it opens, whether it closes) of each part. Raises BracketError for what is not a cell."""
    if cell in _EMPTY_CELLS:
        return []
    found = []
    for part in cell.split("|"):
        match = _PART.fullmatch(part)
        if match is None or not (match[1] or match[3]):
            raise BracketError(
                f"{cell!r} is not a coreference cell, which is '-' or like '(3', '3)', '(3)' or several of these with "
                "'|' between them"
            )
        found.append((match[2], bool(match[1]), bool(match[3])))
    return found


def cells_of(clusters: Mapping[str, Sequence[Mention]], num_tokens: int) -> list[str]:
    """The column: on each token first closings (of the innermost mention first), then mentions of one token, then
    openings (of the outermost first)."""
    rows: list[list[tuple[int, int, str]]] = [[] for _ in range(num_tokens)]
    for name, mentions in clusters.items():
        for first, last in mentions:
            if first == last:
                rows[first].append((1, 0, f"({name})"))
            else:
                rows[last].append((0, -first, f"{name})"))
                rows[first].append((2, -last, f"({name}"))
    return ["|".join(part for *_, part in sorted(row, key=lambda part: part[:2])) or EMPTY for row in rows]


def say_the_same(cell: str, other: str) -> bool:
    """Whether two cells have the same parts, in any order."""
    if cell in _EMPTY_CELLS and other in _EMPTY_CELLS:
        return True
    return Counter(cell.split("|")) == Counter(other.split("|"))
