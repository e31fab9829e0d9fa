"""POST /v1/embeddings: a vector for each text, in the shape of OpenAI's API."""

import base64
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np
from jaxtyping import Float32
from starlette.requests import Request
from starlette.responses import Response

from elmo.embed.layer_names import Layers
from elmo.serve.answers import json_answer
from elmo.serve.inputs import Input, sentences_of
from elmo.serve.refusals import invalid
from elmo.serve.service import service_of

PATH = "/v1/embeddings"


class EmbeddingsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """What to embed, and how."""

    input: Input
    """A text, or a list of texts; a text may be given as the list of its tokens."""
    model: str | None = None
    """A name of /v1/models; null: the first of them."""
    encoding_format: Literal["float", "base64"] = "float"
    """Vectors as lists of numbers, or as base64 of little-endian float32."""
    layers: str | int | list[float] = "average"
    """"average", "top", an index (0: the token layer, -1: the top one), or a weight for each layer."""
    tokenizer: str | None = None
    """How texts become tokens: "unicode" or "whitespace"; null: as the server is set."""
    dimensions: int | None = None
    """Refused unless it is what the model has: vectors are not cut."""
    user: str | None = None
    """Ignored, as are names of users in OpenAI's API."""


class Embedding(msgspec.Struct):
    """The vector of one text."""

    index: int
    """Which of the texts, from 0."""
    embedding: str | list[float]
    """(dimensions,): the mean of the vectors of the text's tokens; a string is base64."""
    object: Literal["embedding"] = "embedding"


class Usage(msgspec.Struct):
    """How much was computed."""

    prompt_tokens: int
    """Tokens of all texts."""
    total_tokens: int
    """The same: nothing is generated."""


class Embeddings(msgspec.Struct):
    """A vector for each text, in the order of the texts."""

    data: list[Embedding]
    model: str
    usage: Usage
    object: Literal["list"] = "list"


async def answer(request: Request) -> Response:
    """Answers the route."""
    service = service_of(request)
    deadline = service.deadline()
    asked = await service.read(request, EmbeddingsRequest)
    model = service.model(asked.model)
    _require_dimensions(asked.dimensions, model.embedder.layer_dim)
    _, sentences = sentences_of(asked.input, asked.tokenizer, service.settings)
    _require_tokens(sentences)
    arrays = await service.batcher.embed(model.embedder, sentences, one_layer(asked.layers), deadline)
    tokens = sum(map(len, sentences))
    data = [Embedding(index, encoded(mean(array), asked.encoding_format)) for index, array in enumerate(arrays)]
    return json_answer(Embeddings(data, model.name, Usage(tokens, tokens)))


def one_layer(layers: Layers) -> Layers:
    """`layers`, unless it keeps all of them apart."""
    if layers == "all":
        raise invalid(
            "layers is 'all', but an embedding is one vector. Use 'average', 'top', an index or a weight for each "
            "layer; /v1/token_embeddings gives all layers.",
            "layers",
        )
    return layers


def mean(array: Float32[np.ndarray, "tokens dim"]) -> Float32[np.ndarray, " dim"]:
    """The vector of a text: the mean of its tokens'."""
    return array.mean(axis=0)


def encoded(array: Float32[np.ndarray, " dim"], encoding: Literal["float", "base64"]) -> str | list[float]:
    """As numbers, or as base64 of little-endian float32."""
    if encoding == "float":
        return array.tolist()
    return base64.b64encode(np.ascontiguousarray(array, "<f4")).decode("ascii")


def _require_tokens(sentences: Sequence[Sequence[str]]) -> None:
    for place, sentence in enumerate(sentences):
        if not sentence:
            raise invalid(
                f"input[{place}] has no tokens, so there is no mean of their vectors. Leave empty texts out.",
                "input",
                "empty",
            )


def _require_dimensions(asked: int | None, available: int) -> None:
    if asked not in (None, available):
        raise invalid(
            f"dimensions is {asked}, but this model's vectors have {available} and lose their meaning when cut. Leave "
            "the field out.",
            "dimensions",
        )
