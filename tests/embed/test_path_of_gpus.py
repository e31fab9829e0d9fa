"""What runs on GPUs, run here on the CPU beside the engine: both give the same vectors."""

import pytest
import torch

from elmo.embed.torch_network import encode_in_fixed_shapes
from elmo.engine.token_encoder import rounded_to
from elmo.layer.on_engine import engine_of
from elmo.ops.product import RoundedProducts


@pytest.fixture
def words() -> list[str]:
    return ["a", "bc" * 20, "river", "<S>", "</S>", "", "책"] * 3


# A last bit of a gate can decide which way a factor is rounded: in bfloat16 and int8 by a whole step.
@torch.inference_mode()
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-6), ("bfloat16", 2e-3), ("int8", 1e-3)])
def test_torch_and_the_engine_agree(tiny_bilm, words, dtype, tolerance):
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
