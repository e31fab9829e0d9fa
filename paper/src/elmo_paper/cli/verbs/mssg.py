"""`elmo-paper mssg`: a text -> vectors of its words' senses, to compare ELMo with."""

import dataclasses
from dataclasses import dataclass
from typing import Annotated

import tyro

from elmo.cli.verbs.static import Training
from elmo_paper.cli.arguments import parsed
from elmo_paper.mssg.settings import MSSGSettings


@dataclass(frozen=True)
class Arguments(Training):
    """Train MSSG (Neelakantan et al. 2014): skip-gram with several vectors for each frequent word, one of which each
    occurrence's context chooses; with --new-sense-below NP-MSSG, where a word has as many senses as its contexts ask
    for. The file has its authors' format; 'elmo-paper wsd --encoder mssg=FILE' compares it with ELMo."""

    recipe: Annotated[MSSGSettings, tyro.conf.arg(name="")] = dataclasses.field(default_factory=MSSGSettings)


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "mssg", flag_pairs=True)
    from elmo_paper.mssg.senses import write_sense_vectors
    from elmo_paper.mssg.train import train_mssg

    return arguments.run(
        lambda corpus: train_mssg(corpus, arguments.recipe, progress=not arguments.quiet),
        lambda path, trained: write_sense_vectors(path, trained.senses),
        lambda trained: (
            {
                "words": len(trained.senses.static),
                "senses": len(trained.senses.vectors),
                "dim": trained.senses.static.dim,
            },
            f"{len(trained.senses.static):,} words with {len(trained.senses.vectors):,} senses of dimension "
            f"{trained.senses.static.dim}",
        ),
    )
