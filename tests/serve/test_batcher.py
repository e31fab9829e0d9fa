"""The batcher: what waits is computed together, within the limit, and nobody's failure is another's."""

import asyncio
import threading
import time

import numpy as np
import pytest

from elmo.serve.answers import Refusal
from elmo.serve.batcher import Batcher
from elmo.serve.service import results

FAR = float("inf")


class Silent:
    """Stands for a request whose client sends nothing more, and stays."""

    async def receive(self):
        await asyncio.Event().wait()


class Held:
    """Stands for an embedder: notes the batches it is asked for, and computes the first when it is let go."""

    num_layers = 2

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.layers: list[object] = []
        self.began, self.go_on = threading.Event(), threading.Event()

    def embed(self, sentences, layers="all"):
        self.batches.append([" ".join(sentence) for sentence in sentences])
        self.layers.append(layers)
        self.began.set()
        assert self.go_on.wait(20)
        if any("bad" in sentence for sentence in sentences):
            raise ValueError("bad")
        return [np.full((len(sentence), 1), len(sentence), np.float32) for sentence in sentences]


@pytest.fixture
def held():
    return Held()


def run(held, scenario, max_batch_tokens=8, max_queued_tokens=100):
    """Runs `scenario(batcher)` while the thread is busy with a first part, which is let go after it, and gives the
    outcomes of the futures it returns."""

    async def main():
        batcher = Batcher(max_batch_tokens, max_queued_tokens)
        batcher.start()
        first = batcher.embed(held, [["first"]], "all", FAR)
        await asyncio.to_thread(held.began.wait, 20)
        futures = scenario(batcher)
        held.go_on.set()
        outcomes = await asyncio.gather(*futures, return_exceptions=True)
        await asyncio.gather(*first)
        await asyncio.to_thread(batcher.close)
        assert batcher.queued_tokens == 0
        return outcomes, batcher

    return asyncio.run(main())


def each(batcher, held, *texts):
    """The future of each text, asked for by itself."""
    return [future for text in texts for future in batcher.embed(held, [text.split()], "all", FAR)]


def test_what_nobody_waits_for_any_more_takes_no_room(held):
    def scenario(batcher):
        for future in each(batcher, held, *["a b c d e f"] * 3):
            future.cancel()
        return each(batcher, held, "g h i")

    (arrays,), batcher = run(held, scenario, max_queued_tokens=20)
    assert len(arrays) == 1 and batcher.counts.dropped == 3


def test_what_came_meanwhile_is_one_batch(held):
    outcomes, batcher = run(held, lambda batcher: each(batcher, held, "a b", "c", "d e f"))
    assert held.batches == [["first"], ["a b", "c", "d e f"]]
    assert [array[0].shape[0] for array in outcomes] == [2, 1, 3]
    assert (batcher.counts.batches, batcher.counts.tokens) == (2, 7)


def test_a_batch_has_at_most_its_tokens_and_others_go_ahead_of_what_does_not_fit(held):
    run(held, lambda batcher: each(batcher, held, "a a a a a", "b b b b b", "c c", "d"))
    assert held.batches[1:] == [["a a a a a", "c c", "d"], ["b b b b b"]]


def test_a_text_longer_than_a_batch_is_alone(held):
    texts = [["x"] * 20, ["y"], ["z"] * 9]
    run(held, lambda batcher: batcher.embed(held, texts, "all", FAR))
    assert [len(batch) for batch in held.batches[1:]] == [1, 1, 1]


def test_only_the_same_layers_share_a_batch(held):
    def scenario(batcher):
        layers = ("all", "top", "all", [1.0, 0.0], [1.0, 0.0], 1)
        return [future for choice in layers for future in batcher.embed(held, [["a"]], choice, FAR)]

    run(held, scenario)
    assert held.layers == ["all", "all", "top", [1.0, 0.0], 1]
    assert [len(batch) for batch in held.batches] == [1, 2, 1, 2, 1]


