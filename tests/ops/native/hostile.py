"""Calls everything that reaches C with wrong arguments: python hostile.py GROUP [LIBRARY [FAULT]]

Each argument in turn is replaced by one of another type, shape, memory layout or with other values. A call must raise,
or give what the same values give in a plain call; where a group has an oracle, what that says in float64. Prints every
call before it is made, and a line with SILENT for each that did neither. LIBRARY: another build of the C files.
FAULT: one of `FAULTS`, a check that is switched off first.
"""

import functools
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from elmo.config import BiLMConfig, LSTMSettings
from elmo.engine import engine as engines
from elmo.engine.engine import Engine, State
from elmo.engine.native import NativeLayer, NativeProduct
from elmo.engine.panels import lay_out
from elmo.engine.plain import PlainLayer
from elmo.engine.row_packing import RowBatch
from elmo.engine.weight_store import layer_weights
from elmo.ops import native
from elmo.ops.native import arguments
from elmo.ops.native.lstm import Steps, Turns
from elmo.weights.shapes import network_shapes

ERRORS = (ValueError, TypeError, RuntimeError, IndexError, AttributeError, NotImplementedError, AssertionError)
CONFIG = BiLMConfig(cell_size=16, projection_size=8, filters=((1, 4), (2, 4)), character_dim=4, num_highway=1)


class Group(NamedTuple):
    """One function, and arguments that it takes."""

    call: Callable[..., Any]
    good: Mapping[str, Any]
    oracle: Callable[..., Any] | None = None
    points: bool = True
    """Whether its whole numbers say where something lies."""


class Variant(NamedTuple):
    """Another value of one argument; `same`: its values mean the same."""

    name: str
    value: Any
    same: bool = False


def numpy_variants(good: np.ndarray, points: bool) -> Iterator[Variant]:
    """Of an array."""
    dtypes = ["f8", "f2", "i1", "i2", "i4", "i8", "u1", "u4", "u8", "?", "c8", "O", "U8", good.dtype.newbyteorder()]
    for dtype in dtypes:
        if np.dtype(dtype) == good.dtype and np.dtype(dtype).isnative:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = good.astype(dtype)
            same = other.dtype.kind not in "OU" and bool((other == good).all())
        yield Variant(f"type {np.dtype(dtype)}", other, same)
    yield Variant("one axis more", good[None].copy())
    yield Variant("flat", good.ravel().copy(), good.ndim == 1)
    yield Variant("one value", good.ravel()[:1].copy()[0] if good.size else None)
    for axis in range(good.ndim):
        cut = np.delete(good, -1, axis) if good.shape[axis] else good
        yield Variant(f"axis {axis} shorter", cut, good.shape[axis] == 0)
        yield Variant(f"axis {axis} longer", np.concatenate([good, np.take(good, [0], axis)], axis))
        yield Variant(f"axis {axis} empty", np.take(good, [], axis), good.shape[axis] == 0)
        if good.ndim > 1:
            yield Variant(
                f"axis {axis} huge and empty",
                np.empty([2**40 if n == axis else 0 for n in range(good.ndim)], good.dtype),
            )
        one = np.take(good, [0], axis)
        yield Variant(f"axis {axis} repeated", np.broadcast_to(one, good.shape), bool((one == good).all()))
        yield Variant(f"axis {axis} backward in memory", np.flip(np.flip(good, axis).copy(), axis), True)
        apart = np.repeat(good, 2, axis)
        yield Variant(
            f"axis {axis} with gaps", apart[tuple(slice(None, None, 1 + (n == axis)) for n in range(good.ndim))], True
        )
    yield Variant("columns first", np.asfortranarray(good), True)
    room = np.empty(good.nbytes + 1, np.uint8)
    odd = room[1:].view(good.dtype).reshape(good.shape)
    odd[...] = good
    yield Variant("between addresses", odd, True)
    locked = good.copy()
    locked.flags.writeable = False
    yield Variant("locked", locked, True)
    if points and good.dtype.kind in "iu" and good.size:
        for value in (-1, -2, -(2**31), 2**31 - 1, 40, 10**6, -(2**63), 2**63 - 1):
            if np.iinfo(good.dtype).min <= value <= np.iinfo(good.dtype).max:
                for place in (0, -1):
                    wrong = good.copy()
                    wrong.ravel()[place] = value
                    yield Variant(f"value {value} at {place}", wrong)
    for name, other in (("none", None), ("list", good.tolist()), ("text", "text"), ("number", 3), ("object", object())):
        yield Variant(name, other, name == "list")


