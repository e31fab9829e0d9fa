"""POST /v1/token_embeddings: for each text its tokens, where they stand in it, and their vectors in every layer."""

from typing import Literal

import msgspec
import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from elmo.serve.encodings.numbers import Encoding, Numbers, encoded
from elmo.serve.intake.inputs import Input, sentences_of
from elmo.serve.routes.embeddings import Usage
from elmo.serve.service import service_of
from elmo.serve.vectors import VectorRequest, answer_vectors


class TokenEmbeddingsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """What to embed, and how."""

    input: Input
    """A text, or a list of texts; a text may be given as the list of its tokens."""
    model: str | None = None
    """A name of /v1/models; null: the first of them."""
    encoding_format: Encoding | None = "float"
    """Vectors as lists of numbers, or as base64 of little-endian float32; null: as lists."""
    layers: str | int | list[float] = "all"
    """"all", "average", "top", an index (0: the token layer, -1: the top one), or a weight for each layer."""
    normalize: bool = False
    """Whether each vector is divided by its L2 norm."""
    tokenizer: str | None = None
    """How texts become tokens: "auto", "unicode" or "whitespace"; null: as the server is set."""


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


class TokenEmbeddings(msgspec.Struct):
    """The vectors of each text, in the order of the texts."""

    data: list[TokenEmbedding]
    model: str
    usage: Usage
    object: Literal["list"] = "list"


async def answer(request: Request) -> Response:
    """Answers the route."""
    service = service_of(request)
    deadline = service.deadline()
    body = await service.read(request, TokenEmbeddingsRequest)
    model = service.model(body.model)
    texts = await sentences_of(body.input, body.tokenizer, model, service.settings)
    encoding = body.encoding_format or "float"
    asked = VectorRequest(model, texts, body.layers, None, body.normalize, encoding, deadline)

    def item(index: int, array: np.ndarray) -> TokenEmbedding:
        tokens, spans = list(texts.sentences[index]), texts.spans[index]
        return TokenEmbedding(index, tokens, spans, list(array.shape), encoded(array, encoding))  # type: ignore[arg-type]

    def whole(items: list[TokenEmbedding]) -> TokenEmbeddings:
        return TokenEmbeddings(items, model.name, Usage(asked.num_tokens, asked.num_tokens))

    return await answer_vectors(request, asked, item, whole)  # type: ignore[arg-type]
