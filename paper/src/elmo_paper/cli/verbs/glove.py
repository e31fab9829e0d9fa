"""`elmo-paper glove`: a text -> GloVe's vectors of its words, to compare ELMo with."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from elmo.cli.arguments import Force, NoReport, OutputFile, ReportAsJson
from elmo.cli.output import list_skipped, print_report
from elmo.cli.verbs.static import TrainingText
from elmo_paper.cli.arguments import parsed
from elmo_paper.glove.settings import GloveSettings


@dataclass(frozen=True)
class Arguments:
    """Train GloVe (Pennington et al. 2014): the product of two words' vectors is the logarithm of how often they occur
    near each other. The result is in word2vec's text format, which 'elmo task train --static' and the analyses read."""

    texts: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="TEXT [TEXT ...]")]
    """Training text: one tokenized sentence per line; .gz, .xz, .bz2 and .zst are unpacked."""
    output: OutputFile[Path]
    """File of vectors to write."""
    text: Annotated[TrainingText, tyro.conf.arg(name="")] = dataclasses.field(default_factory=TrainingText)
    force: Force = False
    json: ReportAsJson = False
    quiet: NoReport = False
    recipe: Annotated[GloveSettings, tyro.conf.arg(name="")] = dataclasses.field(default_factory=GloveSettings)


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "glove", flag_pairs=True)
    from elmo.disk.atomic import new_file
    from elmo.static.vectors import write_static_vectors
    from elmo_paper.glove.train import train_glove

    corpus = arguments.text.corpus(arguments.texts, arguments.output)
    # The name is refused before the work, not after it.
    with new_file(arguments.output, size=0, force=arguments.force) as unfinished:
        trained = train_glove(corpus, arguments.recipe, progress=not arguments.quiet)
        write_static_vectors(unfinished, trained.static)
    code = list_skipped(corpus.bad_lines)
    report = {
        "output": str(arguments.output),
        "words": len(trained.static),
        "dim": trained.static.dim,
        "tokens": trained.num_tokens,
        "sentences": trained.num_sentences,
        "seconds": round(trained.seconds, 1),
    }
    text = (
        f"{arguments.output}: {len(trained.static):,} words of dimension {trained.static.dim}, from "
        f"{trained.num_tokens:,} tokens in {trained.seconds:,.0f} seconds"
    )
    print_report(report, text, as_json=arguments.json, quiet=arguments.quiet)
    return code
