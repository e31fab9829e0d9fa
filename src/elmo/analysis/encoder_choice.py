"""Which encoders an analysis compares: the flags of every `elmo analyze`, and the argument of `encoders_of`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from elmo.process.device import Device


@dataclass(frozen=True)
class EncoderChoice:
    """A biLM, and what it is compared with."""

    model: Annotated[str | None, tyro.conf.arg(aliases=["-m"], metavar="MODEL")] = None
    """A name, a folder or file, or a hub id (default: $ELMO_MODEL, or the bundled model)."""
    static: Annotated[Path | None, tyro.conf.arg(metavar="VECTORS")] = None
    """Static vectors as controls: the word's own, and the mean of the ten words to each side of it."""
    static_errors: Literal["strict", "skip"] = "strict"
    """What to do with a row of the static vectors that can't be used. strict: stop; skip: leave it out, and say how
    many."""
    context2vec: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """A model of context2vec to compare with, made by 'elmo context2vec' or its authors' programs."""
    cove: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """CoVe to compare with: a folder with its published weights (.pth) and the GloVe vectors that they read."""
    forward: bool = False
    """Also analyze the forward half of the biLM's layers alone: a language model that has read nothing to the right."""
    random: bool = False
    """Also analyze the model's architecture with random weights: what an untrained network gives."""
    dtype: Literal["float32", "bfloat16", "int8", "auto"] = "auto"
    """Precision of the biLM's matrix products."""
    device: Device = "auto"
    """Where to compute."""