def torch_variants(good: Any) -> Iterator[Variant]:
    """Of a tensor."""
    import torch

    for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.int32, torch.int64, torch.uint8,
                  torch.bool, torch.complex64):  # fmt: skip
        if dtype != good.dtype:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                other = good.to(dtype)
            yield Variant(f"type {dtype}", other, bool(torch.equal(other.to(good.dtype), good)))
    yield Variant("one axis more", good[None].clone())
    yield Variant("flat", good.reshape(-1).clone(), good.ndim == 1)
    yield Variant("one value", good.reshape(-1)[:1].clone()[0])
    for axis, size in enumerate(good.shape):
        yield Variant(f"axis {axis} shorter", good.narrow(axis, 0, size - 1).clone())
        yield Variant(f"axis {axis} longer", torch.cat([good, good.narrow(axis, 0, 1)], axis))
        yield Variant(f"axis {axis} empty", good.narrow(axis, 0, 0).clone())
        one = good.narrow(axis, 0, 1).clone()
        yield Variant(f"axis {axis} repeated", one.expand_as(good), bool((one == good).all()))
        yield Variant(
            f"axis {axis} with gaps",
            good.repeat_interleave(2, axis)[(slice(None),) * axis + (slice(None, None, 2),)],
            True,
        )
    if good.ndim == 2:
        yield Variant("columns first", good.t().contiguous().t(), True)
    if good.is_floating_point():
        yield Variant("negated later", torch._neg_view(-good), True)
        yield Variant("with a gradient", good.clone().requires_grad_(), True)
    if good.dtype in (torch.int32, torch.int64):
        for value in (-2, -(2**31), 2**31 - 1, 40, 10**6):
            wrong = good.clone()
            wrong.view(-1)[-1] = value
            yield Variant(f"value {value}", wrong)
    yield Variant("sparse", good.to_sparse() if good.is_floating_point() else None)
    yield Variant("meta", good.to("meta"))
    for name, other in (("none", None), ("numpy", good.float().numpy()), ("text", "text"), ("number", 3)):
        yield Variant(name, other)


def arrays_of(result: Any) -> list[np.ndarray]:
    """All arrays and tensors of a result, in float64."""
    if result is None:
        return []
    if isinstance(result, (tuple, list)):
        return [array for part in result for array in arrays_of(part)]
    if not isinstance(result, np.ndarray):
        result = result.detach().double().numpy()
    return [result.astype(np.float64)]


def agrees(found: list[np.ndarray], expected: list[np.ndarray]) -> bool:
    """To what bfloat16 keeps, because torch may compute in it where it is asked to."""
    return len(found) == len(expected) and all(
        one.shape == other.shape and np.allclose(one, other, rtol=0.05, atol=0.05, equal_nan=True)
        for one, other in zip(found, expected, strict=True)
    )


def copy_of(value: Any) -> Any:
    """In memory of its own."""
    return value.copy() if type(value) is np.ndarray else value.clone() if hasattr(value, "clone") else value


def run(name: str, group: Group) -> int:
    """How many calls were silent."""
    expected = arrays_of(group.call(**{key: copy_of(value) for key, value in group.good.items()}))
    silent = calls = refused = 0
    for argument, good in group.good.items():
        variants = numpy_variants(good, group.points) if isinstance(good, np.ndarray) else torch_variants(good)
        for variant in variants:
            print(f"{name}: {argument}: {variant.name}", flush=True)
            calls += 1
            given = {key: copy_of(value) for key, value in group.good.items()} | {argument: variant.value}
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = arrays_of(group.call(**given))
            except ERRORS as error:
                refused += 1
                if not str(error) and not isinstance(error, AssertionError):
                    print(f"SILENT: {name}: {argument}: {variant.name}: {error!r}", flush=True)
                    silent += 1
                continue
            if not _is_right(group, given, variant, found, expected):
                print(f"SILENT: {name}: {argument}: {variant.name}", flush=True)
                silent += 1
    print(f"{name}: {calls} calls, {refused} refused, {silent} silent", flush=True)
    return silent


def _is_right(group: Group, given: dict, variant: Variant, found: list[np.ndarray], expected: list[np.ndarray]) -> bool:
    if group.oracle is None:
        return variant.same and agrees(found, expected)
    try:
        return agrees(found, arrays_of(group.oracle(**given)))
    except ERRORS:
        return False


