"""POST /v1/similarity: the cosine of every token of one text with every token of another."""

import asyncio
from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from elmo.embed.results.similarity import cosines
from elmo.serve.answers import invalid, json_answer
from elmo.serve.encodings import Numbers, encoded
from elmo.serve.inputs import Text, TextRequest, read_texts
from elmo.serve.service import service_of

_MOST_TOKENS = 512


class SimilarityRequest(TextRequest):
    """The two texts."""

    a: Text
    """A text, or the list of its tokens."""
    b: Text
    """The other one; it may be the same."""
    layers: str | int | list[float] = "average"
    """"all", "average", "top", an index (0: the token layer, -1: the top one), or a weight for each layer."""


class Similarity(msgspec.Struct):
    """How alike the tokens are."""

    a: list[str]
    """The tokens of the first text."""
    b: list[str]
    """The tokens of the second text."""
    similarity: Numbers
    """(tokens of a, tokens of b), or (layers, tokens of a, tokens of b): cosines, from -1 to 1."""
    model: str
    object: Literal["similarity"] = "similarity"


async def answer(request: Request) -> Response:
    service = service_of(request)
    deadline = service.deadline()
    body = await service.read(request, SimilarityRequest)
    model = service.model(body.model)
    texts = await read_texts({"a": body.a, "b": body.b}, body.tokenizer, model, service.settings)
    sentences = texts.sentences
    for name, sentence in zip("ab", sentences, strict=True):
        _require_size(name, len(sentence))
    a, b = await service.embed(request, model, sentences, body.layers, deadline)
    numbers = await asyncio.to_thread(lambda: encoded(cosines(a, b), "float"))  # up to a million of them
    return json_answer(Similarity(*sentences, numbers, model.name), headers=texts.headers)  # type: ignore[arg-type]


def _require_size(name: str, tokens: int) -> None:
    if not 0 < tokens <= _MOST_TOKENS:
        raise invalid(
            f"{name} has {tokens:,} tokens, but 1 to {_MOST_TOKENS} are compared. Send a text of that length; for a "
            "longer one take the vectors from /v1/token_embeddings.",
            name,
        )
