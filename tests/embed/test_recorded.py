"""What runs on GPUs, here on the CPU: it gives the engine's vectors, and what is recorded is replayed by reading again.

tests/gpu has CUDA graphs.
"""

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from elmo.embed import recorded
from elmo.embed.recorded import RecordedReading, _filled_up
from elmo.embed.torch_network import TorchNetwork, encode_in_fixed_shapes
from elmo.engine.token_encoder import rounded_to
from elmo.layer.on_engine import engine_of
from elmo.model.bilm import BiLM
from elmo.ops.product import RoundedProducts
from elmo.text.batches import Batch, number_tokens, pad


class Reading(RecordedReading):
    """Replays by reading again, from the same buffers into the same ones."""

    made = 0

    def _recorded(self, shape):
        self.made += 1

        @torch.inference_mode()
        def replay() -> None:
            with RoundedProducts(self._dtype):
                found = self._bilm.contextualize(self._inputs(shape), self._lengths[: shape.rows], padded=True)
            self._outputs(shape).copy_(found.layers)

        return SimpleNamespace(replay=replay)


Batches = Callable[[], Iterator[tuple[Batch, torch.Tensor]]]


@pytest.fixture
def network(tiny_bilm: BiLM, monkeypatch: pytest.MonkeyPatch) -> TorchNetwork:
    for name in ("current_stream", "default_stream"):
        monkeypatch.setattr(recorded.torch.cuda, name, lambda device: "the only one")
    return TorchNetwork(tiny_bilm.requires_grad_(False), "float32")


@pytest.fixture
def batches(network: TorchNetwork) -> Batches:
    chance = np.random.default_rng(1)
    sentences = [["a", "bc", "책", "river"][: 1 + count % 4] * (1 + count) for count in chance.integers(0, 9, 60)]
    tokens, places = number_tokens(sentences, network.token_map.boundary_tokens)

    def made() -> Iterator[tuple[Batch, torch.Tensor]]:
        table = network.encode(tokens)
        for rows in (range(3), range(3, 20), range(20, 60), range(30, 60)):
            batch = pad(places, np.array(rows))
            yield batch, table

    return made


def _read(reading: Reading, network: TorchNetwork, batch: Batch, table: torch.Tensor) -> torch.Tensor | None:
    with torch.inference_mode():
        return reading.read(table[torch.from_numpy(batch.places)], batch.lengths, network.token_weights())


def test_a_shape_is_recorded_when_it_comes_again_and_gives_the_same_layers(network, batches):
    reading = Reading(network.bilm, "float32")
    recordings = []
    for turn in range(4):
        for batch, table in batches():
            expected = network.read(batch, table, None, keeps_state=False).layers
            found = _read(reading, network, batch, table)
            assert (found is None) == (turn == 0)
            if found is not None:
                torch.testing.assert_close(found.flatten(1, 2), expected, rtol=0, atol=1e-6)
        recordings.append(reading.made)
    # What is recorded for a small batch is lost when a larger one needs larger buffers, once.
    assert recordings[0] == 0
    assert recordings[2] == recordings[3] <= 8


def test_changed_weights_are_never_read_from_a_recording(network, batches):
    reading = Reading(network.bilm, "float32")
    for _ in range(3):
        before = [_read(reading, network, batch, table) for batch, table in batches()]
    with torch.no_grad():
        network.bilm.forward_lstm.layers[0].bias += 0.5
    made = reading.made
    assert all(_read(reading, network, batch, table) is None for batch, table in batches())
    after = [_read(reading, network, batch, table) for batch, table in batches()]
    assert reading.made > made
    assert all((one - other).abs().max() > 1e-3 for one, other in zip(before, after, strict=True))


def test_only_the_last_used_recordings_are_kept(network, batches, monkeypatch):
    monkeypatch.setattr(recorded, "_MAX_RECORDINGS", 2)
    reading = Reading(network.bilm, "float32")
    for _ in range(3):
        for batch, table in batches():
            _read(reading, network, batch, table)
            assert len(reading._graphs) <= 2


def test_longer_sentences_are_not_recorded(network, monkeypatch):
    monkeypatch.setattr(recorded, "_MAX_TOKENS", 6)
    reading = Reading(network.bilm, "float32")
    vectors = torch.zeros(2, 7, network.config.projection_size)
    for _ in range(3):
        assert reading.read(vectors, np.array([7, 3]), "weights") is None
        assert reading.read(vectors[:0], np.array([], np.int64), "weights") is None


def test_few_sizes_are_recorded_and_little_is_filling():
    sizes = [_filled_up(count) for count in range(1, 4097)]
    for count, size in enumerate(sizes, start=1):
        assert count <= size <= max(count + 7, 1.25 * count)
    assert len(set(sizes)) <= 40
    assert sizes == sorted(sizes)


# A last bit of a gate can decide which way a factor is rounded: in bfloat16 and int8 by a whole step.
@torch.inference_mode()
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-6), ("bfloat16", 2e-3), ("int8", 1e-3)])
def test_torch_and_the_engine_agree(tiny_bilm, dtype, tolerance):
    words = ["a", "bc" * 20, "river", "<S>", "</S>", "", "책"] * 3
    tiny_bilm.requires_grad_(False)
    engine = engine_of(tiny_bilm, dtype)
    assert engine is not None
    ids, lengths = tiny_bilm.token_map.ids(words), torch.tensor([len(words), 7, 0])
    vectors = torch.from_numpy(engine.token_vectors(ids.characters))
    rows = torch.stack([vectors] * 3)
    layers, state = engine.contextualize(rows.numpy(), lengths.numpy())
    with RoundedProducts(rounded_to(dtype)):
        found = encode_in_fixed_shapes(tiny_bilm, ids, len(words))
    torch.testing.assert_close(found, vectors, rtol=0, atol=tolerance)
    with RoundedProducts(dtype):
        output = tiny_bilm.contextualize(rows, lengths)
    for one, other in zip((output.layers, *output.state), (layers, *state), strict=True):
        torch.testing.assert_close(one, torch.from_numpy(other), rtol=0, atol=tolerance)
