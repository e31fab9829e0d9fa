"""Tables 4 to 6, what the layers know: the paper's rows beside those of a record of an analysis."""

from collections.abc import Mapping
from dataclasses import dataclass

from elmo_paper.analysis.record import Record, row_name
from elmo_paper.reproduce import paper

LAYER_TABLES = {
    "table4": "the nearest occurrences of a word in its sentence, by layer",
    "table5": "word senses by the nearest sense vector, by layer",
    "table6": "parts of speech by a linear probe, by layer",
}


@dataclass(frozen=True)
class LayerRow:
    """One row of table 5 or 6, in percent; None for what wasn't measured."""

    name: str
    paper: float | None
    ours: float | None


def rows(table: str, record: Record) -> list[LayerRow]:
    """The rows of table 5 or 6: first ours, then those that only the paper has."""
    theirs, ours = _theirs(table), _ours(record)
    return [LayerRow(name, theirs.get(name), ours.get(name)) for name in dict.fromkeys([*ours, *theirs])]


def figures_of_paper(table: str) -> Record:
    """The paper's own figures, and their source."""
    if table == "table4":
        return {"source": paper.SOURCE, "glove": paper.GLOVE_NEIGHBORS, "bilm": paper.BILM_NEIGHBORS}
    return {"source": paper.SOURCE, "rows": _theirs(table)}


def _theirs(table: str) -> Mapping[str, float]:
    return paper.TABLE_5 if table == "table5" else paper.TABLE_6


def _ours(record: Record) -> dict[str, float]:
    if record["analysis"] == "wsd":
        return {row_name(one): one["sets"]["all"]["f1"] for one in record["systems"]}
    return {row_name(one): one["accuracy"] for one in record["rows"]}
