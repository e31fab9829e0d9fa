"""POST /v1/embeddings: a vector for each text, in the shape of OpenAI's API. POST /v1/token_embeddings: for each text
its tokens, their positions in it, and their vectors in every layer."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import msgspec
import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from elmo.embed.results.pooling import Pool, normalized, pooled
from elmo.layer_choice import LayerChoice, Layers
from elmo.serve import encodings
from elmo.serve.answers import invalid
from elmo.serve.encodings import Encoding, Numbers, encoded
from elmo.serve.inputs import Input, ReadTexts, TextRequest, listed, read_texts
from elmo.serve.models import ServedModel
from elmo.serve.service import service_of

_MOST_JSON_NUMBERS = 1 << 21
# 8,192 tokens in three layers of the published size. Texts with one vector each may have more: they are pooled batch
# by batch.
_MOST_NUMBERS = 8192 * 3 * 1024
# A larger answer is written in another thread, so that it doesn't hold up the others.
_MANY_NUMBERS = 1 << 16


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
    """"average", "top", an index (0: the token layer, -1: the top one), a weight for each layer, or "all"."""
    pool: Pool | Literal["none"] = "mean"
    """How the vectors of a text's tokens become one; "none": one vector per token."""
    dimensions: None = None
    """Of OpenAI's API, where it cuts vectors: null, since these lose their meaning when cut."""
    user: str | None = None
    """Ignored: names of users in OpenAI's API."""


class TokenEmbeddingsRequest(_Request):
    """What to embed, and how."""

    layers: str | int | list[float] = "all"
    """"all", "average", "top", an index (0: the token layer, -1: the top one), or a weight for each layer."""


class Usage(msgspec.Struct):
    """How much was computed."""

    prompt_tokens: int
    """Tokens of all texts."""
    total_tokens: int
    """The same: nothing is generated."""


class Embedding(msgspec.Struct, omit_defaults=True):
    """The vector of one text."""

    index: int
    """Which of the texts, from 0."""
    embedding: str | Numbers
    """(dim,); with pool "none" (tokens, dim); of all layers these have one more axis in front. A string is base64."""
    shape: list[int] | None = None
    """Shape of `embedding`, if that is more than one vector."""
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


@dataclass(frozen=True)
class _Asked:
    """A request for vectors, with everything in it checked."""

    model: ServedModel
    texts: ReadTexts
    layers: Layers
    pool: Pool | None
    """None: a vector for each token."""
    normalize: bool
    encoding: Encoding
    deadline: float

    @property
    def num_tokens(self) -> int:
        """Tokens of all inputs."""
        return sum(map(len, self.texts.sentences))

    def check(self, *, as_text: bool) -> None:
        """Raises ConfigError for layers that the model doesn't have, Refusal for more vectors than one answer holds."""
        keeps_all = LayerChoice.of(self.layers, self.model.embedder.num_layers).keeps_all
        vectors = self.num_tokens if self.pool is None else len(self.texts.sentences)
        layers = self.model.embedder.num_layers if keeps_all else 1
        numbers = vectors * layers * self.model.embedder.layer_dim
        most = _MOST_JSON_NUMBERS if as_text else _MOST_NUMBERS
        if numbers > most:
            message = (
                f"the answer would have {numbers:,} numbers, but at most {most:,} are written{' as text' * as_text}. "
                "Send fewer texts, ask for fewer layers or one vector per text (pool 'mean'), or take them in binary "
                f"(encoding_format 'base64', or the header 'Accept: {encodings.SAFETENSORS}')."
            )
            raise invalid(message, "input", "answer_too_large")

    def result(self, array: np.ndarray) -> np.ndarray:
        """An input's vectors as the client asked for them."""
        array = pooled(array, self.pool)
        return normalized(array) if self.normalize else array

    def facts(self) -> dict[str, str]:
        """The metadata of a file of vectors; `tokens` is JSON, a list of tokens for each input."""
        return {
            "model": self.model.name,
            "model_hash": self.model.description["model_hash"],
            "layers": LayerChoice.of(self.layers, self.model.embedder.num_layers).name,
            "pool": self.pool or "none",
            "tokens": json.dumps(self.texts.sentences, ensure_ascii=False),
        }


async def answer(request: Request) -> Response:
    deadline = service_of(request).deadline()
    body, model, texts = await _read(request, EmbeddingsRequest)
    pool, encoding = None if body.pool == "none" else body.pool, body.encoding_format or "float"
    if pool is not None:
        _require_tokens(texts.sentences)
    asked = _Asked(model, texts, body.layers, pool, body.normalize, encoding, deadline)

    def item(index: int, array: np.ndarray) -> Embedding:
        shape = list(array.shape) if array.ndim > 1 else None
        return Embedding(index, encoded(array, encoding), shape)  # type: ignore[arg-type] - ready JSON

    return await _answer(request, asked, item, Embeddings)


async def answer_tokens(request: Request) -> Response:
    deadline = service_of(request).deadline()
    body, model, texts = await _read(request, TokenEmbeddingsRequest)
    encoding = body.encoding_format or "float"
    asked = _Asked(model, texts, body.layers, None, body.normalize, encoding, deadline)

    def item(index: int, array: np.ndarray) -> TokenEmbedding:
        tokens, spans = texts.sentences[index], texts.spans[index]
        return TokenEmbedding(index, tokens, spans, list(array.shape), encoded(array, encoding))  # type: ignore[arg-type]

    return await _answer(request, asked, item, TokenEmbeddings)


R = TypeVar("R", bound=_Request)


async def _read(request: Request, expected: type[R]) -> tuple[R, ServedModel, ReadTexts]:
    """The body, the model that it names, and its texts."""
    service = service_of(request)
    body = await service.read(request, expected)
    model = service.model(body.model)
    texts = listed(body.input, "input", service.settings)
    return body, model, await read_texts(texts, body.tokenizer, model, service.settings)


async def _answer(
    request: Request,
    asked: _Asked,
    item: Callable[[int, np.ndarray], Any],
    whole: type[Embeddings | TokenEmbeddings],
) -> Response:
    """`item`: (index of the input, its result) -> its part of `whole`, the JSON answer."""
    media_type = encodings.accepted(",".join(request.headers.getlist("accept")))
    asked.check(as_text=asked.encoding == "float" and media_type == encodings.JSON)
    arrays = await service_of(request).embed(
        request, asked.model, asked.texts.sentences, asked.layers, asked.deadline, then=asked.result
    )

    def body() -> bytes:
        if media_type == encodings.SAFETENSORS:
            return encodings.safetensors_file(arrays, asked.facts())
        items = [item(index, array) for index, array in enumerate(arrays)]
        return msgspec.json.encode(whole(items, asked.model.name, Usage(asked.num_tokens, asked.num_tokens)))

    is_large = sum(array.size for array in arrays) > _MANY_NUMBERS
    content = await asyncio.to_thread(body) if is_large else body()
    return Response(content, media_type=media_type, headers=asked.texts.headers)


def _require_tokens(sentences: list[list[str]]) -> None:
    for place, sentence in enumerate(sentences):
        if not sentence:
            message = f"input[{place}] has no tokens, so there are no vectors to pool. Leave empty texts out."
            raise invalid(message, "input", "empty")
