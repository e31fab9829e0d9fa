"""flair: ELMoTokenEmbeddings, for its taggers and other models of tokens.

    ELMoTokenEmbeddings("small-en").embed(Sentence("The bank was steep ."))

flair's own class ELMoEmbeddings needs allennlp 0.9, which no longer installs; a model saved with this one is loaded
after `import elmo.integrations.flair`.
"""

from dataclasses import asdict
from typing import Any

import torch

from elmo.errors import MissingExtraError
from elmo.integrations.model_reference import ModelReference, State, side_by_side
from elmo.layer_choice import Layers

try:
    import flair
    from flair.data import Sentence
    from flair.embeddings.base import TokenEmbeddings, register_embeddings
except ImportError as error:
    raise MissingExtraError("flair", "flair", "ELMoTokenEmbeddings") from error


@register_embeddings
class ELMoTokenEmbeddings(TokenEmbeddings):
    """The vectors of a sentence's tokens, as flair has tokenized it.

    `layers`: as for `Embedder.embed`; "all" puts the layers side by side, as flair's own class did. `plain_quotes`: as
    for `Embedder.embed_text`. `model`, `dtype`, `state`, `model_hash`: see `ModelReference`. The biLM is frozen and no
    part of the module: flair's models store its name and hash, no weights. Vectors never change, so flair keeps them
    over the epochs as its `embeddings_storage_mode` says.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        layers: Layers = "average",
        plain_quotes: bool = True,
        dtype: str = "float32",
        state: State = "zero",
        model_hash: str | None = None,
    ) -> None:
        self.reference = ModelReference(model, dtype, state, model_hash)
        self.layers = layers
        self.plain_quotes = plain_quotes
        quotes = "" if plain_quotes else " quotes as written"
        self.name = f"elmo {self.reference.model} {layers} {dtype} {state}{quotes}"
        self.static_embeddings = True
        super().__init__()
        self._length = self.reference.dim(layers)
        self.eval()

    @property
    def embedding_length(self) -> int:
        return self._length

    def _add_embeddings_internal(self, sentences: list[Sentence]) -> None:
        embedder = self.reference.embedder
        tokens = embedder.reader.tokens(
            [[token.text for token in it] for it in sentences], plain_quotes=self.plain_quotes
        )
        arrays = embedder.embed(tokens, self.layers)
        for sentence, array in zip(sentences, arrays, strict=True):
            vectors = torch.from_numpy(side_by_side(array)).to(flair.device)
            for token, vector in zip(sentence, vectors, strict=True):
                token.set_embedding(self.name, vector)

    def to_params(self) -> dict[str, Any]:
        return asdict(self.reference) | {"layers": self.layers, "plain_quotes": self.plain_quotes}

    @classmethod
    def from_params(cls, params: dict[str, Any]) -> "ELMoTokenEmbeddings":
        """The embeddings of a saved model. Raises WeightFileError if the name means other weights now."""
        return cls(**params)
