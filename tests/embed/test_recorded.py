"""What of recorded readings needs no GPU; tests/gpu has the rest."""

import copy
import pickle

from elmo import Embedder
from elmo.embed.recorded import _filled_up
from elmo.model.bilm import BiLM


def test_few_sizes_are_recorded_and_little_is_filling() -> None:
    sizes = [_filled_up(count) for count in range(1, 4097)]
    for count, size in enumerate(sizes, start=1):
        assert count <= size <= max(count + 7, 1.25 * count)
    assert len(set(sizes)) <= 40
    assert sizes == sorted(sizes)


def test_an_embedder_of_a_network_in_torch_can_be_copied(tiny_bilm: BiLM) -> None:
    embedder = Embedder(tiny_bilm)
    expected = embedder.embed(["a b"])[0]
    for other in (copy.deepcopy(embedder), pickle.loads(pickle.dumps(embedder))):
        assert (other.embed(["a b"])[0] == expected).all()
