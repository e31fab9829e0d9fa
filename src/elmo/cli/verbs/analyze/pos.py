"""`elmo analyze pos`: how much of a token's part of speech a linear probe reads off each layer."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import tyro

from elmo.analysis.encoders import EncoderChoice
from elmo.analysis.record import Record, row_name
from elmo.cli.analysis_output import OutputFlags, produce
from elmo.cli.arguments import parsed
from elmo.cli.early_checks import As


@dataclass(frozen=True)
class Arguments:
    """Fit a linear classifier of part-of-speech tags on each frozen layer (the paper's table 6). Prints the accuracy on
    all tokens, on words that are not in the training data and on ambiguous words; the selectivity, which is the
    accuracy minus that on a control task with random tags; and the compression: how many times shorter than a uniform
    code the tags' online code is."""

    train: Annotated[Path, As("file"), tyro.conf.arg(metavar="FILE.conllu")]
    """Treebank to train on."""
    dev: Annotated[Path, As("file"), tyro.conf.arg(metavar="FILE.conllu")]
    """Treebank for choosing the strength of regularization."""
    test: Annotated[Path, As("file"), tyro.conf.arg(metavar="FILE.conllu")]
    """Treebank to score."""
    tags: Literal["xpos", "upos"] = "xpos"
    """Column of the tags: the treebank's own, or the universal ones."""
    no_control: bool = False
    """Leave out the control task, which takes a third of the time."""
    no_code: bool = False
    """Leave out the online code length, which takes a third of the time."""
    encoders: EncoderChoice = field(default_factory=EncoderChoice)
    results: OutputFlags = field(default_factory=OutputFlags)


def run(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "analyze pos")
    return produce(arguments.results, lambda: record_of(arguments), table)


def record_of(arguments: Arguments) -> Record:
    """The record of the analysis."""
    # Here, so that --help does not wait for torch.
    from elmo.analysis.encoders import described, encoders_of
    from elmo.analysis.probes.experiment import Measures, Treebanks, probe_table
    from elmo.analysis.record import begun

    encoders = encoders_of(arguments.encoders)
    found = probe_table(
        Treebanks(arguments.train, arguments.dev, arguments.test),
        encoders,
        column=arguments.tags,
        measures=Measures(control=not arguments.no_control, code=not arguments.no_code),
        progress=not arguments.results.quiet,
    )
    beginning = begun(
        "pos",
        encoders=described(arguments.encoders, encoders),
        data={name: getattr(arguments, name) for name in ("train", "dev", "test")},
        settings={"tags": arguments.tags},
    )
    return beginning | found.record()


def table(record: Record) -> str:
    """The record's table as text."""
    rows = [(row_name(row), row) for row in record["rows"]]
    width = max(len(name) for name, _ in rows)
    lines = [f"{'accuracy':{width}}     all  (95 % interval)   unseen  ambiguous  selectivity  compression"]
    return "\n".join([*lines, *(f"{name:{width}}  {_figures(row)}".rstrip() for name, row in rows)])


def _figures(row: Record) -> str:
    low, high = row["interval"]
    accuracies = (
        f"{row['accuracy']:6.2f}  ({low:5.2f} to {high:5.2f})   {_share(row['unseen'])}     {_share(row['ambiguous'])}"
    )
    return f"{accuracies}  {_cell(row['selectivity'], 1)}  {_cell(row['compression'], 2)}"


def _share(value: float | None) -> str:
    """A dash where the test file has no such word."""
    return f"{'-':>6}" if value is None else f"{value:6.2f}"


def _cell(value: float | None, digits: int) -> str:
    return f"{value:11.{digits}f}" if value is not None else " " * 11
