"""`elmo analyze precision`: how many of a word's nearest occurrences have its part of speech, or its sense?"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro
from tqdm import tqdm

from elmo.analysis.encoder_choice import EncoderChoice
from elmo.analysis.record import Record
from elmo.cli.analysis_output import OutputFlags, produce, row_name, show_progress
from elmo.cli.arguments import parsed


@dataclass(frozen=True)
class Arguments:
    """Count what the paper's table 4 shows by example: of the nearest 1, 5 and 10 occurrences of the same word form in
    other documents, how many have the same part of speech, and how many the same sense? Layer 0 sees the word alone,
    so it is at chance. The keys of X.data.xml are read from X.gold.key.txt."""

    corpus: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="X.data.xml")]
    """Sense-annotated corpus in the format of Raganato et al. 2017, such as SemCor."""
    queries: int = 20
    """Queries of one word form at most."""
    occurrences: int = 500
    """Occurrences of one word form that are compared at most."""
    seed: int = 0
    """Draws queries and occurrences."""
    center: bool = False
    """Subtract each layer's mean over the corpus from all vectors, which takes a second pass."""
    encoders: EncoderChoice = field(default_factory=EncoderChoice)
    results: OutputFlags = field(default_factory=OutputFlags)


def run(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "analyze precision")
    return produce(arguments.results, lambda: record_of(arguments), table)


def record_of(arguments: Arguments) -> Record:
    """The record of the analysis."""
    # Here, so that --help does not wait for torch.
    from elmo.analysis.controls import described, encoders_of
    from elmo.analysis.encoders import Centered
    from elmo.analysis.neighbors.occurrences import Limits, annotated
    from elmo.analysis.neighbors.precision import precision_table
    from elmo.analysis.record import begun
    from elmo.analysis.senses.experiment import key_file
    from elmo.analysis.senses.raganato import read_keys, read_sentences

    keys = read_keys(key_file(arguments.corpus))
    limits = Limits(occurrences=arguments.occurrences, queries=arguments.queries, seed=arguments.seed)
    encoders = chosen = encoders_of(arguments.encoders)
    if arguments.center:
        encoders = {name: Centered(one, _tokens(arguments.corpus)) for name, one in chosen.items()}
    with tqdm(unit="sentence", disable=arguments.results.quiet, file=sys.stderr) as bar:
        found = precision_table(
            lambda: _tokens(arguments.corpus),
            annotated(read_sentences(arguments.corpus), keys),
            encoders,
            limits,
            lambda what, done: show_progress(bar, what, done),
        )
    beginning = begun(
        "precision",
        encoders=described(arguments.encoders, chosen),
        data={"corpus": arguments.corpus},
        settings={name: getattr(arguments, name) for name in ("queries", "occurrences", "seed", "center")},
    )
    return beginning | found.record()


def _tokens(corpus: Path) -> Iterator[Sequence[str]]:
    from elmo.analysis.senses.raganato import read_sentences

    return (sentence.tokens for sentence in read_sentences(corpus))


def table(record: Record) -> str:
    """The record's table as text."""
    width = max(len(row_name(row)) for row in record["rows"])
    parts = []
    for question, depths in record["rows"][0]["precision"].items():
        head = "".join(f"  {f'{k} nearest  (95 % interval)':>27}" for k in depths)
        sizes = f"{record['words'][question]:,} words, {record['queries'][question]:,} queries"
        lines = [f"same {question}, percent; {sizes}"]
        lines += [f"{'':{width}}{head}", *(_row(row, question, width) for row in record["rows"])]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _row(row: Record, question: str, width: int) -> str:
    measured = row["precision"][question].values()
    cells = "".join(f"  {f'{mean:.1f}  ({low:.1f} to {high:.1f})':>27}" for mean, (low, high) in measured)
    return f"{row_name(row):{width}}{cells}"
