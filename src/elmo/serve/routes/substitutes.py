"""POST /v1/substitutes: which words each direction of the model would put in one place of a sentence."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from elmo.serve.answers import invalid, json_answer
from elmo.serve.inputs import ReadTexts, Text, TextRequest, read_texts, require_room
from elmo.serve.models import ServedModel
from elmo.serve.service import service_of
from elmo.serve.settings import ServeSettings
from elmo.text.reading.as_trained import composed
from elmo.text.tokenizer import marked

if TYPE_CHECKING:
    from elmo.lm.substitutes import Prediction


class SubstitutesRequest(TextRequest):
    """A sentence, and the place that is meant."""

    input: Text
    """A text with one token in brackets, "The [bank] was steep .", which is always split as by "auto"; or, with
    `place`, a text or a list of tokens."""
    place: int | None = None
    """Which of the tokens, from 0; null: the one in brackets."""
    count: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 10
    """Words of each direction, 1 to 1,000."""


class Word(msgspec.Struct):
    """A word that the model expects."""

    word: str
    """One that ends in `⋯` stands for all unlisted words with that beginning."""
    probability: float


class Direction(msgspec.Struct):
    """What one direction predicts."""

    best: list[Word]
    """The most probable words, the best first."""
    probability: float | None
    """Of the sentence's own word; null if the vocabulary lacks it."""
    rank: int | None
    """The number of words at least as probable as the sentence's own: 1 for the best."""


class Substitutes(msgspec.Struct):
    """The predictions of each direction."""

    tokens: list[str]
    place: int
    predictions: dict[str, Direction]
    """Of "forward", which reads the left side of the place, "backward", which reads the right side, and "both"."""
    model: str
    object: Literal["substitutes"] = "substitutes"


async def answer(request: Request) -> Response:
    service = service_of(request)
    deadline = service.deadline()
    body = await service.read(request, SubstitutesRequest)
    model = service.model(body.model)
    if model.substitutes is None:
        message = f"the model {model.name!r} has no softmax. Use one whose entry in /v1/models has substitutes true."
        raise invalid(message, "model", "no_softmax")
    texts, tokens, place = await _sentence(body, model, service.settings)
    predict = partial(model.substitutes, tokens, place, body.count)
    found = await service.run(request, predict, deadline, tokens=len(tokens))
    predictions = {name: _direction(prediction) for name, prediction in found.items()}
    return json_answer(Substitutes(tokens, place, predictions, model.name), headers=texts.headers)


async def _sentence(
    body: SubstitutesRequest, model: ServedModel, settings: ServeSettings
) -> tuple[ReadTexts, list[str], int]:
    if body.place is not None:
        texts = await read_texts({"input": body.input}, body.tokenizer, model, settings)
        return texts, texts.sentences[0], body.place
    if not isinstance(body.input, str):
        raise invalid("place is missing, so no token of the list is meant. Send its number, from 0.", "place")
    require_room(body.input, settings.max_tokens, "input", settings)
    tokens, place = await asyncio.to_thread(lambda text: marked(composed(text)[0]), body.input)
    texts = await read_texts({"input": tokens}, None, model, settings)
    return texts, texts.sentences[0], place


def _direction(prediction: "Prediction") -> Direction:
    best = [Word(word, probability) for word, probability in prediction.best]
    return Direction(best, prediction.probability, prediction.rank)