# --- the engine ---

CHANCE = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return CHANCE.standard_normal(shape).astype(np.float32)


def tensors() -> dict[str, np.ndarray]:
    return {name: normal(*shape) / np.float32(shape[-1] ** 0.5) for name, shape in network_shapes(CONFIG)}


def exact_engine(given: Mapping[str, np.ndarray]) -> Engine:
    return Engine(CONFIG, {name: tensor.astype(np.float64) for name, tensor in given.items()})


def checked_call(exact: Engine, vectors: Any, lengths: Any, hidden: Any, cell: Any, *, packed: bool) -> Any:
    """The oracle: its own reading of what belongs together, then numpy in float64."""
    vectors, hidden, cell = (np.asarray(array, np.float64) for array in (vectors, hidden, cell))
    assert np.asarray(lengths).dtype.kind in "iu"
    counts = [int(length) for length in lengths]
    assert vectors.ndim == 3 - packed
    assert vectors.shape[-1] == CONFIG.projection_size
    if packed:
        assert sum(counts) == len(vectors)
        assert min(counts, default=0) >= 0
    else:
        assert len(counts) == len(vectors)
        assert all(0 <= count <= vectors.shape[1] for count in counts)
    state = State(np.ascontiguousarray(hidden), np.ascontiguousarray(cell))
    for array, width in ((hidden, 16), (cell, 32)):
        assert array.shape == (2, len(counts), width)
    return (exact.contextualize_packed if packed else exact.contextualize)(vectors, np.array(counts, np.int64), state)


def engine_groups() -> dict[str, Group]:
    given = tensors()
    engine, exact = Engine(CONFIG, given), exact_engine(given)
    state = {"hidden": normal(2, 3, 16), "cell": normal(2, 3, 32)}
    padded = {"vectors": normal(3, 6, 8), "lengths": np.array([6, 0, 3]), **state}
    packed = {"vectors": normal(9, 8), "lengths": np.array([6, 0, 3]), **state}
    many = {"vectors": normal(40, 5, 8), "lengths": np.array([5, 1, 2, 4, 3] * 8), "hidden": normal(2, 40, 16),
            "cell": normal(2, 40, 32)}  # fmt: skip
    ids = np.full((5, 50), 261, np.int16)
    ids[:, :5] = [259, 7, 8, 9, 260]

    def padded_call(vectors: Any, lengths: Any, hidden: Any, cell: Any) -> Any:
        return engine.contextualize(vectors, lengths, State(hidden, cell))

    def packed_call(vectors: Any, lengths: Any, hidden: Any, cell: Any) -> Any:
        return engine.contextualize_packed(vectors, lengths, State(hidden, cell))

    oracle = functools.partial(checked_call, exact, packed=False)

    def id_oracle(characters: Any) -> Any:
        assert np.asarray(characters).dtype.kind in "iu"
        characters = np.array([[int(one) for one in row] for row in characters], np.int64).reshape(-1, 50)
        assert all(0 <= one < CONFIG.num_characters for one in characters.ravel().tolist())
        return exact.token_vectors(characters)

    def one_direction(vectors: Any, lengths: Any, hidden: Any, cell: Any) -> Any:
        return engine._contextualized(engine.stacks()[:1], vectors, lengths, State(hidden, cell))

    one = {**padded, "hidden": normal(2, 3, 8), "cell": normal(2, 3, 16)}
    return {
        "Engine.contextualize": Group(padded_call, padded, oracle),
        "Engine.contextualize of many rows": Group(padded_call, many, oracle),
        "Engine.contextualize_packed": Group(packed_call, packed, functools.partial(checked_call, exact, packed=True)),
        "contextualize of one direction": Group(one_direction, one, functools.partial(_one_direction_of, exact)),
        "Engine.token_vectors": Group(engine.token_vectors, {"characters": ids}, id_oracle),
        "Engine": Group(
            lambda **changed: _embedded(changed, ids), dict(given), lambda **changed: _embedded(_exact(changed), ids)
        ),
    }


def _one_direction_of(exact: Engine, vectors: Any, lengths: Any, hidden: Any, cell: Any) -> Any:
    wide = [np.concatenate([np.asarray(array)] * 2, axis=2) for array in (hidden, cell)]
    assert np.asarray(hidden).shape[2:] == (8,)
    layers, state = checked_call(exact, vectors, lengths, *wide, packed=False)
    return layers[..., :8], [state.hidden[..., :8], state.cell[..., :16]]


