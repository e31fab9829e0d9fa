"""Tables 4 to 6, what the layers know: the paper's rows beside those of a record of an analysis."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from elmo.disk.bounded import read_bytes, shown
from elmo.errors import TextError
from elmo.process.text_table import text_table
from elmo_paper.analysis.record import Record, row_name
from elmo_paper.reproduce import paper

LAYER_TABLES = {
    "table4": "the nearest occurrences of a word in its sentence, by layer",
    "table5": "word senses by the nearest sense vector, by layer",
    "table6": "parts of speech by a linear probe, by layer",
}
_ANALYSES = {"table4": ("neighbors", "precision"), "table5": ("wsd",), "table6": ("pos",)}
_ROWS = {"neighbors": "queries", "precision": "rows", "wsd": "systems", "pos": "rows"}
_MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class LayerRow:
    """One row of table 5 or 6, in percent; None for what wasn't measured."""

    name: str
    paper: float | None
    ours: float | None


def read_record(path: Path, table: str) -> Record:
    """A record of one of the analyses that belong to the table. Raises TextError for any other file, and for a record
    that lacks what the table shows."""
    record = _loaded(path)
    analysis = record["analysis"]
    if analysis not in _ANALYSES[table]:
        raise TextError(
            f"{path}: is a record of {analysis!r}, but {table} is made of "
            f"{' and '.join(f'{one!r}' for one in _ANALYSES[table])}. Name such a record."
        )
    try:
        as_text(table, record)  # which needs all that any form of the table has
        if not record[_ROWS[analysis]]:
            raise ValueError("it has no rows")
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise TextError(
            f"{path}: is not a complete record of {analysis!r}: {shown(error)}. Name the file as -o wrote "
            "it, or run the analysis again."
        ) from None
    return record


def _loaded(path: Path) -> Record:
    data = read_bytes(path, limit=_MOST_BYTES)
    try:
        record = json.loads(data, parse_constant=_no_number)
        record["analysis"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise TextError(
            f"{path}: is not a record of an analysis. Name a file that 'elmo-paper wsd -o', or another analysis, wrote."
        ) from None
    return record


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not a number")


def rows(table: str, record: Record) -> list[LayerRow]:
    """The rows of table 5 or 6: first ours, then those that only the paper has."""
    theirs, ours = _theirs(table), _ours(record)
    return [LayerRow(name, theirs.get(name), ours.get(name)) for name in dict.fromkeys([*ours, *theirs])]


def figures_of_paper(table: str) -> Record:
    """The paper's own figures, and their source."""
    if table == "table4":
        return {"source": paper.SOURCE, "glove": paper.GLOVE_NEIGHBORS, "bilm": paper.BILM_NEIGHBORS}
    return {"source": paper.SOURCE, "rows": _theirs(table)}


def as_text(table: str, record: Record) -> str:
    """The table as text."""
    lines = [f"Table {table[-1]}: {LAYER_TABLES[table]}", ""]
    if record["analysis"] == "neighbors":
        lines += _examples(record)
    elif record["analysis"] == "precision":
        lines += _counted(record)
    else:
        head = ["", "the paper", record["model"]]
        cells = [[row.name, _cell(row.paper), _cell(row.ours)] for row in rows(table, record)]
        lines += [*text_table([head, *cells]), "", *_directions(table, record)]
    return "\n".join([*lines, "", f"The paper: {paper.SOURCE}. {record['model']}: {_files(record)}."])


def _theirs(table: str) -> Mapping[str, float]:
    return paper.TABLE_5 if table == "table5" else paper.TABLE_6


def _ours(record: Record) -> dict[str, float]:
    if record["analysis"] == "wsd":
        return {row_name(one): one["sets"]["all"]["f1"] for one in record["systems"]}
    return {row_name(one): one["accuracy"] for one in record["rows"]}


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _directions(table: str, record: Record) -> Iterator[str]:
    theirs = _theirs(table)
    paper_difference = theirs["biLM, layer 2"] - theirs["biLM, layer 1"]
    yield f"biLM, layer 2 minus layer 1: {paper_difference:+.1f} in the paper"
    ours = record[_ROWS[record["analysis"]]]
    for row in ours:
        if (row["encoder"], row["layer"]) == ("biLM", "layer 2"):
            yield f"  here: {_compared(row['over_layer_below'], paper_difference)}."
    for row in ours:
        if (less := row.get("minus_bilm")) is not None:  # records of before 2026-11-26 have none
            mean, low, high = less
            yield f"{row_name(row)}, minus the biLM's: {mean:+.1f} ({low:+.1f} to {high:+.1f})"


def _compared(difference: tuple[float, float, float] | None, theirs: float) -> str:
    if difference is None:
        return "the record has no interval of the difference"
    mean, low, high = difference
    return f"{mean:+.1f} ({low:+.1f} to {high:+.1f}): {_verdict(low, high, theirs)}"


def _verdict(low: float, high: float, theirs: float) -> str:
    if low <= 0 <= high:
        return "the interval holds 0, so the direction is not decided"
    return "the paper's direction" if (low > 0) == (theirs > 0) else "not the paper's direction"


def _examples(record: Record) -> Iterator[str]:
    yield "The paper"
    for word, near in paper.GLOVE_NEIGHBORS.items():
        yield f"  GloVe, {word}: {', '.join(near)}"
    for sentence, nearest in paper.BILM_NEIGHBORS.items():
        yield from (f"  {sentence}", f"    {nearest}")
    yield from ("", record["model"])
    for query in record["queries"]:
        if query["static"]:
            yield f"  static vectors: {', '.join(word for word, _ in query['static'])}"
        yield f"  {_marked(query['sentence'], query['place'])}"
        for layer, near in enumerate(query["layers"]):
            for hit in near["same"][:1] if layer else []:
                yield f"    layer {layer}: {_marked(hit['sentence'], hit['position'])}"


def _marked(tokens: list[str], place: int) -> str:
    return " ".join(f"[{token}]" if position == place else token for position, token in enumerate(tokens))


def _counted(record: Record) -> Iterator[str]:
    yield "The paper shows two queries. Counted: the percentage of the nearest occurrence, and of the nearest 10, that"
    yield "agree with the query, and the 95 % interval over words."
    width = max((len(row_name(row)) for row in record["rows"]), default=0)
    for question, words in record["words"].items():
        yield from ("", f"same {question} ({words:,} words, {record['queries'].get(question, 0):,} queries)")
        measured = [row for row in record["rows"] if question in row["precision"]]
        if not measured:
            yield "  not measured: no occurrence has enough others that agree with it and that don't"
        for row in measured:
            cells = "".join(f"  {_measured(row['precision'][question][k]):>22}" for k in ("1", "10"))
            yield f"  {row_name(row):{width}}{cells}"
        yield from _gain(measured, question)


def _measured(found: tuple[float, tuple[float, float]]) -> str:
    mean, (low, high) = found
    return f"{mean:.1f} ({low:.1f} to {high:.1f})"


def _gain(measured: list[Record], question: str) -> Iterator[str]:
    """What layer 2 adds, if the record has it."""
    for row in measured:
        over = (row.get("over_layer_below") or {}).get(question)
        if (row["encoder"], row["layer"]) == ("biLM", "layer 2") and over:
            mean, (low, high) = over["1"]
            yield f"  biLM, layer 2 minus layer 1, nearest: {mean:+.1f} ({low:+.1f} to {high:+.1f})"


def _files(record: Record) -> str:
    data = [one for found in record["data"].values() for one in (found if isinstance(found, list) else [found])]
    return ", ".join(one["file"] for one in data)
