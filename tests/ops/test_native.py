"""The native library's passes against their torch versions: values and gradients."""

import re
import subprocess
import sys
from collections.abc import Callable

import pytest
import torch
from tests.conftest import native_library
from torch import Tensor

from elmo.config import LSTMSettings
from elmo.errors import ConfigError
from elmo.ops import native, native_passes
from elmo.ops.char_cnn import activate, best_windows, character_vectors
from elmo.ops.full_softmax import full_softmax_mean
from elmo.ops.native.build import build, source_hash
from elmo.ops.projected_lstm import LayerWeights, projected_lstm_window
from elmo.ops.projected_lstm.gate_passes import backward_pass, forward_pass
from elmo.ops.sampled_softmax import SoftmaxRows, sampled_softmax_mean, sampled_softmax_reference

FACTORS = [torch.float32, torch.bfloat16]
needs_library = pytest.mark.skipif(native.library() is None, reason="the native library is not built here")


def both_ways(run: Callable[[], list[Tensor]]) -> list[tuple[Tensor, Tensor]]:
    """The results with the library and without it."""
    fast = run()
    with native_library(ELMO_NATIVE="0"):
        plain = run()
    return list(zip(fast, plain, strict=True))


@needs_library
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("clip", [None, 1.5])
@pytest.mark.parametrize(("rows", "size"), [(1, 1), (3, 17), (37, 129)])
def test_gate_passes_equal_torch(factor, clip, rows, size):
    generator = torch.Generator().manual_seed(rows)
    normal = lambda *shape: torch.randn(*shape, generator=generator)  # noqa: E731
    share, recurrent = ((normal(rows, 4 * size) * large).to(factor) for large in (3, 2))
    bias, before = normal(4 * size), normal(rows, size)
    grad_output, grad_cell_after = normal(rows, size).to(factor), normal(rows, size)

    def run() -> list[Tensor]:
        gates = torch.full((rows, 4 * size), torch.nan)
        after, squashed, output = (torch.full_like(before, torch.nan) for _ in range(3))
        output = output.to(factor)
        forward_pass(share, recurrent, bias, before, gates, after, squashed, output, clip)
        grad_cell, grad_bias = grad_cell_after.clone(), torch.zeros(4 * size)
        grad_gates = torch.full_like(recurrent, torch.nan)
        backward_pass(gates, before, after, squashed, grad_output, grad_cell, grad_gates, grad_bias, clip)
        return [gates, after, squashed, output, grad_cell, grad_gates, grad_bias]

    for fast, plain in both_ways(run):
        loose = 2e-2 if fast.dtype == torch.bfloat16 else 1e-5
        torch.testing.assert_close(fast, plain, rtol=loose, atol=loose)


@needs_library
def test_gates_stay_finite_at_extreme_inputs():
    share, gates = torch.tensor([[1e30, -1e30, 90.0, -90.0] * 4]), torch.zeros(1, 16)
    cells = [torch.zeros(1, 4) for _ in range(4)]
    forward_pass(share, torch.zeros(1, 16), torch.zeros(16), cells[0], gates, *cells[1:], 3.0)
    assert gates.isfinite().all()
    assert cells[1].isfinite().all()
    assert gates[0, :4].tolist() == pytest.approx([1, 0, 1, 0], abs=1e-6)


@needs_library
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize(("targets", "negatives"), [(1, 1), (37, 20), (64, 100)])
def test_sampled_softmax_equals_the_reference(factor, targets, negatives):
    torch.manual_seed(negatives)
    parameters = [
        tensor.requires_grad_()
        for tensor in (torch.randn(targets, 8), torch.randn(targets, 8), torch.randn(targets),
                       torch.randn(negatives, 8), torch.randn(negatives))
    ]  # fmt: skip
    outputs, target_weight, target_bias, negative_weight, negative_bias = parameters
    target_rows = SoftmaxRows(target_weight, target_bias, torch.randn(targets))
    negative_rows = SoftmaxRows(negative_weight, negative_bias, torch.randn(negatives))
    target_ids = torch.randint(0, 2 * negatives, (targets,))
    negative_ids = torch.randperm(2 * negatives)[:negatives].sort().values
    arguments = (outputs, target_ids, target_rows, negative_ids, negative_rows)
    expected = sampled_softmax_reference(*arguments).mean()
    found = sampled_softmax_mean(*arguments, None if factor == torch.float32 else factor)
    loose = 2e-2 if factor == torch.bfloat16 else 2e-5
    torch.testing.assert_close(found, expected, rtol=loose, atol=loose)
    for fast, plain in zip(torch.autograd.grad(3 * found, parameters), torch.autograd.grad(3 * expected, parameters),
                           strict=True):  # fmt: skip
        torch.testing.assert_close(fast, plain, rtol=loose, atol=loose * plain.abs().max().item())