def _exact(given: Mapping[str, Any]) -> dict[str, np.ndarray]:
    for name, shape in network_shapes(CONFIG):
        assert given[name].shape == shape
    return {name: tensor.astype(np.float64) for name, tensor in given.items()}


def _embedded(given: Mapping[str, Any], ids: np.ndarray) -> Any:
    engine = Engine(CONFIG, given)
    return engine.contextualize_packed(engine.token_vectors(ids), np.array([3, 2]))


def structure_groups() -> dict[str, Group]:
    """The layers below the engine, which it alone calls."""
    given = tensors()
    library = native.required_library()
    weights = layer_weights(given, "forward", 0)
    layer = NativeLayer(weights, LSTMSettings(1.0, 3.0, 3.0), "float32")
    plain = PlainLayer(weights, LSTMSettings(1.0, 3.0, 3.0), "float32")
    row = Steps(np.array([2, 2, 1]), np.array([0, 3, 1, 4, 2]))
    turns = Turns(np.array([0, 1, -1, -1, 2], np.int32), np.array([-1, -1, 0, 1, 2], np.int32))
    state = {"hidden": normal(3, 8), "cell": normal(3, 16)}
    arrays = {"inputs": normal(5, 8), "outputs": np.zeros((5, 8), np.float32), **state}
    product, panels = NativeProduct(normal(70, 9), "int8"), lay_out(normal(70, 9), "int8")
    bias = np.pad(normal(70), (0, 58))

    def read(inputs: Any, outputs: Any, hidden: Any, cell: Any) -> Any:
        hidden, cell = copy_of(hidden), copy_of(cell)
        layer.run(RowBatch(row, inputs, outputs, hidden, cell, True))
        return outputs[:5], hidden, cell

    def in_turn(by: NativeLayer | PlainLayer, alive: Any, places: Any, begins: Any, ends: Any) -> Any:
        reading = RowBatch(Steps(alive, places, Turns(begins, ends)), *(copy_of(one) for one in arrays.values()), False)
        by.run(reading)
        return reading.outputs, reading.hidden, reading.cell

    def multiply(inputs: Any, bias: Any, out: Any) -> Any:
        product._matrix.multiply(inputs, bias, out, 0, 2)
        return out

    def multiply_plainly(inputs: Any, bias: Any, out: Any) -> Any:
        assert out.shape == (len(inputs), 128)
        assert np.shape(bias) in ((128,), ())
        return np.pad(_product_of(product, inputs, None), ((0, 0), (0, 58))) + (0 if bias is None else bias)

    def laid_out(weights: Any, scales: Any, sums: Any) -> Any:
        out = np.zeros((3, 128), np.float32)
        panels._replace(weights=weights, scales=scales, sums=sums).matrix().multiply(
            np.ones((3, 9), np.float32), None, out, 0, 2
        )
        return out

    def leave(arrivals: Any) -> Any:
        library.leave(arrivals, 1)

    def leave_nobody(arrivals: Any) -> None:
        assert arrivals.dtype == np.int32
        assert arrivals.shape[0] > 1
        assert arrivals.shape[1:] == (16,)
        assert arrivals.flags.c_contiguous

    def read_nothing(array: Any) -> None:
        assert array.dtype == np.uint8
        assert array.ndim == 1
        assert len(array) % 256 == 0
        assert array.flags.c_contiguous

    steps = {"alive": row.alive, "places": row.places, "begins": turns.begins, "ends": turns.ends}

    def read_plainly(inputs: Any, outputs: Any, hidden: Any, cell: Any) -> Any:
        assert min(len(inputs), len(outputs)) >= 5
        outputs, hidden, cell = np.zeros_like(outputs), copy_of(hidden), copy_of(cell)
        plain.run(RowBatch(row, inputs, outputs, hidden, cell, True))
        return outputs[:5], hidden, cell

    return {
        "NativeLayer.run": Group(read, arrays, read_plainly),
        "Steps": Group(functools.partial(in_turn, layer), steps, functools.partial(in_turn, plain)),
        "Matrix.multiply": Group(
            multiply, {"inputs": normal(3, 9), "bias": bias, "out": np.zeros((3, 128), np.float32)}, multiply_plainly
        ),
        "NativeProduct": Group(
            product,
            {"inputs": normal(3, 9), "bias": bias[:70]},
            lambda inputs, bias: _product_of(product, inputs, bias),
        ),
        "Matrix": Group(
            laid_out, {"weights": panels.weights, "scales": panels.scales, "sums": panels.sums}, points=False
        ),
        "Library.leave": Group(leave, {"arrivals": np.zeros((2, 16), np.int32)}, leave_nobody, points=False),
        "Library.read": Group(library.read, {"array": np.zeros(512, np.uint8)}, read_nothing, points=False),
    }


