"""`elmo reproduce table4 | table5 | table6`: the paper's rows about its layers beside one's own."""

import json
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import tyro

from elmo.cli.analysis_output import produce
from elmo.cli.arguments import parsed

# What computes a table that no record is named for.
_ANALYSES = {"table4": "neighbors", "table5": "wsd", "table6": "pos"}
_OUTPUT = ("-o", "--output")


@dataclass(frozen=True)
class Arguments:
    """Print the paper's rows next to those of records that 'elmo analyze' wrote."""

    records: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RECORD.json [RECORD.json ...]")]
    """Records: of 'elmo analyze neighbors' or 'precision' for table 4, of 'wsd' for table 5, of 'pos' for table 6."""
    json: bool = False
    """Print the paper's figures and the records as JSON."""


def run(table: str, argv: list[str]) -> int:
    """Runs the command, on records or with the arguments of the analysis; the exit code."""
    if _first_name(argv).endswith(".json"):
        return _of_records(table, parsed(Arguments, argv, f"reproduce {table}"))
    from elmo.reproduce.layer_tables import as_text

    analysis = import_module(f"elmo.cli.verbs.analyze.{_ANALYSES[table]}")
    arguments = parsed(analysis.Arguments, argv, f"reproduce {table}")
    return produce(arguments.results, lambda: analysis.record_of(arguments), lambda record: as_text(table, record))


def _first_name(argv: list[str]) -> str:
    """The first argument that is neither a flag nor the name of the output: a record, if there is one."""
    found = (word for before, word in pairwise(["", *argv]) if not word.startswith("-") and before not in _OUTPUT)
    return next(found, "")


def _of_records(table: str, arguments: Arguments) -> int:
    from elmo.reproduce.layer_tables import as_text, figures_of_paper, read_record

    records = [read_record(path, table) for path in arguments.records]
    if arguments.json:
        print(json.dumps({"paper": figures_of_paper(table), "records": records}, indent=1, ensure_ascii=False))
    else:
        print("\n\n".join(as_text(table, record) for record in records))
    return 0
