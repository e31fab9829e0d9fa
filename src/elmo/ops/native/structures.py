"""Products, layers and token encoders: laid out arrays as the structures that C reads, and the calls that read them.

What is laid out is checked once, when a structure is filled; what a call reads and writes, at that call. A structure
holds addresses, so whoever fills it keeps the arrays.
"""

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from elmo.errors import ConfigError
from elmo.ops.native.arguments import addresses_of, arguments, of_numpy
from elmo.ops.native.kinds import FACTORS_IN_32_BITS, KINDS, ComputeType
from elmo.ops.native.library import ARRIVALS, Library, require_member
from elmo.ops.native.memory import address, aligned
from elmo.shapes import Float, Int, Shaped, UInt32

PANEL = 64
# numpy's flags: aligned; and writeable.
_READABLE, _WRITABLE = 0x100, 0x500
_CELLS = 16  # of a panel of gates
_INTEGER, _FLOAT, _POINTER = ctypes.c_int64, ctypes.c_float, ctypes.c_void_p


def _fields(kind: type, *names: str) -> list[tuple[str, type]]:
    return [(name, kind) for name in names]


# Field by field as in inference/layer.h.
class _Packed(ctypes.Structure):
    _fields_ = [*_fields(_POINTER, "weights", "scales", "sums"), *_fields(_INTEGER, "panels", "groups", "chunk")]


class _Layer(ctypes.Structure):
    _fields_ = [
        *_fields(_Packed, "input", "recurrent", "projection"),
        *_fields(_POINTER, "bias"),
        *_fields(_INTEGER, "dim", "size", "cell_size"),
        *_fields(_FLOAT, "cell_clip", "projection_clip"),
    ]


class _Sentences(ctypes.Structure):
    _fields_ = [*_fields(_POINTER, "begins", "ends", "hidden", "cell"), *_fields(_INTEGER, "count")]


class _Run(ctypes.Structure):
    _fields_ = [
        *_fields(_POINTER, "alive", "places", "inputs", "outputs", "hidden", "cell", "made", "work", "arrivals"),
        *_fields(_INTEGER, "steps", "input_stride", "output_stride", "skips", "rank", "team"),
        *_fields(_POINTER, "sentences"),
        *_fields(_INTEGER, "rows", "tokens", "positions"),
    ]


class _Encoder(ctypes.Structure):
    _fields_ = [
        *_fields(_POINTER, "embedding", "widths", "numbers", "filters", "filter_bias"),
        *_fields(_POINTER, "transforms", "gates", "transform_biases", "gate_biases"),
        *_fields(_Packed, "projection"),
        *_fields(_POINTER, "projection_bias"),
        *_fields(_INTEGER, "characters", "dim", "num_widths", "features", "num_highways", "size", "squashes"),
        *_fields(_INTEGER, "alphabet"),
    ]


_WEIGHTS = arguments(weights="uint32 panels groups 64")
_STEPS = arguments(scales="float32 64*panels", sums="int32 chunks 64*panels")
_PRODUCT = arguments(inputs="float32 rows inner", out="float32 rows 64*panels")
_PADDED = arguments(bias="float32 64*panels")
_READING = (
    *arguments(
        alive="int64 steps",
        places="int64 tokens",
        hidden="float32 sentences size",
        cell="float32 sentences cell_size",
        made="float32 rows cell_size",
    ),
    *ARRIVALS,
)
_TURNS = arguments(begins="int32 tokens", ends="int32 tokens", room="float32 rows size")
_CHARACTERS = arguments(embedding="float32 alphabet dim", filter_bias="float32 features")
_TOKENS = arguments(ids="int32 tokens characters")
_VECTORS = arguments(out="float32 tokens size")


