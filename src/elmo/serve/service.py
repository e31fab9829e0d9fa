"""Service: the state that the routes of one app share: models by name, the batcher, the settings, readiness."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

import numpy as np
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from elmo.errors import ConfigError
from elmo.layer_choice import Layers
from elmo.serve.answers import Refusal
from elmo.serve.batcher import Batcher, settle, stopping, too_late
from elmo.serve.inputs import read_json
from elmo.serve.metrics import Metrics
from elmo.serve.models import ServedModel
from elmo.serve.settings import ServeSettings

R = TypeVar("R")


class Service:
    """A route finds it as `request.app.state.service`, or by `service_of(request)`."""

    def __init__(self, models: Sequence[ServedModel], settings: ServeSettings, routes: Sequence[Route] = ()) -> None:
        names = [model.name for model in models]
        if len(set(names)) < len(names):
            raise ConfigError(
                f"two models have one name ({', '.join(names)}). Rename a folder, or pass ServedModel(name, ...)."
            )
        self.models = {model.name: model for model in models}
        self.settings = settings
        self.batcher = Batcher(settings.max_batch_tokens, settings.max_queued_tokens)
        self.metrics = Metrics(self.batcher, routes)
        self.started = time.time()
        """In seconds since 1970."""
        self.is_warm = False
        """Whether every model has computed something."""
        self.failure: str | None = None
        """Why a model could not be warmed up."""
        self.is_stopping = False

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Around the life of the app: the compute thread runs, and models are warmed up while it already listens."""
        self.batcher.start()
        warming = asyncio.create_task(self._warm_up())
        try:
            yield
        finally:
            self.is_stopping = True
            warming.cancel()
            await asyncio.to_thread(self.batcher.close)

    async def _warm_up(self) -> None:
        try:
            for model in self.models.values():
                await self.batcher.run(partial(_compute_something, model), 1, deadline=float("inf"))
            self.is_warm = True
        except Exception as error:
            self.failure = f"{type(error).__name__}: {error}"

    def model(self, name: str | None) -> ServedModel:
        """The model that a request names; the first one if it names none."""
        if name is None:
            return next(iter(self.models.values()))
        if name not in self.models:
            message = f"there is no model {name[:100]!r} here. Use one of {', '.join(self.models)}, or leave it out."
            raise Refusal(404, message, "model_not_found", param="model")
        return self.models[name]

    def deadline(self) -> float:
        """The deadline of a request that arrives now, on the clock of time.monotonic()."""
        return time.monotonic() + self.settings.deadline_seconds

    async def read(self, request: Request, expected: type[R]) -> R:
        return await read_json(request, expected, self.settings)

    async def embed(
        self,
        request: Request,
        model: ServedModel,
        sentences: Sequence[Sequence[str]],
        layers: Layers,
        deadline: float,
        *,
        then: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> list[np.ndarray]:
        """`model.embedder.embed(sentences, layers)`, in batches shared with other requests, bit for bit the same.

        `then`: applied to each array as soon as it is computed, such as pooling, which saves memory.
        Raises Refusal: 429 if too much waits, 503 if the deadline passes, and what the embedder raises. If the client
        closes its connection, what has not been computed by then never is.
        """
        futures = self.batcher.embed(model.embedder, sentences, layers, deadline, then)
        return [array for arrays in await results(request, futures, deadline) for array in arrays]

    async def run(self, request: Request, function: Callable[[], R], deadline: float, *, tokens: int = 1) -> R:
        """`function()` in the compute thread, after what waits there already: for everything else that computes.

        `tokens`: how much work it is, in tokens to embed. Raises what the function raises, and Refusal as `embed`.
        """
        (result,) = await results(request, [self.batcher.run(function, tokens, deadline)], deadline)
        return result


def service_of(request: Request) -> Service:
    """The service of the app that a request came to."""
    return request.app.state.service


def _compute_something(model: ServedModel) -> None:
    model.embedder.embed([["warm", "up", "."]])
    _ = model.description  # hashes the weights


async def results(request: Request, futures: "Sequence[asyncio.Future[R]]", deadline: float) -> list[R]:
    """The results of the futures, in their order. The request's body must have been read.

    Raises what a future raises, and Refusal if the deadline passes, the server ends or the client closes its connection
    first. `deadline`: on the clock of time.monotonic(), which is the event loop's.
    """
    timer = asyncio.get_running_loop().call_at(deadline, _give_up, futures, too_late())
    watching = asyncio.create_task(_give_up_when_gone(request, futures))
    try:
        return [await future for future in futures]
    except asyncio.CancelledError:  # the time for a graceful end is over
        raise stopping() from None
    finally:
        timer.cancel()
        watching.cancel()
        for future in futures:
            future.cancel()


def _give_up(futures: Sequence[asyncio.Future], why: Refusal) -> None:
    """The futures that are not done raise `why`; the batcher drops their parts."""
    for future in futures:
        settle(future, why)


async def _give_up_when_gone(request: Request, futures: Sequence[asyncio.Future]) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    # Nobody reads this.
    _give_up(futures, Refusal(400, "the client closed the connection, so nothing was computed.", "client_gone"))
