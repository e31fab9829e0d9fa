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
    random: bool = False
    """Also analyze the model's architecture with random weights: what an untrained network gives."""
    dtype: Literal["float32", "bfloat16", "int8", "auto"] = "auto"
    """Precision of the biLM's matrix products."""
    device: Device = "auto"
    """Where to compute."""