# --- with torch ---


def pass_groups() -> dict[str, Group]:
    """Every version of every pass in the table, with arrays made from it."""
    import torch

    from elmo.ops.native.library import PASSES

    known = {"rows": 3, "size": 5, "negatives": 4, "types": 3, "positions": 6, "filters": 4, "row_size": 24, "span": 8}
    known |= {"dim": 4}
    groups = {}
    for name, versions in PASSES.items():
        for version in versions.values():
            good = {}
            for argument in version.arguments:
                shape = [times * known[size] for times, size in argument.axes]
                good[argument.name] = torch.rand(shape).bfloat16().to(getattr(torch, argument.dtype))
            sizes = {"dim": 4} if "dim" in version.sizes else {}

            run_pass = functools.partial(_run_pass, name, (0.5,) * len(version.numbers), sizes)
            oracle = _maximum if name == "max_over_positions" else None
            groups[version.name] = Group(run_pass, good, oracle)
    return groups


def _run_pass(name: str, numbers: tuple[float, ...], sizes: dict[str, int], **given: Any) -> Any:
    from elmo.ops import native_passes

    native_passes.run(name, *given.values(), numbers=numbers, **sizes)
    return list(given.values())


def _maximum(scores: Any, best: Any, place: Any) -> Any:
    import torch

    assert [tensor.dtype for tensor in (scores, best, place)] == [torch.float32, torch.float32, torch.int32]
    assert best.shape == place.shape == scores.shape[::2]
    return scores, *scores.max(dim=1)


def operation_groups() -> dict[str, Group]:
    """The operations of training, against their plain versions in float64."""
    import torch

    from elmo.ops.char_cnn import best_windows, character_vectors
    from elmo.ops.projected_lstm import LayerWeights, projected_lstm_reference, projected_lstm_window
    from elmo.ops.sampled_softmax import SoftmaxRows, sampled_softmax_mean, sampled_softmax_reference

    torch.manual_seed(0)

    def in_doubles(given: Mapping[str, Any]) -> dict[str, Any]:
        # Values that mean the same: whole numbers and narrower floats alike.
        floats = {name: one for name, one in given.items() if one is not None and one.is_floating_point()}
        return {**given, **{name: one.detach().to_dense().double() for name, one in floats.items()}}

    def as_it_is(function: Callable, **given: Any) -> Any:
        return function(**given)

    def char_cnn_training(ids: Any, embedding: Any, weight: Any) -> Any:
        return best_windows(character_vectors(ids, embedding, weight.shape[2]), weight)

    def char_cnn_reference(ids: Any, embedding: Any, weight: Any) -> Any:
        if not len(weight):
            return embedding.new_zeros(len(ids), 0) + weight.sum()
        vectors = torch.nn.functional.embedding(ids, embedding).transpose(1, 2)
        return torch.nn.functional.conv1d(vectors, weight).amax(dim=2)

    def window(inputs: Any, hidden: Any, cell: Any, **weights: Any) -> Any:
        return projected_lstm_window(inputs, hidden, cell, LayerWeights(**weights), LSTMSettings())

    def window_reference(inputs: Any, hidden: Any, cell: Any, **weights: Any) -> Any:
        tokens, batch, _ = inputs.shape
        assert hidden.shape == (batch, 8)
        assert cell.shape == (batch, 12)
        lengths = torch.full((batch,), tokens)
        out, new_hidden, new_cell = projected_lstm_reference(
            inputs.transpose(0, 1), lengths, hidden, cell, LayerWeights(**weights), LSTMSettings()
        )
        also_without_a_token = 0 * weights["input_weight"].sum()
        return out.transpose(0, 1) + also_without_a_token, new_hidden, new_cell

    def softmax(function: Callable, outputs: Any, target_ids: Any, weight: Any, bias: Any, negative_ids: Any,
                negative_weight: Any, negative_bias: Any) -> Any:  # fmt: skip
        zeros = torch.zeros(5, dtype=bias.dtype), torch.zeros(4, dtype=bias.dtype)
        found = function(outputs, target_ids, SoftmaxRows(weight, bias, zeros[0]), negative_ids,
                         SoftmaxRows(negative_weight, negative_bias, zeros[1]))  # fmt: skip
        return found.mean()

    def both(function: Callable, fast: Callable, plain: Callable, good: dict[str, Any]) -> Group:
        def call(**given: Any) -> Any:
            return _with_gradients(lambda **some: function(fast, **some), given)

        def oracle(**given: Any) -> Any:
            return _with_gradients(lambda **some: function(plain, **some), in_doubles(given))

        return Group(call, good, oracle)

    ids = torch.stack([torch.randperm(19)[:10] + 1 for _ in range(6)])  # no two windows of a row are alike
    lstm = {"input_weight": torch.randn(48, 6) / 3, "recurrent_weight": torch.randn(48, 8) / 3, "bias": torch.randn(48),
            "projection_weight": torch.randn(8, 12) / 3}  # fmt: skip
    return {
        "best_windows": both(
            as_it_is, char_cnn_training, char_cnn_reference,
            {"ids": ids, "embedding": torch.randn(20, 4), "weight": torch.randn(5, 4, 3)},
        ),
        "projected_lstm_window": both(
            as_it_is, window, window_reference,
            {"inputs": torch.randn(4, 3, 6), "hidden": torch.randn(3, 8), "cell": torch.randn(3, 12), **lstm},
        ),
        "sampled_softmax_mean": both(
            softmax, sampled_softmax_mean, sampled_softmax_reference,
            {"outputs": torch.randn(5, 6), "target_ids": torch.tensor([3, 9, 1, 0, 5]), "weight": torch.randn(5, 6),
             "bias": torch.randn(5), "negative_ids": torch.tensor([1, 4, 5, 8]), "negative_weight": torch.randn(4, 6),
             "negative_bias": torch.randn(4)},
        ),
    }  # fmt: skip


