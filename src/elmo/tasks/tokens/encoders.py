"""Encoders by name: a biLM (`Embedder`), and whatever else gives vectors of a sentence's tokens.

What an encoder is, `elmo.embed.encoder` says.

A package adds an encoder by an entry point of the group `elmo.encoders`, whose object is an `EncoderFactory`; on the
command line `--encoder package.module:function` names one without an entry point.
"""

from typing import Protocol, runtime_checkable

from elmo.embed.embedder import Embedder
from elmo.embed.encoder import Encoder
from elmo.errors import ConfigError
from elmo.process.named_object import find_object

ELMO, NONE = "elmo", "none"
GROUP = "elmo.encoders"


@runtime_checkable
class EncoderFactory(Protocol):
    """The function that makes an encoder."""

    def __call__(self, model: str, *, device: str) -> Encoder:
        """The encoder; `model` and `device` are the settings of these names."""
        ...


def find_encoder(name: str, model: str, *, device: str, dtype: str = "float32") -> Encoder:
    """The encoder of that name: "elmo", an installed one, or package.module:function.

    `model`: which weights; for "elmo" a name, folder, file or hub id, "" for the default; others get it as it is.
    `dtype`: for "elmo", see `Embedder`. Raises ConfigError if there is no such encoder, WeightFileError for its model.
    """
    if name == ELMO:
        return Embedder.from_pretrained(model or None, device=device, dtype=dtype, keep_boundaries=True)
    factory = find_object(name, "encoder", {}, GROUP, others=(NONE, ELMO))
    if not isinstance(factory, EncoderFactory):
        raise ConfigError(
            f"the encoder {name!r} is a {type(factory).__name__}, not a function that makes an encoder. Name a "
            "function like elmo.tasks.tokens.encoders.EncoderFactory."
        )
    found = factory(model, device=device)
    if not isinstance(found, Encoder):
        raise ConfigError(
            f"the encoder {name!r} gave a {type(found).__name__}, which lacks members of an encoder: num_layers, "
            "layer_dim, model_hash, keep_boundaries and embed_iter (elmo.embed.encoder.Encoder)."
        )
    return found
