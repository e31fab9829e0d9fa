"""What only a GPU can show. Skipped without CUDA.

python -m pytest -m gpu tests/gpu
"""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from elmo import ELMo, Embedder
from elmo.config import LSTMSettings
from elmo.corpus.shards import TrainingData
from elmo.embed.corpus.embed_corpus import embed_corpus
from elmo.embed.storage.readers import read_vectors
from elmo.errors import ConfigError
from elmo.model.bilm import BiLM
from elmo.ops.projected_lstm import on_gpu
from elmo.ops.projected_lstm.gate_passes import forward_pass
from elmo.ops.projected_lstm.reference import LayerWeights, projected_lstm_reference
from elmo.ops.projected_lstm.window import projected_lstm_window
from elmo.ops.projected_lstm.window_graphs import WindowGraphs
from elmo.pretrain.ranks.distributed import Ranks
from elmo.pretrain.run.run_folder import RunFolder
from elmo.pretrain.run.training import train
from elmo.pretrain.settings.config import PretrainConfig
from elmo.pretrain.step.trainer import Trainer

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no GPU to use through CUDA"),
]

CUDA = torch.device("cuda", 0)


def test_layers_of_the_first_batch_are_those_of_the_original(golden) -> None:
    elmo = ELMo.from_pretrained(golden.files).to(CUDA)
    with torch.no_grad():
        output = elmo.bilm(elmo.character_ids(golden.batches[0]).to(CUDA))
    for number, layer in enumerate(output.layers):
        np.testing.assert_allclose(layer.cpu(), golden.expected[f"b0_layer{number}"], atol=golden.tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), [(None, 1e-4), (torch.bfloat16, 5e-2)])
def test_a_window_has_the_values_and_gradients_of_the_plain_loop(dtype: torch.dtype | None, tolerance: float) -> None:
    generator = torch.Generator().manual_seed(3)
    steps, batch, cells, width = 7, 5, 24, 16

    def drawn(*shape: int) -> torch.Tensor:
        return (torch.randn(*shape, generator=generator) * 0.3).to(CUDA).requires_grad_()

    weights = LayerWeights(drawn(4 * cells, width), drawn(4 * cells, width), drawn(4 * cells), drawn(width, cells))
    settings = LSTMSettings(cell_clip=3.0, projection_clip=3.0, forget_bias=1.0)
    inputs = drawn(steps, batch, width)
    hidden, cell = torch.zeros(batch, width, device=CUDA), torch.zeros(batch, cells, device=CUDA)
    own, _, _ = projected_lstm_window(inputs, hidden, cell, weights, settings, None, dtype)
    lengths = torch.full((batch,), steps, device=CUDA)
    plain, _, _ = projected_lstm_reference(inputs.transpose(0, 1), lengths, hidden, cell, weights, settings)
    torch.testing.assert_close(own, plain.transpose(0, 1), atol=tolerance, rtol=tolerance)
    leaves = [inputs, *weights]
    expected = torch.autograd.grad(plain.square().sum(), leaves)
    for found, wanted in zip(torch.autograd.grad(own.square().sum(), leaves), expected, strict=True):
        torch.testing.assert_close(found, wanted, atol=10 * tolerance, rtol=10 * tolerance)


def test_three_steps_are_those_of_a_cpu(data: TrainingData, recipe: PretrainConfig) -> None:
    config = replace(recipe, dropout=0.0)  # each device has a generator of its own
    here, there = Trainer(config, data), Trainer(config, data, Ranks(device=CUDA))
    for _ in range(3):
        one, other = here.step(), there.step()
        assert other.loss == pytest.approx(one.loss, rel=1e-4)
        assert other.gradient_norm == pytest.approx(one.gradient_norm, rel=1e-3)


def test_a_resumed_run_goes_on_as_if_it_had_not_been_stopped(
    data: TrainingData, recipe: PretrainConfig, tmp_path: Path
) -> None:
    ranks = Ranks(device=CUDA)
    train(data, tmp_path / "whole", recipe, ranks=ranks)
    train(data, tmp_path / "run", replace(recipe, max_steps=4), ranks=ranks)
    train(data, tmp_path / "run", recipe, ranks=ranks)
    losses = [
        [line["loss"] for line in RunFolder(tmp_path / name).metrics() if "loss" in line] for name in ("whole", "run")
    ]
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)  # index_add on CUDA doesn't repeat bit for bit


