"""What the routes for vectors share: from a checked request to an answer of the type that the client takes."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import msgspec
import numpy as np
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from elmo.embed.results.pooling import Pool, normalized, pooled
from elmo.layer_choice import LayerChoice, Layers
from elmo.serve import encodings
from elmo.serve.answers import as_refusal, invalid
from elmo.serve.inputs import ReadTexts, TextRequest, listed, read_texts
from elmo.serve.models import ServedModel
from elmo.serve.service import service_of, until

R = TypeVar("R", bound=TextRequest)

_MOST_JSON_NUMBERS = 1 << 21
# Texts with one vector each may have more tokens: their vectors are pooled batch by batch.
_MOST_TOKEN_VECTORS = 8192
# A larger answer is written in another thread, so that it doesn't hold up the others.
_MANY_NUMBERS = 1 << 16


class Usage(msgspec.Struct):
    """How much was computed."""

    prompt_tokens: int
    """Tokens of all texts."""
    total_tokens: int
    """The same: nothing is generated."""


@dataclass(frozen=True)
class VectorRequest:
    """A request for vectors, with everything in it checked."""

    model: ServedModel
    texts: ReadTexts
    layers: Layers
    pool: Pool | None
    """None: a vector for each token."""
    normalize: bool
    encoding: encodings.Encoding
    deadline: float
    field: str = "input"
    """That has the texts."""

    @property
    def num_tokens(self) -> int:
        """Tokens of all inputs."""
        return sum(map(len, self.texts.sentences))

    def check(self, *, as_text: bool) -> None:
        """Raises ConfigError for layers that the model doesn't have, Refusal for too many numbers to write as text."""
        keeps_all = LayerChoice.of(self.layers, self.model.embedder.num_layers).keeps_all
        vectors = self.num_tokens if self.pool is None else len(self.texts.sentences)
        layers = self.model.embedder.num_layers if keeps_all else 1
        numbers = vectors * layers * self.model.embedder.layer_dim
        if as_text and numbers > _MOST_JSON_NUMBERS:
            raise invalid(
                f"the answer would have {numbers:,} numbers, but at most {_MOST_JSON_NUMBERS:,} are written as text. "
                "Send fewer texts, ask for fewer layers, or take them in binary: encoding_format 'base64', or the "
                f"header 'Accept: {encodings.SAFETENSORS}'.",
                self.field,
                "answer_too_large",
            )
        if self.pool is None and self.num_tokens > _MOST_TOKEN_VECTORS:
            raise invalid(
                f"the texts have {self.num_tokens:,} tokens, but at most {_MOST_TOKEN_VECTORS:,} get a vector each in "
                "one answer. Send fewer texts at a time, ask for one vector per text (pool 'mean'), or use 'elmo "
                "embed'.",
                self.field,
                "too_many_tokens",
            )

    def result(self, array: np.ndarray) -> np.ndarray:
        """An input's vectors as the client asked for them."""
        array = pooled(array, self.pool)
        return normalized(array) if self.normalize else array


async def read_request(request: Request, expected: type[R], field: str) -> tuple[R, ServedModel, ReadTexts]:
    """The body, the model that it names, and the texts in its `field`."""
    service = service_of(request)
    body = await service.read(request, expected)
    model = service.model(body.model)
    texts = listed(getattr(body, field), field, service.settings)
    return body, model, await read_texts(texts, body.tokenizer, model, service.settings)


Item = Callable[[int, np.ndarray], object]
"""(index of the input, its result) -> its part of a JSON answer."""
Whole = Callable[..., object]
"""(its parts, the model's name, Usage) -> the JSON answer."""


async def answer_vectors(request: Request, asked: VectorRequest, item: Item, whole: Whole) -> Response:
    media_type = encodings.accepted(",".join(request.headers.getlist("accept")))
    asked.check(as_text=asked.encoding == "float" and media_type in (encodings.JSON, encodings.LINES))
    service, headers, tokens = service_of(request), asked.texts.headers, asked.num_tokens
    if media_type == encodings.LINES:
        futures = service.batcher.embed(
            asked.model.embedder, asked.texts.sentences, asked.layers, asked.deadline, asked.result
        )
        headers = headers | {"X-Accel-Buffering": "no"}  # nginx passes each line on as it comes
        return StreamingResponse(_lines(request, asked, item, futures), media_type=media_type, headers=headers)
    arrays = await service.embed(
        request, asked.model, asked.texts.sentences, asked.layers, asked.deadline, then=asked.result
    )

    def body() -> bytes:
        if media_type == encodings.SAFETENSORS:
            return encodings.safetensors_file(arrays, _facts(asked))
        if media_type == encodings.ARROW and asked.pool is not None:
            return encodings.arrow_of_inputs(arrays, _facts(asked))
        if media_type == encodings.ARROW:
            return encodings.arrow_of_tokens(arrays, asked.texts.sentences, asked.texts.spans, _facts(asked))
        items, usage = [item(index, array) for index, array in enumerate(arrays)], Usage(tokens, tokens)
        return msgspec.json.encode(whole(items, asked.model.name, usage))

    is_large = sum(array.size for array in arrays) > _MANY_NUMBERS
    return Response(await asyncio.to_thread(body) if is_large else body(), media_type=media_type, headers=headers)


async def _lines(
    request: Request, asked: VectorRequest, item: Item, futures: list[asyncio.Future]
) -> AsyncIterator[bytes]:
    """A line for each input, in their order; an error ends them with a line of its own."""
    index = 0
    try:
        with until(asked.deadline, futures):
            for future in futures:
                for array in await future:
                    line = partial(_line, item, index, array)
                    yield await asyncio.to_thread(line) if array.size > _MANY_NUMBERS else line()
                    index += 1
    except Exception as error:
        yield as_refusal(request, error).body() + b"\n"


def _line(item: Item, index: int, array: np.ndarray) -> bytes:
    return msgspec.json.encode(item(index, array)) + b"\n"


def _facts(asked: VectorRequest) -> dict[str, str]:
    """The metadata of a file of vectors; `tokens` is JSON, a list of tokens for each input."""
    return {
        "model": asked.model.name,
        "model_hash": asked.model.description["model_hash"],
        "layers": LayerChoice.of(asked.layers, asked.model.embedder.num_layers).name,
        "pool": asked.pool or "none",
        "tokens": json.dumps(asked.texts.sentences, ensure_ascii=False),
    }
