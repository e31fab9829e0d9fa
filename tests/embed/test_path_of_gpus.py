"""What runs on GPUs, run here on the CPU beside the engine: both give the same vectors."""

import pytest
import torch

from elmo.embed.network.fixed_shapes import encode_in_fixed_shapes
from elmo.embed.network.pieces import contextualize_in_pieces


@pytest.fixture
def words() -> list[str]:
    return ["a", "bc" * 20, "river", "<S>", "</S>", "", "책"] * 3


# A last bit of a gate can decide which way a factor is rounded: in bfloat16 and int8 by a whole step.
@torch.inference_mode()
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-6), ("bfloat16", 2e-3), ("int8", 1e-3)])
def test_torch_and_the_engine_agree(tiny_bilm, words, dtype, tolerance, monkeypatch):
    tiny_bilm.requires_grad_(False)
    ids, lengths = tiny_bilm.token_map.ids(words), torch.tensor([len(words), 7, 0])
    vectors = tiny_bilm.token_vectors(torch.from_numpy(ids.characters), None, dtype)
    rows = torch.stack([vectors] * 3)
    expected = tiny_bilm.contextualize(rows, lengths, None, dtype)
    for room in ("projected_lstm", "token_encoder"):
        monkeypatch.setattr(f"elmo.model.{room}.runs_on_engine", lambda *arguments: False)
    found = encode_in_fixed_shapes(tiny_bilm, ids, len(words), dtype)
    torch.testing.assert_close(found, vectors, rtol=0, atol=tolerance)
    whole = tiny_bilm.contextualize(rows, lengths, None, dtype)
    pieces = contextualize_in_pieces(tiny_bilm, rows, lengths, None, 4, dtype)
    for output in (whole, pieces):
        assert torch.equal(output.mask, expected.mask)
        for one, other in (
            (output.layers, expected.layers),
            (output.state.hidden, expected.state.hidden),
            (output.state.cell, expected.state.cell),
        ):
            torch.testing.assert_close(one, other, rtol=0, atol=tolerance)
