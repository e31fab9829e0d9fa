"""One Embedder in many threads: the vectors of one thread, bit for bit."""

import copy
import pickle
import threading

import numpy as np
import pytest

from elmo.embed.embedder import Embedder
from elmo.embed.network import EngineNetwork
from elmo.errors import ConfigError
from elmo.model.bilm import BiLM

THREADS = 16
CALLS = 12


def sentences_of(call: int) -> list[list[str]]:
    """Two sentences of words that neighboring calls share in part."""
    return [[f"w{(call * 7 + place) % 90}" for place in range(length)] for length in (3, 6)]


@pytest.mark.parametrize("is_warm", [False, True], ids=["fresh", "warm"])
@pytest.mark.parametrize("cache_bytes", [0, 6_000, 1 << 20])
def test_many_threads_give_the_bits_of_one(tiny_config, run_at_once, one_thread, cache_bytes, is_warm):
    bilm = BiLM(tiny_config).requires_grad_(False)  # new weights, which nobody has laid out
    alone = Embedder(copy.deepcopy(bilm), cache_bytes=0)
    expected = [[array.tobytes() for array in alone.embed(sentences_of(call))] for call in range(CALLS)]
    embedder = Embedder(bilm, cache_bytes=cache_bytes)

    def check(call: int) -> None:
        assert [array.tobytes() for array in embedder.embed(sentences_of(call))] == expected[call]

    def work(number: int) -> None:
        for step in range(4):
            check((number + 5 * step) % CALLS)

    for call in range(CALLS if is_warm else 0):
        check(call)
    run_at_once(work, THREADS)
    for call in range(CALLS):  # nothing wrong is left behind
        check(call)


def test_carry_refuses_a_call_while_another_is_running(tiny_bilm, monkeypatch):
    embedder, alone = Embedder(tiny_bilm, state="carry"), Embedder(tiny_bilm, state="carry")
    embedder.embed(["a b"])
    alone.embed(["a b"])
    expected = alone.embed(["c d"])[0]
    is_reading, may_end = threading.Event(), threading.Event()
    real = EngineNetwork.read

    def slow(self, *arguments, **settings):
        is_reading.set()
        may_end.wait()
        return real(self, *arguments, **settings)

    monkeypatch.setattr(EngineNetwork, "read", slow)
    found: list[np.ndarray] = []
    thread = threading.Thread(target=lambda: found.extend(embedder.embed(["c d"])))
    thread.start()
    assert is_reading.wait(60)
    calls = (lambda: embedder.embed(["x y"]), embedder.reset, embedder.state_dict, lambda: embedder.load_state_dict({}))
    try:
        for call in calls:
            with pytest.raises(ConfigError, match="another thread's call is still running.*Embedder for each thread"):
                call()
    finally:
        may_end.set()
        thread.join()
    np.testing.assert_array_equal(found[0], expected)
    monkeypatch.undo()
    np.testing.assert_array_equal(embedder.embed(["e f"])[0], alone.embed(["e f"])[0])


@pytest.mark.parametrize("model", ["tiny_checkpoint", "tiny_bilm"])
def test_an_embedder_can_be_pickled_and_copied(request, model, tiny_corpus):
    embedder = Embedder(request.getfixturevalue(model))
    expected = [array.tobytes() for array in embedder.embed(tiny_corpus)]
    for other in (copy.deepcopy(embedder), pickle.loads(pickle.dumps(embedder))):
        assert [array.tobytes() for array in other.embed(tiny_corpus)] == expected
