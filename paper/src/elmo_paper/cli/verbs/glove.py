"""`elmo-paper glove`: a text -> GloVe's vectors of its words, to compare ELMo with."""

import dataclasses
from dataclasses import dataclass
from typing import Annotated

import tyro

from elmo.cli.verbs.static import Training
from elmo_paper.cli.arguments import parsed
from elmo_paper.glove.settings import GloveSettings


@dataclass(frozen=True)
class Arguments(Training):
    """Train GloVe (Pennington et al. 2014): the product of two words' vectors is the logarithm of how often they occur
    near each other. The result is in word2vec's text format, which 'elmo task train --static' and the analyses read."""

    recipe: Annotated[GloveSettings, tyro.conf.arg(name="")] = dataclasses.field(default_factory=GloveSettings)


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "glove", flag_pairs=True)
    from elmo.static.vectors import write_static_vectors
    from elmo_paper.glove.train import train_glove

    return arguments.run(
        lambda corpus: train_glove(corpus, arguments.recipe, progress=not arguments.quiet),
        lambda path, trained: write_static_vectors(path, trained.static),
        lambda trained: (
            {"words": len(trained.static), "dim": trained.static.dim},
            f"{len(trained.static):,} words of dimension {trained.static.dim}",
        ),
    )
