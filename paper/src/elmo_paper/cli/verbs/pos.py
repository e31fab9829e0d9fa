"""`elmo-paper pos`: how much of a token's part of speech a linear probe reads off each layer."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import tyro

from elmo.process.text_table import text_table
from elmo_paper.analysis.encoders import EncoderChoice
from elmo_paper.analysis.record import Record, row_name
from elmo_paper.cli.arguments import parsed
from elmo_paper.cli.produce import OutputFlags, produce


@dataclass(frozen=True)
class Arguments:
    """Fit a linear classifier of part-of-speech tags on each frozen layer (the paper's table 6). Prints the accuracy on
    all tokens, on words that are not in the training data and on ambiguous words; the selectivity, which is the
    accuracy minus that on a control task with random tags; and the compression: how many times shorter than a uniform
    code the tags' online code is."""

    train: Annotated[Path, tyro.conf.arg(metavar="FILE.conllu")]
    """Treebank to train on."""
    dev: Annotated[Path, tyro.conf.arg(metavar="FILE.conllu")]
    """Treebank for choosing the strength of regularization."""
    test: Annotated[Path, tyro.conf.arg(metavar="FILE.conllu")]
    """Treebank to score."""
    tags: Literal["xpos", "upos"] = "xpos"
    """Column of the tags: the treebank's own, or the universal ones."""
    no_control: bool = False
    """Leave out the control task, which takes a third of the time."""
    no_code: bool = False
    """Leave out the online code length, which takes a third of the time."""
    encoders: EncoderChoice = field(default_factory=EncoderChoice)
    results: OutputFlags = field(default_factory=OutputFlags)


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "pos")
    return produce(arguments.results, lambda: record_of(arguments), table)


def record_of(arguments: Arguments) -> Record:
    """The record of the analysis."""
    from elmo_paper.analysis.encoders import described, encoders_of
    from elmo_paper.analysis.probes.experiment import Measures, Treebanks, probe_table
    from elmo_paper.analysis.record import begun

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
    rows = [["accuracy", "all", "(95 % interval)", "unseen", "ambiguous", "selectivity", "compression"]]
    for row in record["rows"]:
        low, high = row["interval"]
        shares = ["-" if row[key] is None else f"{row[key]:.2f}" for key in ("unseen", "ambiguous")]
        selectivity = "" if row["selectivity"] is None else f"{row['selectivity']:.1f}"
        compression = "" if row["compression"] is None else f"{row['compression']:.2f}"
        interval = f"({low:.2f} to {high:.2f})"
        rows.append([row_name(row), f"{row['accuracy']:.2f}", interval, *shares, selectivity, compression])
    return "\n".join(text_table(rows))