def _random_tokens(count: int) -> Tensor:
    ids = torch.full((count, 50), 261)
    for row in ids:
        length = int(torch.randint(0, 48, ()))
        row[0], row[1 : 1 + length], row[1 + length] = 259, torch.randint(1, 256, (length,)), 260
    ids[0] = torch.randint(1, 256, (50,))  # no padding at all
    return ids


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("count", [0, 1, 5, 200])
def test_char_cnn_for_training_equals_the_trimmed_one_under_autograd(activation, count):
    torch.manual_seed(count)
    ids = _random_tokens(max(1, count))[:count]
    embedding = torch.randn(262, 6, requires_grad=True)
    filters = [
        (torch.randn(number, 6, width, requires_grad=True), torch.randn(number, requires_grad=True))
        for width, number in ((1, 4), (2, 5), (7, 9))
    ]
    parameters = [embedding, *(tensor for pair in filters for tensor in pair)]
    grad = torch.randn(count, 18)

    def features() -> Tensor:
        characters = character_vectors(ids, embedding, max(weight.shape[2] for weight, _ in filters))
        assert characters.trains == (count > 0 and native.library() is not None)
        best = [best_windows(characters, weight) + bias for weight, bias in filters]
        return activate(torch.cat(best, dim=1), activation)

    found = features()
    with native_library(ELMO_NATIVE="0"):
        expected = features()
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    if count == 0:
        return
    gradients = (torch.autograd.grad(values, parameters, grad) for values in (found, expected))
    for fast, plain in zip(*gradients, strict=True):
        torch.testing.assert_close(fast, plain, rtol=1e-4, atol=1e-4 * plain.abs().max().item())


def test_double_precision_never_reaches_the_library():
    assert not native_passes.can_run(torch.zeros(2, dtype=torch.float64))


def test_without_a_compiler_the_build_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    assert "no C compiler" in build(tmp_path / "library.so")
    monkeypatch.setenv("CC", "/no/such/compiler")
    assert "/no/such/compiler" in build(tmp_path / "library.so")
    assert list(tmp_path.iterdir()) == []


def test_a_compiler_may_be_in_a_folder_with_a_space_in_its_name(tmp_path, monkeypatch):
    compiler = tmp_path / "Program Files" / "clang"
    compiler.parent.mkdir()
    compiler.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done; echo > "$2"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(compiler.parent))
    monkeypatch.delenv("CC", raising=False)
    assert build(tmp_path / "library.so") is None
    assert (tmp_path / "library.so").is_file()


def test_a_build_without_avx512_says_why(tmp_path, monkeypatch):
    compiler = tmp_path / "cc"
    compiler.write_text('#!/bin/sh\ncase "$*" in *NO_AVX512*) ;; *) echo "unknown target" >&2; exit 1;; esac\n'
                        'while [ "$1" != -o ]; do shift; done; echo > "$2"\n')  # fmt: skip
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    with pytest.warns(RuntimeWarning, match="without AVX-512: .* failed: unknown target"):
        assert build(tmp_path / "library.so") is None
    assert (tmp_path / "library.so").is_file()


def test_a_damaged_library_is_left_aside(tmp_path):
    script = (
        "import pathlib, sys; from elmo.ops import native; native.LIBRARY = pathlib.Path(sys.argv[1]);"
        "assert native.library() is None"
    )
    (tmp_path / "broken.so").write_bytes(b"no library")
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "broken.so")], check=True)


@needs_library
def test_a_library_of_other_sources_is_left_aside_with_a_warning():
    with native_library(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "source_hash", lambda: "another")
        with pytest.warns(RuntimeWarning, match="built from other sources.*Build it again: python .*build.py"):
            assert native.library() is None
        assert native.library() is None  # said once


@needs_library
def test_the_library_knows_the_sources_it_was_built_from():
    assert native.library().source_hash() == source_hash()


@needs_library
def test_instruction_sets_are_limited_by_name():
    found = {}
    for name in ("none", "AVX2", "all", ""):
        with native_library(ELMO_INSTRUCTIONS=name):
            found[name] = native.instructions()
    assert found["none"] == "none" and found["AVX2"] in ("AVX2", "none") and found["all"] == found[""]


@needs_library
@pytest.mark.parametrize("name", ["avx3", "\udcff"])
def test_an_unknown_instruction_set_is_an_error(name):
    message = re.escape(f"ELMO_INSTRUCTIONS is {name!r}")
    with native_library(ELMO_INSTRUCTIONS=name), pytest.raises(ConfigError, match=message):
        native.library()


def test_the_library_is_switched_off_by_0_and_by_nothing_else(monkeypatch):
    for value, is_off in (("0", True), ("1", False), ("", False)):
        monkeypatch.setenv("ELMO_NATIVE", value)
        assert native.is_switched_off() is is_off


@needs_library
@pytest.mark.parametrize("name", ["avx2", "none"])
def test_training_passes_equal_torch_on_lower_tiers(name):
    with native_library(ELMO_INSTRUCTIONS=name):
        test_gate_passes_equal_torch(torch.float32, 1.5, 37, 129)
        test_sampled_softmax_equals_the_reference(torch.bfloat16, 37, 20)
        test_char_cnn_for_training_equals_the_trimmed_one_under_autograd("relu", 5)


