"""The characters' part of the token encoder: laid out arrays as the structure that C reads, and the call."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from elmo.errors import ConfigError
from elmo.ops.native.arguments import address, addresses_of, aligned, arguments, of_numpy
from elmo.ops.native.kinds import KINDS
from elmo.ops.native.library import Library
from elmo.ops.native.structures import (
    INTEGER,
    PADDED_BIAS,
    POINTER,
    Matrix,
    Packed,
    fields,
    require,
    require_done,
    require_matrix,
    require_one_type,
)
from elmo.shapes import Float, Int


# Field by field as in inference/layer.h.
class _Encoder(ctypes.Structure):
    _fields_ = [
        *fields(POINTER, "embedding", "widths", "numbers", "filters", "filter_bias"),
        *fields(POINTER, "transforms", "gates", "transform_biases", "gate_biases"),
        *fields(Packed, "projection"),
        *fields(POINTER, "projection_bias"),
        *fields(INTEGER, "characters", "dim", "num_widths", "features", "num_highways", "size", "squashes"),
        *fields(INTEGER, "alphabet"),
    ]


_CHARACTERS = arguments(embedding="float32 alphabet dim", filter_bias="float32 features")
_TOKENS = arguments(ids="int32 tokens characters")
_VECTORS = arguments(out="float32 tokens size")


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
            projection[0].packed if projection else Packed(),
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
        require_done(
            self._functions.elmo_encode_tokens(self._kind, encoder, ids_at, sizes["tokens"], address(work), out_at),
            "ids",
        )

    def _array(self, values: list[int], dtype: type) -> int:
        self._kept.append(np.array(values, dtype))
        return address(self._kept[-1])

    def _packed(self, matrices: Sequence[Matrix]) -> int:
        self._kept.append((Packed * len(matrices))(*(matrix.packed for matrix in matrices)))
        return ctypes.addressof(self._kept[-1])


def _require_linear(name: str, weight: Matrix, bias: Float[np.ndarray, " padded"], inner: int, outer: int) -> None:
    require_matrix(name, weight, inner, outer)
    addresses_of("elmo_encode_tokens", PADDED_BIAS, [bias], {"panels": weight.panels}, of_numpy)
