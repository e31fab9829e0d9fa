"""What the two routes for vectors share: from a checked request to an answer of the type that the client takes."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import msgspec
import numpy as np
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from elmo.embed.results.pooling import Pool, normalized, pooled
from elmo.layer_choice import LayerChoice, Layers
from elmo.serve.answers import as_refusal
from elmo.serve.encodings import media_types
from elmo.serve.encodings.numbers import Encoding
from elmo.serve.encodings.tables import arrow_of_inputs, arrow_of_tokens
from elmo.serve.encodings.tensors import safetensors_file
from elmo.serve.intake.inputs import ReadTexts
from elmo.serve.intake.presence import until
from elmo.serve.models import ServedModel
from elmo.serve.refusals import invalid
from elmo.serve.service import service_of

_MOST_JSON_NUMBERS = 1 << 21
# Of texts with one vector each, there may be more: those of their tokens are pooled batch by batch.
_MOST_TOKEN_VECTORS = 8192
# From here on an answer is written in another thread, so that it doesn't hold up the others.
_MANY_NUMBERS = 1 << 16


@dataclass(frozen=True)
class VectorRequest:
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
        """Of all inputs."""
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
                f"header 'Accept: {media_types.SAFETENSORS}'.",
                "input",
                "answer_too_large",
            )
        if self.pool is None and self.num_tokens > _MOST_TOKEN_VECTORS:
            raise invalid(
                f"the texts have {self.num_tokens:,} tokens, but at most {_MOST_TOKEN_VECTORS:,} get a vector each in "
                "one answer. Send fewer texts at a time, ask for one vector per text (pool 'mean'), or use 'elmo "
                "embed'.",
                "input",
                "too_many_tokens",
            )

    def result(self, array: np.ndarray) -> np.ndarray:
        """What the client gets of an input's vectors."""
        array = pooled(array, self.pool)
        return normalized(array) if self.normalize else array


Item = Callable[[int, np.ndarray], msgspec.Struct]
"""(index of the input, its result) -> its part of a JSON answer."""
Whole = Callable[[list[msgspec.Struct]], msgspec.Struct]
"""The parts -> the JSON answer."""


async def answer_vectors(request: Request, asked: VectorRequest, item: Item, whole: Whole) -> Response:
    """Computes and writes the answer, as the header Accept says."""
    media_type = media_types.accepted(request.headers.get("accept", ""))
    asked.check(as_text=asked.encoding == "float" and media_type in (media_types.JSON, media_types.LINES))
    service, headers = service_of(request), asked.texts.headers
    if media_type == media_types.LINES:
        futures = service.batcher.embed(
            asked.model.embedder, asked.texts.sentences, asked.layers, asked.deadline, asked.result
        )
        return StreamingResponse(_lines(request, asked, item, futures), media_type=media_type, headers=headers)
    arrays = await service.embed(
        request, asked.model, asked.texts.sentences, asked.layers, asked.deadline, then=asked.result
    )

    def body() -> bytes:
        if media_type == media_types.SAFETENSORS:
            return safetensors_file(arrays, _facts(asked))
        if media_type == media_types.ARROW:
            return _arrow(asked, arrays)
        return msgspec.json.encode(whole([item(index, array) for index, array in enumerate(arrays)]))

    is_large = sum(array.size for array in arrays) > _MANY_NUMBERS
    return Response(await asyncio.to_thread(body) if is_large else body(), media_type=media_type, headers=headers)


async def _lines(
    request: Request, asked: VectorRequest, item: Item, futures: list[asyncio.Future]
) -> AsyncIterator[bytes]:
    """A line for each input, in their order; an error ends them with a line of its own."""
    index = 0
    with until(asked.deadline, futures):
        try:
            for future in futures:
                for array in await future:
                    yield msgspec.json.encode(item(index, array)) + b"\n"
                    index += 1
        except Exception as error:
            yield as_refusal(request, error).body() + b"\n"


def _arrow(asked: VectorRequest, arrays: list[np.ndarray]) -> bytes:
    if asked.pool is not None:
        return arrow_of_inputs(arrays, _facts(asked))
    return arrow_of_tokens(arrays, asked.texts.sentences, asked.texts.spans, _facts(asked))


def _facts(asked: VectorRequest) -> dict[str, str]:
    """What a file says about its vectors; `tokens` is JSON, a list of tokens for each input."""
    return {
        "model": asked.model.name,
        "model_hash": asked.model.description["model_hash"],
        "layers": LayerChoice.of(asked.layers, asked.model.embedder.num_layers).name,
        "pool": asked.pool or "none",
        "tokens": json.dumps(asked.texts.sentences, ensure_ascii=False),
    }
