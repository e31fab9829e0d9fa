"""Waiting for results as long as somebody waits for them: until the deadline, and while the client is connected."""

import asyncio
import time
from collections.abc import Sequence
from typing import TypeVar

from starlette.requests import Request

from elmo.serve.refusals import Refusal

T = TypeVar("T")


async def results(request: Request, futures: "Sequence[asyncio.Future[T]]", deadline: float) -> list[T]:
    """What the futures give, in their order. They are cancelled as soon as the client closes its connection.

    The request's body must have been read. Raises Refusal (as `in_time`), and what a future raises.
    """
    watching = asyncio.create_task(_cancel_when_gone(request, futures))
    try:
        return [await in_time(future, deadline) for future in futures]
    finally:
        watching.cancel()
        cancel(futures)


async def in_time(future: "asyncio.Future[T]", deadline: float) -> T:
    """A future's result. Raises Refusal if the deadline passes, or if the client went and the future was cancelled."""
    try:
        async with asyncio.timeout(deadline - time.monotonic()):
            return await future
    except TimeoutError:
        raise too_late() from None
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # it is the waiting that was cancelled
            raise
        raise Refusal(400, "the client closed the connection, so nothing was computed.", "client_gone") from None


def cancel(futures: Sequence[asyncio.Future]) -> None:
    """Those that are not done: the batcher drops what they stand for."""
    for future in futures:
        future.cancel()


def too_late() -> Refusal:
    """The answer to a request whose deadline has passed."""
    return Refusal(
        503,
        "the deadline of this request passed before it was computed: the server has more to do than it can. Send it "
        "again later, or send less at a time.",
        "deadline",
        headers={"Retry-After": "1"},
    )


async def _cancel_when_gone(request: Request, futures: Sequence[asyncio.Future]) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    cancel(futures)