class Matrix:
    """A weight in panels: products with it."""

    def __init__(
        self,
        library: Library,
        dtype: ComputeType,
        inner: int,
        weights: UInt32[np.ndarray, "panels groups 64"],
        scales: Float[np.ndarray, " outer"] | None,
        sums: Int[np.ndarray, "chunks outer"] | None,
        chunk: int,
    ) -> None:
        """As `engine.native.panels` lays it out; `inner`: values of a row that it is multiplied with."""
        require("a weight's columns", inner, at_least=1)
        require("chunk", chunk, at_least=1)
        groups = -(-inner // FACTORS_IN_32_BITS[dtype])
        sizes = {"groups": groups, "chunks": -(-groups // chunk)}
        places = addresses_of("elmo_product", _WEIGHTS, [weights], sizes, of_numpy)
        if dtype == "int8":
            places += addresses_of("elmo_product", _STEPS, [scales, sums], sizes, of_numpy)
        self._functions, self._kind = library.functions, KINDS[dtype]
        self._kept = weights, scales, sums
        self.dtype: ComputeType = dtype
        self.inner, self.panels, self.num_bytes = inner, sizes["panels"], weights.nbytes
        places += [None] * (3 - len(places))
        self.packed = _Packed(*places, self.panels, groups, chunk)
        """For the structures here."""

    def multiply(
        self,
        inputs: Float[np.ndarray, "rows inner"],
        bias: Float[np.ndarray, " outer"] | None,
        out: Float[np.ndarray, "rows outer"],
        first: int,
        last: int,
    ) -> None:
        """Writes inputs @ weight.T + bias into the columns of the panels from `first` to `last`."""
        sizes = {"inner": self.inner, "panels": self.panels}
        if not 0 <= first <= last <= self.panels:
            raise ConfigError(
                f"first and last are {first} and {last}, but the weight has {self.panels} panels of {PANEL} outputs. "
                "Name some of them, in order."
            )
        (from_place,) = addresses_of("elmo_product", _PRODUCT[:1], [inputs], sizes, of_numpy)
        (to_place,) = addresses_of("elmo_product", _PRODUCT[1:], [out], sizes)
        (bias_place,) = [None] if bias is None else addresses_of("elmo_product", _PADDED, [bias], sizes, of_numpy)
        matrix = ctypes.byref(self.packed)
        work = aligned(self._functions.elmo_product_work_bytes(matrix), np.uint8)
        _require_done(
            self._functions.elmo_product(
                self._kind, matrix, bias_place, from_place, sizes["rows"], self.inner, first, last, address(work),
                to_place,
            )
        )  # fmt: skip


class LSTMLayer:
    """One layer of one direction."""

    def __init__(
        self,
        library: Library,
        input_weight: Matrix,
        recurrent_weight: Matrix,
        projection_weight: Matrix | None = None,
        *,
        bias: Float[np.ndarray, " padded"],
        cell_size: int,
        cell_clip: float | None,
        projection_clip: float | None,
    ) -> None:
        """Gate rows of the weights and the bias in the order of the panels; None: no projection, no clip."""
        dim, size = input_weight.inner, recurrent_weight.inner
        panels = -(-cell_size // _CELLS)
        for name, weight in {"input_weight": input_weight, "recurrent_weight": recurrent_weight}.items():
            require(f"panels of {name}", weight.panels, equal=panels)
        if projection_weight is None:
            require("the cells of a layer without projection", cell_size, equal=size)
        else:
            require_matrix("projection_weight", projection_weight, cell_size, size)
        matrices = [input_weight, recurrent_weight, *([projection_weight] if projection_weight else [])]
        require_one_type(matrices)
        (bias_place,) = addresses_of("elmo_fused_lstm", _PADDED, [bias], {"panels": panels}, of_numpy)
        self._functions, self._kind = library.functions, KINDS[input_weight.dtype]
        self._kept = matrices, bias
        self._sizes = {"size": size, "cell_size": cell_size}
        self._dim = dim
        self._layer = _Layer(
            input_weight.packed,
            recurrent_weight.packed,
            projection_weight.packed if projection_weight else _Packed(),
            bias_place,
            dim,
            size,
            cell_size,
            *(math.inf if clip is None else clip for clip in (cell_clip, projection_clip)),
        )

    def read(
        self,
        alive: Int[np.ndarray, " steps"],
        places: Int[np.ndarray, " tokens"],
        inputs: Float[np.ndarray, "positions dim"],
        outputs: Float[np.ndarray, "positions size"],
        hidden: Float[np.ndarray, "sentences size"],
        cell: Float[np.ndarray, "sentences cell"],
        skips: bool,
        turns: tuple[Int[np.ndarray, " tokens"], Int[np.ndarray, " tokens"]] | None,
        made: Float[np.ndarray, "rows cell"],
        arrivals: Int[np.ndarray, "team 16"],
        room: Float[np.ndarray, "rows size"] | None,
        rank: int,
    ) -> None:
        """Reads all tokens (`engine.reading`), as one thread of a team. `room`: for the state of rows with `turns`."""
        sizes = self._sizes.copy()
        given = alive, places, hidden, cell, made, arrivals
        alive_at, places_at, hidden_at, cell_at, made_at, arrivals_at = addresses_of(
            "elmo_fused_lstm", _READING, given, sizes
        )
        input_stride = _row_stride("inputs", inputs, self._dim, _READABLE)
        output_stride = _row_stride("outputs", outputs, sizes["size"], _WRITABLE)
        positions = min(len(inputs), len(outputs))
        require_member(rank, sizes["team"])
        if skips:
            require("dim of a layer that adds its inputs to its outputs", self._dim, equal=sizes["size"])
        rows, sentences = sizes["rows"], None
        if turns is None:
            rows = min(rows, sizes["sentences"])
        else:
            begins_at, ends_at, room_at = addresses_of("elmo_fused_lstm", _TURNS, [*turns, room], sizes)
            sentences = _Sentences(begins_at, ends_at, hidden_at, cell_at, sizes["sentences"])
            hidden_at = room_at
        run = _Run(
            alive_at, places_at, address(inputs), address(outputs), hidden_at, cell_at, made_at, None, arrivals_at,
            sizes["steps"], input_stride, output_stride, skips, rank, sizes["team"],
            None if sentences is None else ctypes.addressof(sentences),
            rows, sizes["tokens"], positions,
        )  # fmt: skip
        layer, run_at = ctypes.byref(self._layer), ctypes.byref(run)
        work = aligned(self._functions.elmo_fused_lstm_work_bytes(layer, run_at), np.uint8)
        run.work = address(work)
        _require_done(self._functions.elmo_fused_lstm(self._kind, layer, run_at), "alive", "places", "begins", "ends")


class CharacterEncoder:
    """Characters -> convolutions -> maximum over positions -> highway layers -> projection."""

    def __init__(
        self,
        library: Library,
        embedding: Float[np.ndarray, "alphabet dim"],
        characters: int,
        filters: Sequence[tuple[int, int, Matrix]],
        filter_bias: Float[np.ndarray, " features"],
        highways: Sequence[Sequence[tuple[Matrix, Float[np.ndarray, " _"]]]],
        projection: tuple[Matrix, Float[np.ndarray, " _"], int] | None,
        *,
        squashes: bool,
    ) -> None:
        """`filters`: (width, number, weight); `highways`: of each layer the transform and the gate, (weight, bias)
        each; `projection`: (weight, bias, size); `squashes`: tanh, not relu.
        """
        sizes = {"features": sum(number for _, number, _ in filters)}
        places = addresses_of("elmo_encode_tokens", _CHARACTERS, [embedding, filter_bias], sizes, of_numpy)
        features, dim, alphabet = sizes["features"], sizes["dim"], sizes["alphabet"]
        for width, number, weight in filters:
            require("a filter's width", width, at_least=1, at_most=characters)
            require_matrix("a convolution's weight", weight, width * dim, number)
        linears = [linear for layer in highways for linear in layer]
        for weight, bias in linears:
            _require_linear("a highway layer's weight", weight, bias, features, features)
        if projection is not None:
            _require_linear("the projection's weight", *projection[:2], features, projection[2])
        matrices = [weight for *_, weight in filters] + [weight for weight, _ in linears]
        require_one_type(matrices + ([projection[0]] if projection else []))
        dtype = matrices[0].dtype
        if dtype == "int8" or (dtype == "bfloat16" and dim % 2):
            raise ConfigError(
                f"the factors are {dtype} and a character's vector has {dim} values, but windows must begin at whole "
                "groups of factors, and there are no int8 products here. Use float32, or bfloat16 with an even number."
            )
        self._functions, self._kind = library.functions, KINDS[dtype]
        self.size = projection[2] if projection else features
        self._sizes = {"characters": characters, "size": self.size}
        self._kept: list[Any] = [embedding, filter_bias, matrices, linears, projection]
        sides = [[layer[side] for layer in highways] for side in (0, 1)]
        self._encoder = _Encoder(
            places[0],
            self._array([width for width, *_ in filters], np.int64),
            self._array([number for _, number, _ in filters], np.int64),
            self._packed([weight for *_, weight in filters]),
            places[1],
            *(self._packed([weight for weight, _ in side]) for side in sides),
            *(self._array([address(bias) for _, bias in side], np.uint64) for side in sides),
            projection[0].packed if projection else _Packed(),
            address(projection[1]) if projection else None,
            characters, dim, len(filters), features, len(highways), self.size, squashes, alphabet,
        )  # fmt: skip

    def encode(self, ids: Int[np.ndarray, "tokens characters"], out: Float[np.ndarray, "tokens size"]) -> None:
        """Writes one vector for each token."""
        sizes = self._sizes.copy()
        (ids_at,) = addresses_of("elmo_encode_tokens", _TOKENS, [ids], sizes, of_numpy)
        (out_at,) = addresses_of("elmo_encode_tokens", _VECTORS, [out], sizes)
        encoder = ctypes.byref(self._encoder)
        work = aligned(self._functions.elmo_encode_work_bytes(encoder), np.uint8)
        _require_done(
            self._functions.elmo_encode_tokens(self._kind, encoder, ids_at, sizes["tokens"], address(work), out_at),
            "ids",
        )

    def _array(self, values: list[int], dtype: type) -> int:
        self._kept.append(np.array(values, dtype))
        return address(self._kept[-1])

    def _packed(self, matrices: Sequence[Matrix]) -> int:
        self._kept.append((_Packed * len(matrices))(*(matrix.packed for matrix in matrices)))
        return ctypes.addressof(self._kept[-1])


def _row_stride(name: str, array: Shaped[np.ndarray, "positions values"], width: int, flags: int) -> int:
    """How many values lie from row to row. A row has no gaps in it, and none lies in another."""
    if not isinstance(array, np.ndarray) or array.dtype != np.float32 or array.shape[1:] != (width,):
        raise ConfigError(
            f"{name} is {getattr(array, 'dtype', type(array).__name__)} of shape {np.shape(array)}, but this layer "
            f"takes float32 of shape (positions, {width}): C would read or write beyond it. Pass vectors of this "
            "model's width."
        )
    stride, step = array.strides
    if (step != 4 and width > 1) or (len(array) > 1 and stride < 4 * width) or array.flags.num & flags != flags:
        raise ConfigError(
            f"{name} has the strides {array.strides}, but a row of this layer must have no gaps, must not lie in "
            "another and must not be locked. Pass a contiguous, writable copy."
        )
    return stride // 4


def require(
    what: str, found: int, *, equal: int | None = None, at_least: int | None = None, at_most: int | None = None
) -> None:
    """Raises ConfigError for a number that doesn't fit the others of a layout."""
    low, high = (at_least, at_most) if equal is None else (equal, equal)
    if (low is None or found >= low) and (high is None or found <= high):
        return
    needed = f"must be {equal}" if equal is not None else f"must be from {low} to {high if high is not None else 'any'}"
    raise ConfigError(f"{what}: {found}, but {needed} here. Lay out the tensors of one model with its own config.")


def require_matrix(name: str, matrix: Matrix, inner: int, outer: int) -> None:
    """Raises ConfigError for a matrix of other sizes."""
    require(f"columns of {name}", matrix.inner, equal=inner)
    require(f"panels of {name}", matrix.panels, equal=-(-outer // PANEL))


def require_one_type(matrices: Sequence[Matrix]) -> None:
    """Raises ConfigError for matrices with factors of several types."""
    if len({matrix.dtype for matrix in matrices}) > 1:
        raise ConfigError(
            f"the weights have factors of {', '.join(sorted({matrix.dtype for matrix in matrices}))}, but C reads all "
            "of a layer alike. Lay them out with one type."
        )


def _require_linear(name: str, weight: Matrix, bias: Float[np.ndarray, " padded"], inner: int, outer: int) -> None:
    require_matrix(name, weight, inner, outer)
    addresses_of("elmo_encode_tokens", _PADDED, [bias], {"panels": weight.panels}, of_numpy)


def _require_done(wrong: int, *names: str) -> None:
    """Raises ConfigError if C has refused to read something."""
    if wrong < 0:
        raise ConfigError(
            "the native library has no products for this processor within the instruction sets that it may use now. "
            "Unset ELMO_INSTRUCTIONS, or set ELMO_NATIVE=0: then numpy computes."
        )
    if wrong:
        raise ConfigError(
            f"{names[wrong - 1]} leads out of the arrays that the native library reads and writes here. Pass values "
            "that count from 0 and stay within their tables, rows and sentences."
        )