def test_weights_that_are_written_alike_share_no_batch(held):
    """A tensor is written with four digits."""
    torch = pytest.importorskip("torch")
    choices = [torch.tensor([0.12341, 0.5]), torch.tensor([0.12342, 0.5])]
    assert len(set(map(repr, choices))) == 1
    run(held, lambda batcher: [it for choice in choices for it in batcher.embed(held, [["a"]], choice, FAR)])
    assert [float(layers[0]) for layers in held.layers[1:]] == pytest.approx([0.12341, 0.12342], abs=1e-7)


def test_a_request_that_fails_does_not_make_its_neighbors_fail(held):
    outcomes, _ = run(held, lambda batcher: each(batcher, held, "good", "bad", "fine"))
    assert isinstance(outcomes[1], ValueError)
    assert [array[0].tolist() for array in (outcomes[0], outcomes[2])] == [[[1.0]], [[1.0]]]


def test_what_is_cancelled_or_late_is_not_computed(held):
    def scenario(batcher):
        (late,) = batcher.embed(held, [["late"]], "all", time.monotonic() - 1)
        cancelled, kept = each(batcher, held, "cancelled", "kept")
        cancelled.cancel()
        return [cancelled, late, kept]

    (cancelled, late, kept), batcher = run(held, scenario)
    assert held.batches == [["first"], ["kept"]]
    assert isinstance(cancelled, asyncio.CancelledError)
    assert isinstance(late, Refusal) and late.status == 503
    assert kept[0].shape == (1, 1)
    assert batcher.counts.dropped == 2


def test_more_than_may_wait_is_refused_whether_it_is_one_text_or_many(held):
    def scenario(batcher):
        futures = batcher.embed(held, [["a"] * 5] * 19, "all", FAR)
        for texts in ([["b"] * 5], [["b"]] * 5, [[]] * 5):
            with pytest.raises(Refusal, match="96 tokens wait to be computed and this request has 5") as refused:
                batcher.embed(held, texts, "all", FAR)
            assert (refused.value.status, refused.value.headers["Retry-After"]) == (429, "1")
        return [*futures, *each(batcher, held, "c c c c")]

    outcomes, _ = run(held, scenario)
    assert len(outcomes) == 20
    assert not any(isinstance(outcome, BaseException) for outcome in outcomes)


def test_other_work_waits_its_turn_and_is_alone(held):
    def scenario(batcher):
        (before,) = each(batcher, held, "before")
        done = batcher.run(lambda: list(held.batches), 1, FAR)
        failed = batcher.run(lambda: 1 // 0, 1, FAR)
        return [before, *each(batcher, held, "after"), done, failed]

    outcomes, _ = run(held, scenario)
    assert outcomes[2] == [["first"], ["before", "after"]]
    assert isinstance(outcomes[3], ZeroDivisionError)


def test_a_closed_batcher_finishes_and_takes_no_more(held):
    async def main():
        batcher = Batcher(8, 100)
        batcher.start()
        futures = batcher.embed(held, [["a"], ["b"] * 9], "all", FAR)
        closing = asyncio.create_task(asyncio.to_thread(batcher.close))
        await asyncio.to_thread(held.began.wait, 20)
        while not batcher._is_closing:
            await asyncio.sleep(0.001)
        with pytest.raises(Refusal, match="the server is stopping"):
            batcher.embed(held, [["c"]], "all", FAR)
        held.go_on.set()
        await closing
        assert len(await asyncio.gather(*futures)) == 2

    asyncio.run(main())


def test_a_deadline_that_passes_while_it_is_computed_is_told(held):
    async def main():
        batcher = Batcher(8, 100)
        batcher.start()
        deadline = time.monotonic() + 0.05
        futures = batcher.embed(held, [["a"]], "all", deadline)
        with pytest.raises(Refusal) as refused:
            await results(Silent(), futures, deadline)
        assert refused.value.status == 503
        held.go_on.set()
        await asyncio.to_thread(batcher.close)

    asyncio.run(main())


def test_a_task_that_is_cancelled_while_it_waits_is_told(held):
    """As all are when the time for a graceful end is over."""

    async def main():
        futures = [asyncio.get_running_loop().create_future() for _ in range(2)]

        task = asyncio.create_task(results(Silent(), futures, time.monotonic() + 60))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(Refusal, match="the server is stopping"):
            await task
        assert all(future.cancelled() for future in futures)

    asyncio.run(main())