def _with_gradients(function: Callable, given: Mapping[str, Any]) -> Any:
    """The result, and the gradient of the first weight."""
    import torch

    given = dict(given)
    weight = next(name for name in given if name in ("weight", "input_weight"))
    if torch.is_tensor(given[weight]) and given[weight].is_floating_point():
        given[weight] = given[weight].detach().requires_grad_()
    result = function(**given)
    outputs = result[0] if isinstance(result, tuple) else result
    if torch.is_tensor(given[weight]) and outputs.requires_grad:
        return result, torch.autograd.grad(outputs.double().sum(), given[weight])[0]
    return result


def _product_of(product: NativeProduct, inputs: Any, bias: Any) -> Any:
    inputs = np.asarray(inputs)
    assert inputs.dtype.kind in "fiu?"
    assert inputs.shape[1:] == (9,)
    assert np.shape(bias) in ((70,), ())
    columns = np.eye(9, dtype=np.float32)
    weight = product(columns).T  # as it was rounded
    return inputs.astype(np.float64) @ weight.T + (0 if bias is None else np.asarray(bias, np.float64))


GROUPS = {
    "engine": engine_groups,
    "structures": structure_groups,
    "passes": pass_groups,
    "operations": operation_groups,
}


# --- faults that the calls above must find ---


def forget_sizes() -> None:
    """Arrays of any size pass."""

    def agree(axes: Any, shape: Any, sizes: dict) -> bool:
        for (times, size), length in zip(axes, shape, strict=True):
            sizes.setdefault(size, length // times)
        return True

    arguments._agree = agree


def forget_types() -> None:
    """C reads half of the numbers of bfloat16 as float32."""
    import torch

    from elmo.ops import native_passes

    native_passes._TYPES[torch.bfloat16] = "float32"


def forget_lengths() -> None:
    """Lengths of any size pass; what the library itself looks at stays."""
    engines.checked_rows = lambda config, directions, dtype, vectors, lengths, state, **_: lengths


def forget_memory() -> None:
    """Rows with gaps pass as if there were none."""
    arguments._READABLE = arguments._WRITABLE = 0


FAULTS = {fault.__name__: fault for fault in (forget_sizes, forget_types, forget_lengths, forget_memory)}


if __name__ == "__main__":
    wanted, *more = sys.argv[1:]
    if more and more[0]:
        native.LIBRARY = Path(more[0])
    assert native.library() is not None
    if more[1:]:
        FAULTS[more[1]]()
    found = sum(run(name, group) for name, group in GROUPS[wanted]().items())
    print(f"{found} silent")
    sys.exit(1 if found else 0)
