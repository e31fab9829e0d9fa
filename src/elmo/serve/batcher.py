"""Batcher: the sentences of many requests, computed together.

One thread computes. Whenever it is free it takes what waits, from the front, up to a batch: a lone request is computed
at once, and the more requests come, the larger the batches get.

    request -> admission (tokens that wait are bounded) -> parts of at most a batch -> queue
    compute thread: drop what is cancelled or late -> the front part and those like it -> embed -> futures
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from elmo.embed.embedder import Embedder
from elmo.embed.windows import windows
from elmo.layer_choice import LayerChoice, Layers
from elmo.serve.answers import Refusal

T = TypeVar("T")
Sentence = Sequence[str]
_RETRY = {"Retry-After": "1"}
_CLOSING_SECONDS = 1.0


@dataclass(eq=False)
class _Part:
    """A unit of work: some sentences of one request, or one function."""

    kind: Hashable
    """Parts of one kind may share a batch; None: none may."""
    tokens: int
    deadline: float
    """On the clock of time.monotonic()."""
    compute: Callable[[list["_Part"]], list[object]]
    """The results of parts of its kind."""
    sentences: Sequence[Sentence] = ()
    then: Callable[[np.ndarray], np.ndarray] | None = None
    future: asyncio.Future = field(default_factory=lambda: asyncio.get_running_loop().create_future())


def settle(future: asyncio.Future, result: object) -> None:
    """In the event loop: hands the result, or the error, to whoever waits for it."""
    if future.done():
        return
    if isinstance(result, BaseException):
        future.set_exception(result)
        future.exception()  # so that asyncio doesn't complain if nobody waits for it any more
    else:
        future.set_result(result)


@dataclass
class Counts:
    """The work of a batcher so far."""

    batches: int = 0
    tokens: int = 0
    dropped: int = 0
    """Parts whose client had gone or whose deadline had passed before they were computed."""


class Batcher:
    """Computes for any number of requests of one event loop, in one thread of its own."""

    def __init__(self, max_batch_tokens: int, max_queued_tokens: int) -> None:
        self.max_batch_tokens = max_batch_tokens
        self.max_queued_tokens = max_queued_tokens
        self.counts = Counts()
        self.queued_tokens = 0
        """Tokens that wait or are being computed."""
        self._queue: deque[_Part] = deque()
        self._changed = threading.Condition()
        self._is_closing = False
        self._thread = threading.Thread(target=self._work, name="elmo-compute", daemon=True)

    def start(self) -> None:
        """Starts the compute thread."""
        self._thread.start()

    def close(self) -> None:
        """Computes what waits, then ends the thread. Later calls of `embed` and `run` fail.

        It waits for that for a second: a long text can take minutes, and nobody waits for it when a server ends.
        """
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        self._thread.join(_CLOSING_SECONDS)

    def embed(
        self,
        embedder: Embedder,
        sentences: Sequence[Sentence],
        layers: Layers,
        deadline: float,
        then: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> "list[asyncio.Future[list[np.ndarray]]]":
        """`embedder.embed(sentences, layers)`, in batches shared with other requests; the same arrays bit for bit.

        One future for each group of neighboring sentences that is computed as a whole. A future cancelled before its
        turn is not computed. `then`: applied to each array at once. `deadline`: on the clock of
        time.monotonic(). A future raises Refusal (503) if the deadline passes before its turn, and what the embedder
        raises. Raises Refusal: 429 if too much waits already, 503 if the server is stopping.
        """
        kind = (id(embedder), LayerChoice.of(layers, embedder.num_layers))

        def compute(parts: list[_Part]) -> list[object]:
            together = [sentence for part in parts for sentence in part.sentences]
            with np.errstate(over="ignore", invalid="ignore"):  # by weights of layers; _result finds it
                arrays = iter(embedder.embed(together, layers))
            return [_result([next(arrays) for _ in part.sentences], layers, part.then) for part in parts]

        groups = windows(sentences, None, self.max_batch_tokens, _weight)
        return self._admit([_Part(kind, sum(map(_weight, it)), deadline, compute, it, then) for it in groups])

    def run(self, function: Callable[[], T], tokens: int, deadline: float) -> "asyncio.Future[T]":
        """`function()`, in the compute thread, by itself; `tokens` says how much work it is, in tokens to embed."""
        (future,) = self._admit([_Part(None, max(1, tokens), deadline, lambda _: [function()])])
        return future

    def _admit(self, parts: list[_Part]) -> list[asyncio.Future]:
        tokens = sum(part.tokens for part in parts)
        with self._changed:
            if self._is_closing:
                raise stopping()
            if self._has_no_room(tokens):
                self._drop_abandoned()  # nobody should wait for what nobody waits for
            if self._has_no_room(tokens):
                message = (
                    f"{self.queued_tokens:,} tokens wait to be computed and this request has {tokens:,}, but at most "
                    f"{self.max_queued_tokens:,} may wait. Send it again in a second, or send less at a time."
                )
                raise Refusal(429, message, "queue_full", headers=_RETRY)
            self.queued_tokens += tokens
            self._queue.extend(parts)
            self._changed.notify()
        return [part.future for part in parts]

    def _has_no_room(self, tokens: int) -> bool:
        return self.queued_tokens > 0 and self.queued_tokens + tokens > self.max_queued_tokens

    def _work(self) -> None:
        while batch := self._taken():
            results = _computed(batch)
            with self._changed:
                self.queued_tokens -= sum(part.tokens for part in batch)
                self.counts.batches += 1
                self.counts.tokens += sum(part.tokens for part in batch)
            _settle(batch, results)

    def _taken(self) -> list[_Part]:
        """The front part and those behind it that fit into its batch, as soon as there is one; none at the end."""
        with self._changed:
            while True:
                self._drop_abandoned()
                if self._queue:
                    return self._batch()
                if self._is_closing:
                    return []
                self._changed.wait()

    def _batch(self) -> list[_Part]:
        first = self._queue.popleft()
        batch, tokens, others = [first], first.tokens, []
        while self._queue and tokens < self.max_batch_tokens:
            part = self._queue.popleft()
            if part.kind is not None and part.kind == first.kind and tokens + part.tokens <= self.max_batch_tokens:
                batch.append(part)
                tokens += part.tokens
            else:
                others.append(part)
        self._queue.extendleft(reversed(others))
        return batch

    def _drop_abandoned(self) -> None:
        now = time.monotonic()
        waiting, late = deque[_Part](), []
        for part in self._queue:
            (late if part.deadline < now or part.future.done() else waiting).append(part)
        if not late:
            return
        self._queue = waiting
        self.queued_tokens -= sum(part.tokens for part in late)
        self.counts.dropped += len(late)
        _settle(late, [too_late()] * len(late))


def _computed(batch: list[_Part]) -> list[object]:
    """The result of each part, or its error. A batch that fails is computed again part by part, so that one request
    can't make others fail."""
    try:
        return batch[0].compute(batch)
    except Exception as error:
        if len(batch) == 1:
            return [error]
    return [result for part in batch for result in _computed([part])]


