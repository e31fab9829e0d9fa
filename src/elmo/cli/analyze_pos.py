"""`elmo analyze pos`: how much of a token's part of speech a linear probe reads off each layer."""

import json
import sys
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from elmo.cli.arguments import parsed
from elmo.process.device import Device
from elmo.version import __version__

if TYPE_CHECKING:
    from elmo.analysis.probes.experiment import ProbeRow


@dataclass(frozen=True)
class Arguments:
    """Fit a linear classifier of part-of-speech tags on each frozen layer (the paper's table 6). Prints accuracy on all
    tokens, on words that training doesn't have and on ambiguous words, and the selectivity: accuracy minus that on a
    control task with random tags."""

    train: Annotated[Path, tyro.conf.arg(metavar="FILE.conllu")]
    """Treebank to fit on."""
    dev: Annotated[Path, tyro.conf.arg(metavar="FILE.conllu")]
    """Treebank on which the strength of regularization is chosen."""
    test: Annotated[Path, tyro.conf.arg(metavar="FILE.conllu")]
    """Treebank that is scored."""
    tags: Literal["xpos", "upos"] = "xpos"
    """Column of the tags: the treebank's own, or the universal ones."""
    model: Annotated[str | None, tyro.conf.arg(aliases=["-m"], metavar="MODEL")] = None
    """A name, a folder or file, or a hub id (default: $ELMO_MODEL, or the bundled model)."""
    static: Annotated[Path | None, tyro.conf.arg(metavar="VECTORS")] = None
    """Static vectors to compare with."""
    random: bool = False
    """Also probe the model's architecture with random weights."""
    no_control: bool = False
    """Leave the control task out: half the time."""
    dtype: Literal["float32", "bfloat16", "int8", "auto"] = "auto"
    """Precision of the biLM's matrix products."""
    device: Device = "auto"
    """Where to compute."""
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"], metavar="OUT.json")] = None
    """Also write the record here."""
    force: bool = False
    """Replace that file if it exists."""
    json: bool = False
    """Print the record instead of the table."""
    quiet: bool = False
    """No progress."""


def run(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "analyze pos")
    # Here, so that --help does not wait for torch.
    from elmo.analysis.controls import encoders_of
    from elmo.analysis.probes.experiment import Treebanks, probe_table
    from elmo.disk.atomic import new_file

    # The output's name is refused before the work, not after it.
    output = arguments.output and new_file(arguments.output, size=0, force=arguments.force)
    with output or nullcontext() as unfinished:
        rows = probe_table(
            Treebanks(arguments.train, arguments.dev, arguments.test),
            encoders_of(
                arguments.model,
                device=arguments.device,
                dtype=arguments.dtype,
                static=arguments.static,
                random=arguments.random,
            ),
            column=arguments.tags,
            control=not arguments.no_control,
            on_step=lambda what: None if arguments.quiet else print(what, file=sys.stderr),
        )
        record = json.dumps(_facts(arguments) | {"rows": [*map(_plain, rows)]}, indent=2, ensure_ascii=False)
        if unfinished is not None:
            unfinished.write_text(record + "\n", encoding="utf-8")
    print(record if arguments.json else _table(rows))
    return 0


def _facts(arguments: Arguments) -> dict[str, object]:
    files = {name: getattr(arguments, name).name for name in ("train", "dev", "test")}
    return {"elmo": __version__, "model": arguments.model or "default", "tags": arguments.tags, **files}


def _plain(row: "ProbeRow") -> dict[str, object]:
    return {**asdict(row), "selectivity": row.selectivity}


def _table(rows: "list[ProbeRow]") -> str:
    width = max(len(row.name) for row in rows)
    lines = [f"{'accuracy':{width}}     all  (95 % interval)   unseen  ambiguous  selectivity"]
    for row in rows:
        selectivity = "" if row.selectivity is None else f"{row.selectivity:11.1f}"
        low, high = row.interval
        figures = f"{row.accuracy:6.2f}  ({low:5.2f} to {high:5.2f})   {row.unseen:6.2f}     {row.ambiguous:6.2f}"
        lines.append(f"{row.name:{width}}  {figures}  {selectivity}".rstrip())
    return "\n".join(lines)
