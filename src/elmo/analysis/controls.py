"""The encoders of a table: a biLM, and what it is compared with."""

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from elmo.analysis.encoder_choice import EncoderChoice
from elmo.analysis.encoders import ContextAverage, ForwardHalf, StaticEncoder, WithAverage, random_embedder
from elmo.embed.embedder import Embedder
from elmo.embed.encoder import Encoder
from elmo.errors import TextWarning
from elmo.process.device import require_torch
from elmo.static.vectors import read_static_vectors
from elmo.text.first_look.sample import LINES_LOOKED_AT, look_at
from elmo.text.reading.settings import Reading
from elmo.weights.hub import DEFAULT_MODEL, MODEL_VARIABLE

BILM, FORWARD, RANDOM, AGAINST = "biLM", "forward LM", "random biLM", "other biLM"
STATIC, CONTEXT, CONTEXT2VEC, COVE = "static", "context average", "context2vec", "CoVe"


def encoders_of(choice: EncoderChoice, *, against: str | None = None) -> dict[str, Encoder]:
    """By name: the biLM's layers and their mean; another model's `against` it; with `forward` the forward half of its
    layers; with `random` the same architecture with random weights; with a file of `static` vectors the word's own and
    the mean of the words around it; a model of `context2vec`; one of `cove`."""
    embedder = Embedder.from_pretrained(choice.model, device=choice.device, dtype=choice.dtype)
    found: dict[str, Encoder] = {BILM: _Looking(embedder)}
    if against is not None:
        found[AGAINST] = Embedder.from_pretrained(against, device=choice.device, dtype=choice.dtype)
    if choice.forward:
        found[FORWARD] = ForwardHalf(embedder)
    if choice.random:
        found[RANDOM] = random_embedder(embedder)
    if choice.static is not None:
        vectors = read_static_vectors(choice.static, errors=choice.static_errors)
        found[STATIC] = StaticEncoder(vectors, source=str(choice.static))
        found[CONTEXT] = ContextAverage(vectors, source=str(choice.static))
    if choice.context2vec is not None:
        require_torch("context2vec")
        from elmo.context2vec.encoder import Context2VecEncoder  # here: the other encoders need no torch

        found[CONTEXT2VEC] = Context2VecEncoder.load(choice.context2vec, device=choice.device)
    if choice.cove is not None:
        require_torch("CoVe")
        from elmo.cove.encoder import CoVeEncoder  # here: see above

        found[COVE] = CoVeEncoder.load(choice.cove, device=choice.device)
    return found


class _Looking(WithAverage):
    """The biLM's layers and their mean; warns of a text that the biLM won't understand, by its first sentences."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self._vocabulary = embedder.vocabulary
        self._has_looked = False

    def embed_iter(self, sentences: Iterable[Sequence[str]]) -> Iterator[Float[np.ndarray, "layers tokens dim"]]:
        if not self._has_looked:
            self._has_looked = True
            rest = iter(sentences)
            first = [list(sentence) for sentence in islice(rest, LINES_LOOKED_AT)]
            look = look_at(first, Reading(plain_quotes=False))
            for warning in look.warnings(self._vocabulary, composes=False):
                warnings.warn(warning, TextWarning, stacklevel=2)
            sentences = chain(first, rest)
        return super().embed_iter(sentences)


def described(choice: EncoderChoice, encoders: Mapping[str, Encoder]) -> dict[str, Any]:
    """The encoders as a record names them: the model, the file of static vectors, and each encoder's hash and sizes."""
    name = Path(choice.model or os.environ.get(MODEL_VARIABLE) or DEFAULT_MODEL).name
    bilm = encoders[BILM]
    embedder = bilm.encoder if isinstance(bilm, WithAverage) else bilm
    return {
        "model": name,
        "model_hash": bilm.model_hash,
        "dtype": getattr(embedder, "dtype", None),
        "static": choice.static and choice.static.name,
        "context2vec": choice.context2vec and choice.context2vec.name,
        "cove": choice.cove and choice.cove.name,
        "encoders": {
            name: {"hash": one.model_hash, "num_layers": one.num_layers, "dim": one.layer_dim}
            for name, one in encoders.items()
        },
    }
