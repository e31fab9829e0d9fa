"""The record of an analysis, begun as `elmo` begins one, and what is said of its rows and files."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elmo.analysis import record
from elmo.analysis.record import Record


def begun(
    analysis: str,
    *,
    encoders: Mapping[str, Any],
    data: Mapping[str, Path | Sequence[Path]],
    settings: Mapping[str, Any],
) -> Record:
    """What the record of an analysis begins with. `encoders`: as `described` gives it."""
    command = ["elmo-paper", *sys.argv[1:]]
    return record.begun(analysis, encoders=encoders, data=data, settings=settings, command=command)


def row_name(row: Mapping[str, Any]) -> str:
    """What a table or figure calls a row: the encoder and its layer, or a rule that needs no vectors."""
    return ", ".join(filter(None, (row["encoder"], row["layer"])))
