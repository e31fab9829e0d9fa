"""`elmo analyze wsd`: word sense disambiguation by the nearest sense vector."""

import json
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro
from tqdm import tqdm

from elmo.cli.arguments import parsed
from elmo.process.device import Device
from elmo.version import __version__

if TYPE_CHECKING:
    from elmo.analysis.senses.experiment import SenseTable, System


@dataclass(frozen=True)
class Arguments:
    """Ask which sense a word has in its sentence: each sense of a training corpus is the mean of its occurrences'
    vectors, and a test word takes the nearest one (the paper's table 5). Prints F1 by test set for every layer, beside
    the dictionary's first sense and the most frequent one. The keys of X.data.xml are read from X.gold.key.txt."""

    train: Annotated[Path, tyro.conf.arg(metavar="X.data.xml")]
    """Sense-annotated training corpus in the format of Raganato et al. 2017, such as SemCor."""
    test: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="Y.data.xml")]
    """Test sets in the same format; figures are given for each, and for all of them together."""
    inventory: Annotated[Path, tyro.conf.arg(metavar="SENSES.tsv")]
    """Senses of the dictionary: a table with the columns lemma, pos, rank, sense_key and semcor_count."""
    model: Annotated[str | None, tyro.conf.arg(aliases=["-m"], metavar="MODEL")] = None
    """A name, a folder or file, or a hub id (default: $ELMO_MODEL, or the bundled model)."""
    static: Annotated[Path | None, tyro.conf.arg(metavar="VECTORS")] = None
    """Static vectors as controls: the word's own, and the mean of the ten words to each side of it."""
    random: bool = False
    """Also use the model's architecture with random weights: what an untrained network gives."""
    dtype: Literal["float32", "bfloat16", "int8", "auto"] = "auto"
    """Precision of the biLM's matrix products."""
    device: Device = "auto"
    """Where to compute."""
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"], metavar="OUT.json")] = None
    """Also write the record here: figures by test set and part of speech, and on ambiguous words."""
    force: bool = False
    """Replace that file if it exists."""
    json: bool = False
    """Print the record instead of the table."""
    quiet: bool = False
    """No progress."""


def run(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "analyze wsd")
    # Here, so that --help does not wait for torch.
    from elmo.analysis.controls import encoders_of
    from elmo.analysis.senses.experiment import SenseFiles, sense_table
    from elmo.disk.atomic import new_file

    # The output's name is refused before the work, not after it.
    output = arguments.output and new_file(arguments.output, size=0, force=arguments.force)
    with output or nullcontext() as unfinished:
        files = SenseFiles(arguments.train, arguments.test, arguments.inventory)
        encoders = encoders_of(
            arguments.model,
            device=arguments.device,
            dtype=arguments.dtype,
            static=arguments.static,
            random=arguments.random,
        )
        with tqdm(unit="sentence", disable=arguments.quiet, file=sys.stderr) as bar:
            table = sense_table(files, encoders, lambda what, done: _show(bar, what, done))
        record = json.dumps(_facts(arguments) | table.record(), indent=2, ensure_ascii=False)
        if unfinished is not None:
            unfinished.write_text(record + "\n", encoding="utf-8")
    print(record if arguments.json else _table(table))
    return 0


def _facts(arguments: Arguments) -> dict[str, object]:
    """What the figures depend on."""
    return {
        "elmo": __version__,
        "model": arguments.model or "default",
        "dtype": arguments.dtype,
        "train": arguments.train.name,
        "inventory": arguments.inventory.name,
        "static": arguments.static and arguments.static.name,
    }


def _show(bar: tqdm, what: str, done: int) -> None:
    if done == 1:
        bar.reset()
        bar.set_description(what, refresh=False)
    bar.update(done - bar.n)


def _table(table: "SenseTable") -> str:
    names = [one.name for one in table.sets]
    names += ["all"] if len(names) > 1 else []
    width = max(len(system.name) for system in table.systems)
    lines = [f"F1{'':{width - 2}}" + "".join(f"  {name:>{max(6, len(name))}}" for name in names) + "  over first sense"]
    lines += [_row(table, system, names, width) for system in table.systems]
    return "\n".join(
        [*lines, "", "Over first sense: difference over all test sets, with its 95 % interval over documents."]
    )


def _row(table: "SenseTable", system: "System", names: list[str], width: int) -> str:
    scores = table.scores(system)
    cells = "".join(f"  {scores[name].f1:{max(6, len(name))}.1f}" for name in names)
    difference, low, high = table.difference(system, table.systems[0])
    return f"{system.name:{width}}{cells}  {difference:+.1f} ({low:+.1f} to {high:+.1f})"