def _result(
    arrays: list[np.ndarray], layers: Layers, then: Callable[[np.ndarray], np.ndarray] | None
) -> list[np.ndarray] | Refusal:
    """The arrays of a part after `then`, unless one has NaN or inf: JSON has no such numbers, and nothing can be done
    with them."""
    if all(np.isfinite(array).all() for array in arrays):
        return arrays if then is None else [then(array) for array in arrays]
    if isinstance(layers, str | int):
        message = "the vectors are not finite (NaN or inf): the model's weights are damaged. Load another model."
        return Refusal(500, message, "not_finite")
    message = f"layers is {layers}: with such weights the sum exceeds float32. Use smaller ones."
    return Refusal(400, message, "not_finite", param="layers")


def _settle(parts: list[_Part], results: list[object]) -> None:
    """One call into the event loop for all of them; after the loop has ended, nobody waits."""

    def settle_all() -> None:
        for part, result in zip(parts, results, strict=True):
            settle(part.future, result)

    with suppress(RuntimeError):  # the loop has ended
        parts[0].future.get_loop().call_soon_threadsafe(settle_all)


def _weight(sentence: Sentence) -> int:
    """Tokens, but at least one: an empty sentence is work too."""
    return max(1, len(sentence))


def stopping() -> Refusal:
    """The answer to a request that the server doesn't finish before it ends."""
    return Refusal(503, "the server is stopping. Send the request again soon.", "stopping", headers=_RETRY)


def too_late() -> Refusal:
    """The answer to a request whose deadline has passed."""
    return Refusal(
        503,
        "the deadline of this request passed before it was computed: the server has more work than it can finish in "
        "time. Send it again later, or send less at a time.",
        "deadline",
        headers=_RETRY,
    )
