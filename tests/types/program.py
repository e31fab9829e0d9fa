"""A program that uses elmo, as a type checker sees it. `make types` reads it; nothing runs it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, assert_type

import numpy as np
from torch import Tensor, nn

import elmo
from elmo import BiLM, ELMo, EmbeddedText, Embedder, ScalarMix, StoredVectors

Array = np.ndarray[Any, np.dtype[Any]]


def vectors(sentences: Sequence[Sequence[str]]) -> None:
    embedder = Embedder.from_pretrained("small-en", dtype="int8")
    for array in embedder.embed(sentences):
        _array: Array = array
    assert_type(embedder.embed_text("He went to the bank ."), EmbeddedText)
    Embedder.from_pretrained("small-en", state="warmed")  # pyright: ignore[reportArgumentType]


def files(folder: Path) -> None:
    stored = elmo.read_vectors(folder / "vectors.npy")
    assert_type(stored, StoredVectors)
    elmo.embed_corpus([folder / "text.txt"], folder / "vectors.npy", batch_tokens="all")  # pyright: ignore[reportCallIssue]


class Tagger(nn.Module):
    """A network on ELMo."""

    def __init__(self) -> None:
        super().__init__()
        self.elmo = ELMo.from_pretrained("small-en", num_mixes=2)
        self.top = nn.Linear(self.elmo.output_dim, 5)

    def forward(self, sentences: list[list[str]]) -> Tensor:
        below, above = self.elmo(sentences).mixes
        assert_type(below, Tensor)
        return self.top(below + above)


def layers(bilm: BiLM, mix: ScalarMix) -> Tensor:
    output = bilm(bilm.token_map.characters.ids(["a"])) if bilm.token_map.characters else bilm(None)
    assert_type(output.layers, Tensor)
    return assert_type(mix(output.layers, output.mask), Tensor)


def misspelled() -> object:
    return elmo.Embeder  # pyright: ignore[reportAttributeAccessIssue]


def language_model(sentences: list[list[str]]) -> Iterator[float]:
    yield elmo.perplexity(sentences, model="small-en").of("forward")