def test_a_step_does_not_wait_for_the_device_before_its_end(
    data: TrainingData, recipe: PretrainConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = Trainer(recipe, data, Ranks(device=CUDA))
    trainer.step()
    from elmo.pretrain.step import trainer as trainer_module

    plain = trainer_module._read

    def read(scalars: list[torch.Tensor]) -> list[float]:
        torch.cuda.set_sync_debug_mode("default")
        return plain(scalars)

    monkeypatch.setattr(trainer_module, "_read", read)
    try:
        with warnings.catch_warnings():  # that this mode is new
            warnings.simplefilter("ignore")
            torch.cuda.set_sync_debug_mode("error")
        trainer.step()
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_a_corpus_has_the_vectors_of_a_cpu(tiny_bilm: BiLM, tiny_corpus: list[list[str]], tmp_path: Path) -> None:
    tiny_bilm.save_pretrained(tmp_path / "model")
    lines = [" ".join(filter(None, sentence)) for sentence in tiny_corpus]
    (tmp_path / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = {}
    for device in ("cpu", "cuda"):
        embedder = Embedder.from_pretrained(tmp_path / "model", device=device)
        embed_corpus(embedder, tmp_path / "text.txt", tmp_path / f"{device}.h5")
        found[device] = list(read_vectors(tmp_path / f"{device}.h5"))
    for one, other in zip(found["cpu"], found["cuda"], strict=True):
        np.testing.assert_allclose(other, one, atol=2e-5)


def test_a_recorded_batch_has_the_vectors_of_one_that_is_not(
    tiny_bilm: BiLM, tiny_corpus: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = [sentence for sentence in tiny_corpus if sentence] * 3
    expected = Embedder(tiny_bilm, dtype="float32").embed(sentences)
    there = tiny_bilm.to(CUDA)
    embedder = Embedder(there, dtype="float32")
    recorded = embedder._network._recorded
    for turn in range(3):  # as it is, recorded, and replayed
        for one, other in zip(embedder.embed(sentences), expected, strict=True):
            np.testing.assert_allclose(one, other, atol=2e-5)
        assert bool(recorded._graphs) == (turn > 0)
    with torch.no_grad():
        there.forward_lstm.layers[0].bias += 0.5
    changed = Embedder(there, dtype="float32").embed(sentences)
    assert max(np.abs(one - other).max() for one, other in zip(changed, expected, strict=True)) > 1e-3
    for _ in range(3):  # no recording with weights as they were
        for one, other in zip(embedder.embed(sentences), changed, strict=True):
            np.testing.assert_allclose(one, other, atol=2e-5)


def test_recorded_windows_train_as_the_plain_ones_do(data: TrainingData, recipe: PretrainConfig) -> None:
    recorded, plain = Trainer(recipe, data, Ranks(device=CUDA)), Trainer(recipe, data, Ranks(device=CUDA))
    plain._read_window = projected_lstm_window
    for _ in range(4):
        one, other = recorded.step(), plain.step()
        assert one.loss == pytest.approx(other.loss, rel=1e-4)
        assert one.gradient_norm == pytest.approx(other.gradient_norm, rel=1e-3)
    assert isinstance(recorded._read_window, WindowGraphs)


def test_kernels_of_the_gates_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("triton")
    tensors = [torch.randn(3, size, device=CUDA) for size in (32, 32, 32, 8, 32, 8, 8, 8)]
    tensors[2] = tensors[2][0].contiguous()
    assert on_gpu.ran("gates_forward", tensors, 1.0)
    expected = [tensor.cpu() for tensor in tensors]
    forward_pass(*expected, 1.0)
    for one, other in zip(tensors, expected, strict=True):
        torch.testing.assert_close(one.cpu(), other, rtol=1e-5, atol=1e-6)
    with pytest.raises(ConfigError, match="gates_forward"):
        on_gpu.ran("gates_forward", [*tensors[:3], tensors[3][:2].contiguous(), *tensors[4:]], 1.0)
