"""Disk space: whether a file of vectors will fit, asked before anything is computed."""

import shutil
from dataclasses import replace
from pathlib import Path

from elmo.disk.output import is_disk_full
from elmo.embed.storage.layout import VectorLayout
from elmo.errors import OutputError

_UNITS = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


def require_space(folder: Path, layout: VectorLayout, *, copies: int, overhead: int, done: int) -> None:
    """OutputError unless the disk of `folder` has room for a file of vectors.

    `copies`: how often its numbers lie there at once; `overhead`: bytes beside them; `done`: bytes there already.
    """
    free = shutil.disk_usage(folder).free
    needed = copies * layout.num_bytes + overhead - done
    if needed <= free:
        return
    layers = "1 layer" if layout.num_layers is None else f"{layout.num_layers} layers"
    raise OutputError(
        f"Not enough disk: {size(needed)} needed for {_count(layout.num_tokens)} tokens ({layers}, {layout.store}), "
        f"{size(free)} free. {_advice(layout, copies, overhead)} The disk is that of {folder}."
    )


def disk_full(error: OSError, folder: Path, needed: int, resume: str) -> OutputError | None:
    """The message for a disk that filled up on the way; None if `error` says something else."""
    if not is_disk_full(error):
        return None
    free = shutil.disk_usage(folder).free
    return OutputError(
        f"{folder}: the disk is full: {needed:,} more bytes are needed, {free:,} are free. What is finished is kept: "
        f"free some space, then {resume}."
    )


def size(num_bytes: float) -> str:
    """For people: "20.5 GB"."""
    for unit, factor in _UNITS:
        if num_bytes >= factor:
            return f"{num_bytes / factor:.1f} {unit}"
    return f"{num_bytes:.0f} bytes"


def _advice(layout: VectorLayout, copies: int, overhead: int) -> str:
    choices = []
    if layout.num_layers is not None:
        choices.append(f"--layers average ({size(copies * replace(layout, num_layers=None).num_bytes + overhead)})")
    if layout.store != "float16":
        choices.append("--store float16")
    return f"Try {' or '.join(choices)}." if choices else "Free some space, or name another disk."


def _count(tokens: int) -> str:
    """ "1.7e6" from a hundred thousand on."""
    if tokens < 100_000:
        return str(tokens)
    digits, exponent = f"{tokens:.1e}".split("e")
    return f"{digits}e{int(exponent)}"