def operations() -> dict[str, tuple[Callable, list[Tensor]]]:
    """Operations with a backward of their own, of (inputs, weights): their results and what they are given."""
    torch.manual_seed(0)
    weights = [torch.randn(48, 6), torch.randn(48, 8), torch.randn(48), torch.randn(8, 12)]
    ids = torch.randint(1, 20, (6, 10))
    targets, negatives = torch.tensor([3, 9, 1, 0, 5]), torch.tensor([1, 4, 5, 8])

    def window(inputs, *weights):
        state = inputs.new_zeros(3, 8), inputs.new_zeros(3, 12)
        return projected_lstm_window(inputs, *state, LayerWeights(*weights), LSTMSettings())[0]

    def softmax(outputs, weight, negative_weight):
        rows = (SoftmaxRows(one, one[:, 0], one.new_zeros(len(one))) for one in (weight, negative_weight))
        return sampled_softmax_mean(outputs, targets, next(rows), negatives, next(rows))

    return {
        "char_cnn": (
            lambda embedding, weight: best_windows(character_vectors(ids, embedding, 3), weight),
            [torch.randn(20, 4), torch.randn(5, 4, 3)],
        ),
        "window": (window, [torch.randn(4, 3, 6), *weights]),
        "softmax": (softmax, [torch.randn(5, 6), torch.randn(5, 6), torch.randn(4, 6)]),
        "full_softmax": (
            lambda outputs, *weights: full_softmax_mean(outputs, targets, *weights),
            [torch.randn(5, 6), torch.randn(12, 6), torch.randn(12)],
        ),
    }


def with_gradients(name: str, dtype: torch.dtype, *, autocast: bool = False) -> list[Tensor]:
    """The result of an operation and the gradients of all that it is given."""
    function, given = operations()[name]
    given = [(tensor / 3).to(dtype).requires_grad_() for tensor in given]
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        found = function(*given)
        gradients = torch.autograd.grad(found.float().square().sum(), given)
    return [tensor.detach().double() for tensor in (found, *gradients)]


@pytest.mark.parametrize("shape", [(3, 0, 6), (0, 2, 6)])
def test_a_window_without_rows_or_tokens_has_gradients(shape):
    inputs, weights = torch.zeros(*shape, requires_grad=True), operations()["window"][1][1:]
    state = torch.zeros(shape[1], 8), torch.zeros(shape[1], 12)
    outputs, *_ = projected_lstm_window(inputs, *state, LayerWeights(*weights), LSTMSettings())
    outputs.sum().backward()
    assert inputs.grad is not None and inputs.grad.shape == shape


@pytest.mark.parametrize("name", operations())
@pytest.mark.parametrize("way", ["float32", "bfloat16", "float16", "autocast"])
def test_every_type_and_autocast_stay_next_to_double_precision(name, way):
    """bfloat16 keeps 8 bits of each number: an error of 2^-8 of the largest, some steps long."""
    exact = with_gradients(name, torch.float64)
    dtype = torch.float32 if way == "autocast" else getattr(torch, way)
    bound = {"float32": 1e-5, "float16": 2e-2}.get(way, 1e-1)
    for found, expected in zip(with_gradients(name, dtype, autocast=way == "autocast"), exact, strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=bound * expected.abs().max().item())


@pytest.mark.parametrize(
    "name", ["window", "full_softmax", *(pytest.param(name, marks=needs_library) for name in ("char_cnn", "softmax"))]
)
def test_gradients_of_gradients_are_refused(name):
    function, given = operations()[name]
    given = [tensor.requires_grad_() for tensor in given]
    # A loss that is linear in the result has a gradient that needs none itself.
    for loss in (function(*given).square().sum(), function(*given).sum()):
        gradient = torch.autograd.grad(loss, given[-1], create_graph=True)[0]
        with pytest.raises(RuntimeError, match="can't be taken twice"):
            gradient.square().sum().backward()


@needs_library
def test_the_char_cnn_in_training_makes_no_number_of_a_nan():
    ids, embedding, weight = torch.tensor([[1, 2, 3, 0, 0, 0]]), torch.randn(4, 4), torch.randn(5, 4, 2)
    embedding[3] = torch.nan
    found = best_windows(character_vectors(ids, embedding.requires_grad_(), 2), weight)
    assert found.isnan().all()


@needs_library
@pytest.mark.parametrize("clip", [None, 3.0])
@pytest.mark.parametrize("cell", [torch.nan, torch.inf])
def test_gradients_of_cells_that_are_no_numbers_are_those_of_torch(clip, cell):
    def run() -> list[Tensor]:
        gates, cells = torch.full((1, 16), 0.4), torch.full((1, 4), 0.3)
        grad_cell, grad_gates, grad_bias = torch.ones(1, 4), torch.empty(1, 16), torch.zeros(16)
        backward_pass(gates, cells, torch.full((1, 4), cell), cells, cells, grad_cell, grad_gates, grad_bias, clip)
        return [grad_cell, grad_gates, grad_bias]

    for fast, plain in both_ways(run):
        torch.testing.assert_close(fast, plain)
