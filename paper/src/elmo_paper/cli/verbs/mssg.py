"""`elmo-paper mssg`: a text -> vectors of its words' senses, to compare ELMo with."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from elmo.cli.arguments import Force, NoReport, OutputFile, ReportAsJson
from elmo.cli.output import list_skipped, print_report
from elmo.cli.verbs.static import TrainingText
from elmo_paper.cli.arguments import parsed
from elmo_paper.mssg.settings import MSSGSettings


@dataclass(frozen=True)
class Arguments:
    """Train MSSG (Neelakantan et al. 2014): skip-gram with several vectors for each frequent word, one of which each
    occurrence's context chooses; with --new-sense-below NP-MSSG, where a word has as many senses as its contexts ask
    for. The file has its authors' format; 'elmo-paper wsd --encoder mssg=FILE' compares it with ELMo."""

    texts: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="TEXT [TEXT ...]")]
    """Training text: one tokenized sentence per line; .gz, .xz, .bz2 and .zst are unpacked."""
    output: OutputFile[Path]
    """File of sense vectors to write."""
    text: Annotated[TrainingText, tyro.conf.arg(name="")] = dataclasses.field(default_factory=TrainingText)
    force: Force = False
    json: ReportAsJson = False
    quiet: NoReport = False
    recipe: Annotated[MSSGSettings, tyro.conf.arg(name="")] = dataclasses.field(default_factory=MSSGSettings)


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "mssg", flag_pairs=True)
    from elmo.disk.atomic import new_file
    from elmo_paper.mssg.senses import write_sense_vectors
    from elmo_paper.mssg.train import train_mssg

    corpus = arguments.text.corpus(arguments.texts, arguments.output)
    # The name is refused before the work, not after it.
    with new_file(arguments.output, size=0, force=arguments.force) as unfinished:
        trained = train_mssg(corpus, arguments.recipe, progress=not arguments.quiet)
        write_sense_vectors(unfinished, trained.senses)
    code = list_skipped(corpus.bad_lines)
    senses, static = trained.senses, trained.senses.static
    report = {
        "output": str(arguments.output),
        "words": len(static),
        "senses": len(senses.vectors),
        "dim": static.dim,
        "tokens": trained.num_tokens,
        "sentences": trained.num_sentences,
        "seconds": round(trained.seconds, 1),
    }
    text = (
        f"{arguments.output}: {len(static):,} words with {len(senses.vectors):,} senses of dimension {static.dim}, "
        f"from {trained.num_tokens:,} tokens in {trained.seconds:,.0f} seconds"
    )
    print_report(report, text, as_json=arguments.json, quiet=arguments.quiet)
    return code
