"""Waiting for results as long as somebody waits for them: until the deadline, and while the client is connected."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from starlette.requests import Request

from elmo.serve.refusals import Refusal

T = TypeVar("T")


async def results(request: Request, futures: "Sequence[asyncio.Future[T]]", deadline: float) -> list[T]:
    """What the futures give, in their order. The request's body must have been read.

    Raises what a future raises, and Refusal if the deadline passes or the client closes its connection first.
    """
    with until(deadline, futures):
        watching = asyncio.create_task(_give_up_when_gone(request, futures))
        try:
            return [await future for future in futures]
        finally:
            watching.cancel()


@contextmanager
def until(deadline: float, futures: Sequence[asyncio.Future]) -> Iterator[None]:
    """Inside the block the futures raise a Refusal when the deadline passes; at its end those left over are cancelled.

    `deadline`: on the clock of time.monotonic(), which is the event loop's.
    """
    timer = asyncio.get_running_loop().call_at(deadline, give_up, futures, too_late)
    try:
        yield
    finally:
        timer.cancel()
        for future in futures:
            future.cancel()


def give_up(futures: Sequence[asyncio.Future], why: Callable[[], Refusal]) -> None:
    """The futures that are not done raise this Refusal; the batcher drops what they stand for."""
    for future in futures:
        if not future.done():
            future.set_exception(why())
            future.exception()  # so that asyncio doesn't complain about those that nobody waits for any more


def too_late() -> Refusal:
    """The answer to a request whose deadline has passed."""
    return Refusal(
        503,
        "the deadline of this request passed before it was computed: the server has more to do than it can. Send it "
        "again later, or send less at a time.",
        "deadline",
        headers={"Retry-After": "1"},
    )


def client_gone() -> Refusal:
    """What ends the work for a client that has closed its connection; nobody reads it."""
    return Refusal(400, "the client closed the connection, so nothing was computed.", "client_gone")


async def _give_up_when_gone(request: Request, futures: Sequence[asyncio.Future]) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    give_up(futures, client_gone)
