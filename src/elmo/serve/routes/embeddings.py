"""POST /v1/embeddings: a vector for each text, in the shape of OpenAI's API."""

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from elmo.embed.results.pooling import Pool
from elmo.serve.encodings.numbers import Encoding, Numbers, encoded
from elmo.serve.intake.inputs import Input, sentences_of
from elmo.serve.refusals import invalid
from elmo.serve.service import service_of
from elmo.serve.vectors import VectorRequest, answer_vectors


class EmbeddingsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """What to embed, and how."""

    input: Input
    """A text, or a list of texts; a text may be given as the list of its tokens."""
    model: str | None = None
    """A name of /v1/models; null: the first of them."""
    encoding_format: Encoding | None = "float"
    """Vectors as lists of numbers, or as base64 of little-endian float32; null: as lists."""
    layers: str | int | list[float] = "average"
    """"average", "top", an index (0: the token layer, -1: the top one), or a weight for each layer."""
    pool: Pool | Literal["none"] = "mean"
    """How the vectors of a text's tokens become one; "none": they are given one by one."""
    normalize: bool = False
    """Whether each vector is divided by its L2 norm, after pooling."""
    tokenizer: str | None = None
    """How texts become tokens: "auto", "unicode" or "whitespace"; null: as the server is set."""
    dimensions: int | None = None
    """Refused unless it is what the model has: vectors are not cut."""
    user: str | None = None
    """Ignored, as are names of users in OpenAI's API."""


class Embedding(msgspec.Struct, omit_defaults=True):
    """The vector of one text."""

    index: int
    """Which of the texts, from 0."""
    embedding: str | Numbers
    """(dim,); with pool "none" (tokens, dim), or (layers, tokens, dim) of all layers. A string is base64."""
    shape: list[int] | None = None
    """Shape of `embedding`; set only with pool "none"."""
    object: str = msgspec.field(default_factory=lambda: "embedding")


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
    body = await service.read(request, EmbeddingsRequest)
    model = service.model(body.model)
    _require_dimensions(body.dimensions, model.embedder.layer_dim)
    texts = await sentences_of(body.input, body.tokenizer, model, service.settings)
    pool = None if body.pool == "none" else body.pool
    if pool is not None:
        _require_one_vector(body.layers, texts.sentences)
    encoding = body.encoding_format or "float"
    asked = VectorRequest(model, texts, body.layers, pool, body.normalize, encoding, deadline)

    def item(index: int, array: np.ndarray) -> Embedding:
        shape = list(array.shape) if pool is None else None
        return Embedding(index, encoded(array, encoding), shape)  # type: ignore[arg-type] - ready JSON

    def whole(items: list[Embedding]) -> Embeddings:
        return Embeddings(items, model.name, Usage(asked.num_tokens, asked.num_tokens))

    return await answer_vectors(request, asked, item, whole)  # type: ignore[arg-type]


def _require_one_vector(layers: object, sentences: Sequence[Sequence[str]]) -> None:
    if layers == "all":
        raise invalid(
            "layers is 'all', but an embedding is one vector. Use 'average', 'top', an index or a weight for each "
            "layer; or pool 'none', or /v1/token_embeddings, which give all layers.",
            "layers",
        )
    for place, sentence in enumerate(sentences):
        if not sentence:
            raise invalid(
                f"input[{place}] has no tokens, so there are no vectors to pool. Leave empty texts out.",
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
