"""POST /v1/embeddings: a vector for each text, in the shape of OpenAI's API. POST /v1/token_embeddings: for each text
its tokens, their positions in it, and their vectors in every layer."""

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from elmo.embed.results.pooling import Pool
from elmo.serve.answers import invalid
from elmo.serve.encodings import Encoding, Numbers, encoded
from elmo.serve.inputs import Input, TextRequest
from elmo.serve.models import ServedModel
from elmo.serve.service import service_of
from elmo.serve.vectors import Usage, VectorRequest, answer_vectors, read_request


class _Request(TextRequest):
    input: Input
    """A text, or a list of texts; a text may be given as the list of its tokens."""
    encoding_format: Encoding | None = "float"
    """Vectors as lists of numbers, or as base64 of little-endian float32; null: as lists."""
    normalize: bool = False
    """Whether each vector is divided by its L2 norm, after pooling."""


class EmbeddingsRequest(_Request):
    """What to embed, and how."""

    layers: str | int | list[float] = "average"
    """"average", "top", an index (0: the token layer, -1: the top one), or a weight for each layer."""
    pool: Pool | Literal["none"] = "mean"
    """How the vectors of a text's tokens become one; "none": one vector per token."""
    dimensions: int | None = None
    """Refused unless it is the model's number of dimensions: vectors are not cut."""
    user: str | None = None
    """Ignored: names of users in OpenAI's API."""


class TokenEmbeddingsRequest(_Request):
    """What to embed, and how."""

    layers: str | int | list[float] = "all"
    """"all", "average", "top", an index (0: the token layer, -1: the top one), or a weight for each layer."""


class Embedding(msgspec.Struct, omit_defaults=True):
    """The vector of one text."""

    index: int
    """Which of the texts, from 0."""
    embedding: str | Numbers
    """(dim,); with pool "none" (tokens, dim), or (layers, tokens, dim) of all layers. A string is base64."""
    shape: list[int] | None = None
    """Shape of `embedding`; set only with pool "none"."""
    object: str = msgspec.field(default_factory=lambda: "embedding")


class TokenEmbedding(msgspec.Struct):
    """The vectors of one text."""

    index: int
    """Which of the texts, from 0."""
    tokens: list[str]
    spans: list[tuple[int, int] | None] | None
    """[first character, one after the last] of each token, counted in Unicode code points; null for a text that came as
    tokens, and for a token that the tokenizer changed."""
    shape: list[int]
    """(layers, tokens, dim), or (tokens, dim) of one layer."""
    embedding: str | Numbers
    """The vectors in that shape; a string is base64."""


class Embeddings(msgspec.Struct):
    """A vector for each text, in the order of the texts."""

    data: list[Embedding]
    model: str
    usage: Usage
    object: Literal["list"] = "list"


class TokenEmbeddings(msgspec.Struct):
    """The vectors of each text, in the order of the texts."""

    data: list[TokenEmbedding]
    model: str
    usage: Usage
    object: Literal["list"] = "list"


async def answer(request: Request) -> Response:
    deadline = service_of(request).deadline()
    body, model, texts = await read_request(request, EmbeddingsRequest, "input")
    require_dimensions(body.dimensions, model)
    pool, encoding = None if body.pool == "none" else body.pool, body.encoding_format or "float"
    if pool is not None:
        require_one_vector(body.layers, texts.sentences, "input")
    asked = VectorRequest(model, texts, body.layers, pool, body.normalize, encoding, deadline)

    def item(index: int, array: np.ndarray) -> Embedding:
        shape = list(array.shape) if pool is None else None
        return Embedding(index, encoded(array, encoding), shape)  # type: ignore[arg-type] - ready JSON

    return await answer_vectors(request, asked, item, Embeddings)


async def answer_tokens(request: Request) -> Response:
    deadline = service_of(request).deadline()
    body, model, texts = await read_request(request, TokenEmbeddingsRequest, "input")
    encoding = body.encoding_format or "float"
    asked = VectorRequest(model, texts, body.layers, None, body.normalize, encoding, deadline)

    def item(index: int, array: np.ndarray) -> TokenEmbedding:
        tokens, spans = texts.sentences[index], texts.spans[index]
        return TokenEmbedding(index, tokens, spans, list(array.shape), encoded(array, encoding))  # type: ignore[arg-type]

    return await answer_vectors(request, asked, item, TokenEmbeddings)


def require_dimensions(dimensions: int | None, model: ServedModel) -> None:
    """Raises Refusal unless they are the model's, or left out."""
    available = model.embedder.layer_dim
    if dimensions not in (None, available):
        raise invalid(
            f"dimensions is {dimensions}, but this model's vectors have {available} and lose their meaning when "
            "cut. Leave the field out.",
            "dimensions",
        )


def require_one_vector(layers: object, sentences: Sequence[Sequence[str]], field: str) -> None:
    """Raises Refusal where the texts of this field can't get one vector each."""
    if layers == "all":
        raise invalid(
            "layers is 'all', but an embedding is one vector. Use 'average', 'top', an index or a weight for each "
            "layer; or pool 'none', or /v1/token_embeddings, which give all layers.",
            "layers",
        )
    for place, sentence in enumerate(sentences):
        if not sentence:
            raise invalid(
                f"{field}[{place}] has no tokens, so there are no vectors to pool. Leave empty texts out.",
                field,
                "empty",
            )
