"""`elmo-paper precision`: how many of a word's nearest occurrences have its part of speech, or its sense?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from elmo.process.progress.report import Count, Progress, following
from elmo.process.text_table import text_table
from elmo_paper.analysis.encoders import EncoderChoice
from elmo_paper.analysis.record import Record, row_name
from elmo_paper.cli.arguments import parsed
from elmo_paper.cli.produce import OutputFlags, produce

if TYPE_CHECKING:
    from elmo.embed.encoder import Encoder


@dataclass(frozen=True)
class Arguments:
    """Count what the paper's table 4 shows by example: of the nearest 1, 5 and 10 occurrences of the same word form in
    other documents, how many have the same part of speech, and how many the same sense? Layer 0 sees only the word, so
    it is at chance level. The keys of X.data.xml are read from X.gold.key.txt."""

    corpus: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="X.data.xml")]
    """Sense-annotated corpus in the format of Raganato et al. 2017, such as SemCor."""
    queries: int = 20
    """Maximum number of queries for each word form."""
    occurrences: int = 500
    """Maximum number of occurrences of each word form to compare."""
    seed: int = 0
    """Random seed for drawing queries and occurrences."""
    center: bool = False
    """Subtract each layer's mean over the corpus from all vectors; this takes a second pass."""
    encoders: EncoderChoice = field(default_factory=EncoderChoice)
    results: OutputFlags = field(default_factory=OutputFlags)


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "precision")
    return produce(arguments.results, lambda: record_of(arguments), table)


def record_of(arguments: Arguments) -> Record:
    """The record of the analysis."""
    from elmo_paper.analysis.encoders import described, encoders_of
    from elmo_paper.analysis.occurrences import PrecisionLimits, annotated
    from elmo_paper.analysis.precision import precision_table
    from elmo_paper.analysis.record import begun
    from elmo_paper.analysis.senses.files import key_file, keyed
    from elmo_paper.analysis.senses.raganato import read_keys, read_sentences

    keys = read_keys(key_file(arguments.corpus))
    limits = PrecisionLimits(occurrences=arguments.occurrences, queries=arguments.queries, seed=arguments.seed)
    encoders = encoders_of(arguments.encoders)
    with following(not arguments.results.quiet) as progress:
        found = precision_table(
            lambda: _tokens(arguments.corpus),
            annotated(keyed(read_sentences(arguments.corpus), arguments.corpus, keys), keys),
            _centered(encoders, arguments.corpus, progress) if arguments.center else encoders,
            limits,
            progress=progress,
        )
    beginning = begun(
        "precision",
        encoders=described(arguments.encoders, encoders),
        data={"corpus": arguments.corpus, "keys": key_file(arguments.corpus)},
        settings={name: getattr(arguments, name) for name in ("queries", "occurrences", "seed", "center")},
    )
    return beginning | found.record()


def _centered(encoders: "Mapping[str, Encoder]", corpus: Path, progress: Progress) -> "dict[str, Encoder]":
    from elmo_paper.analysis.encoders import Centered

    found: dict[str, Encoder] = {}
    for name, encoder in encoders.items():
        read = Count(progress, f"{name}: mean vectors", None, "sentences")
        found[name] = Centered(encoder, read.each(_tokens(corpus)))
        read.finish()
    return found


def _tokens(corpus: Path) -> Iterator[Sequence[str]]:
    from elmo_paper.analysis.senses.raganato import read_sentences

    return (sentence.tokens for sentence in read_sentences(corpus))


def table(record: Record) -> str:
    """The record's table as text."""
    parts = []
    for question, depths in record["rows"][0]["precision"].items():
        rows = [["", *(f"{k} nearest  (95 % interval)" for k in depths)]]
        for row in record["rows"]:
            measured = row["precision"][question].values()
            rows.append([row_name(row), *(f"{mean:.1f}  ({low:.1f} to {high:.1f})" for mean, (low, high) in measured)])
        sizes = f"{record['words'][question]:,} words, {record['queries'][question]:,} queries"
        parts.append("\n".join([f"same {question}, percent; {sizes}", *text_table(rows)]))
    return "\n\n".join(parts)
