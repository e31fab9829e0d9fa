"""POST /embed, /embed_all and /tokenize, in the shape of Hugging Face's text-embeddings-inference, for its clients."""

import msgspec
import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from elmo.embed.results.pooling import Pool
from elmo.serve.answers import json_answer
from elmo.serve.encodings import encoded
from elmo.serve.inputs import Input, TextRequest
from elmo.serve.routes.embeddings import require_dimensions, require_one_vector
from elmo.serve.service import service_of
from elmo.serve.vectors import VectorRequest, answer_vectors, read_request


class _Request(TextRequest):
    inputs: Input
    """A text, or a list of texts; a text may be given as the list of its tokens."""
    prompt_name: None = None
    """null: there are no prompts."""


class EmbedAllRequest(_Request):
    """What to embed, and how."""

    layers: str | int | list[float] = "average"
    """"average", "top", an index (0: the token layer, -1: the top one), or a weight for each layer."""
    truncate: bool | None = None
    """Ignored: texts are read to their end."""
    truncation_direction: str | None = None
    """Ignored."""


class EmbedRequest(EmbedAllRequest):
    """What to embed, and how."""

    normalize: bool = True
    """Whether each vector is divided by its L2 norm, after pooling."""
    pool: Pool = "mean"
    """How the vectors of a text's tokens become one."""
    dimensions: int | None = None
    """Refused unless it is the model's number of dimensions: vectors are not cut."""


class TokenizeRequest(_Request):
    """What to split into tokens."""

    add_special_tokens: bool | None = None
    """Ignored: the sentence boundaries that a model reads get no vector, so they are not listed."""


class Token(msgspec.Struct):
    """A token: a whole word, or a mark."""

    text: str
    """As the model reads it."""
    start: int | None
    """Its first character in the text, counted in Unicode code points; null where it is not in the text as it is."""
    stop: int | None
    """The one after its last character."""
    id: int = 0
    """Always 0: the models read characters, so tokens have no ids."""
    special: bool = False


async def embed(request: Request) -> Response:
    deadline = service_of(request).deadline()
    body, model, texts = await read_request(request, EmbedRequest, "inputs")
    require_dimensions(body.dimensions, model)
    require_one_vector(body.layers, texts.sentences, "inputs")
    asked = VectorRequest(model, texts, body.layers, body.pool, body.normalize, "float", deadline, "inputs")
    return await answer_vectors(request, asked, _numbers, _bare)


async def embed_all(request: Request) -> Response:
    deadline = service_of(request).deadline()
    body, model, texts = await read_request(request, EmbedAllRequest, "inputs")
    require_one_vector(body.layers, [], "inputs")
    asked = VectorRequest(model, texts, body.layers, None, False, "float", deadline, "inputs")
    return await answer_vectors(request, asked, _numbers, _bare)


async def tokenize(request: Request) -> Response:
    _, _, texts = await read_request(request, TokenizeRequest, "inputs")
    rows = [
        [
            Token(token, *(span or (None, None)))
            for token, span in zip(tokens, spans or [None] * len(tokens), strict=True)
        ]
        for tokens, spans in zip(texts.sentences, texts.spans, strict=True)
    ]
    return json_answer(rows, headers=texts.headers)


def _numbers(_: int, array: np.ndarray) -> object:
    return encoded(array, "float")


def _bare(items: list[object], *_: object) -> list[object]:
    return items
