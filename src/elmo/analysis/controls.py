"""The encoders of a table: a biLM, and what it is compared with."""

from pathlib import Path

from elmo.analysis.encoders import ContextAverage, StaticEncoder, WithAverage, random_embedder
from elmo.embed.embedder import Embedder
from elmo.embed.encoder import Encoder
from elmo.static.vectors import read_static_vectors


def encoders_of(
    model: str | None, *, device: str, dtype: str, static: Path | None = None, random: bool = False
) -> dict[str, Encoder]:
    """By name: the biLM's layers and their mean; with `random` the same architecture with random weights; with a file
    of `static` vectors the word's own and the mean of the words around it."""
    embedder = Embedder.from_pretrained(model, device=device, dtype=dtype)
    found: dict[str, Encoder] = {"biLM": WithAverage(embedder)}
    if random:
        found["random biLM"] = random_embedder(embedder)
    if static is not None:
        vectors = read_static_vectors(static)
        found["static"] = StaticEncoder(vectors)
        found["context average"] = ContextAverage(vectors)
    return found
