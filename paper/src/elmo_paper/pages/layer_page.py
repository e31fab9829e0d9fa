"""Tables 4 to 6, what the layers know: a record of an analysis beside the paper's rows, and the claims about it."""

import json
from pathlib import Path

from elmo.disk.bounded import read_bytes, shown
from elmo.errors import TextError
from elmo_paper.analysis.record import Record
from elmo_paper.pages.analyses import layer_lines, nearest_lines, precision_lines
from elmo_paper.pages.claims import claims_table
from elmo_paper.pages.records import layer_rows
from elmo_paper.reproduce import paper
from elmo_paper.reproduce.layer_tables import LAYER_TABLES

_ANALYSES = {"table4": ("neighbors", "precision"), "table5": ("wsd",), "table6": ("pos",)}
_ROWS = {"neighbors": "queries", "precision": "rows", "wsd": "systems", "pos": "rows"}
_MOST_BYTES = 64 << 20


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


def as_text(table: str, record: Record) -> str:
    """The table as Markdown, which reads well in a terminal too."""
    lines = [f"Table {table[-1]}: {LAYER_TABLES[table]}", ""]
    if record["analysis"] == "neighbors":
        lines += nearest_lines([record])
    else:
        lines += precision_lines(record) if table == "table4" else layer_lines(table, [record])
        if claims := list(layer_rows(table, record)):
            lines += ["", *claims_table(claims, name_data=False)]
    return "\n".join([*lines, "", f"The paper: {paper.SOURCE}. {record['model']}: {_files(record)}."])


def _files(record: Record) -> str:
    data = [one for found in record["data"].values() for one in (found if isinstance(found, list) else [found])]
    return ", ".join(one["file"] for one in data)
