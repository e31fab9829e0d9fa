"""`elmo-paper precision`: how many of a word's nearest occurrences have its part of speech, or its sense?"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from elmo_paper.cli.arguments import parsed
from elmo_paper.cli.produce import Analysis


@dataclass(frozen=True, kw_only=True)
class Arguments(Analysis):
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


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "precision")
    from elmo_paper.analysis.occurrences import PrecisionLimits, annotated
    from elmo_paper.analysis.precision import precision_table
    from elmo_paper.analysis.senses.files import key_file, keyed
    from elmo_paper.analysis.senses.raganato import read_keys, read_sentences

    corpus = arguments.corpus
    settings = {name: getattr(arguments, name) for name in ("queries", "occurrences", "seed")}
    limits, keys = PrecisionLimits(**settings), read_keys(key_file(corpus))
    return arguments.produce(
        "precision",
        lambda encoders: precision_table(
            lambda: (sentence.tokens for sentence in read_sentences(corpus)),
            annotated(keyed(read_sentences(corpus), corpus, keys), keys),
            encoders,
            limits,
            progress=not arguments.quiet,
        ),
        data={"corpus": corpus, "keys": key_file(corpus)},
        settings=settings,
    )
