"""`elmo-paper wsd`: word sense disambiguation by the nearest sense vector."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from elmo.process.text_table import text_table
from elmo_paper.analysis.encoders import EncoderChoice
from elmo_paper.analysis.record import Record, row_name
from elmo_paper.cli.arguments import parsed
from elmo_paper.cli.produce import OutputFlags, produce


@dataclass(frozen=True)
class Arguments:
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
    encoders: EncoderChoice = field(default_factory=EncoderChoice)
    results: OutputFlags = field(default_factory=OutputFlags)


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "wsd")
    return produce(arguments.results, lambda: record_of(arguments), table)


def record_of(arguments: Arguments) -> Record:
    """The record of the analysis."""
    from elmo_paper.analysis.encoders import described, encoders_of
    from elmo_paper.analysis.record import begun
    from elmo_paper.analysis.senses.experiment import sense_table
    from elmo_paper.analysis.senses.files import SenseFiles

    files = SenseFiles(arguments.train, arguments.test, arguments.inventory, arguments.dev)
    encoders = encoders_of(arguments.encoders)
    found = sense_table(files, encoders, progress=not arguments.results.quiet)
    beginning = begun(
        "wsd",
        encoders=described(arguments.encoders, encoders),
        data=files.by_name(),
        settings={},
    )
    return beginning | found.record()


def table(record: Record) -> str:
    """The record's table as text."""
    names = list(record["systems"][0]["sets"])
    names = names if len(names) > 2 else names[:1]  # of one set, "all" says nothing more
    rows = [["F1", *names, "over first sense"]]
    for system in record["systems"]:
        difference, low, high = system["minus_first_sense"]
        scores = [f"{system['sets'][name]['f1']:.1f}" for name in names]
        rows.append([row_name(system), *scores, f"{difference:+.1f} ({low:+.1f} to {high:+.1f})"])
    end = "Over first sense: difference over all test sets, with its 95 % interval over documents."
    return "\n".join([*text_table(rows), "", end])
