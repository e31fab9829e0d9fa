"""`elmo-paper wsd`: word sense disambiguation by the nearest sense vector."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from elmo_paper.cli.arguments import parsed
from elmo_paper.cli.produce import Analysis


@dataclass(frozen=True, kw_only=True)
class Arguments(Analysis):
    """Find out which sense a word has in its sentence: each sense in a training corpus is represented by the mean of
    its occurrences' vectors, and a test word gets the nearest one (the paper's table 5). Prints the F1 of every layer
    on every test set, along with that of the dictionary's first sense and of the most frequent one. The keys of
    X.data.xml are read from X.gold.key.txt."""

    train: Annotated[Path, tyro.conf.arg(metavar="X.data.xml")]
    """Sense-annotated training corpus in the format of Raganato et al. 2017, such as SemCor."""
    test: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="Y.data.xml")]
    """Test sets in the same format; each is scored separately, and all of them together."""
    inventory: Annotated[Path, tyro.conf.arg(metavar="SENSES.tsv")]
    """Senses of the dictionary: a tab-separated table with the columns lemma, pos, rank, sense_key and semcor_count."""
    dev: Annotated[Path | None, tyro.conf.arg(metavar="Z.data.xml")] = None
    """Also let the k nearest training instances vote, with the k that works best on this set."""


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "wsd")
    from elmo_paper.analysis.senses.experiment import sense_table
    from elmo_paper.analysis.senses.files import SenseFiles

    files = SenseFiles(arguments.train, arguments.test, arguments.inventory, arguments.dev)
    return arguments.produce(
        "wsd",
        lambda encoders: sense_table(files, encoders, progress=not arguments.quiet),
        data=files.by_name(),
        settings={},
    )
