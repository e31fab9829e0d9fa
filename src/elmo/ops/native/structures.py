"""The structures that the library's inference functions take, field by field as in inference/layer.h.

They hold addresses: whoever makes one keeps the arrays alive as long.
"""

import ctypes

_INTEGER, _FLOAT, _POINTER = ctypes.c_int64, ctypes.c_float, ctypes.c_void_p


def _fields(kind: type, *names: str) -> list[tuple[str, type]]:
    return [(name, kind) for name in names]


class Packed(ctypes.Structure):
    """A weight laid out in panels; one without addresses is a matrix that isn't there."""

    _fields_ = [*_fields(_POINTER, "weights", "scales", "sums"), *_fields(_INTEGER, "panels", "groups", "chunk")]


class Layer(ctypes.Structure):
    """The weights and constants of one layer of one direction."""

    _fields_ = [
        *_fields(Packed, "input", "recurrent", "projection"),
        *_fields(_POINTER, "bias"),
        *_fields(_INTEGER, "dim", "size", "cell_size"),
        *_fields(_FLOAT, "cell_clip", "projection_clip"),
    ]


class Run(ctypes.Structure):
    """What a layer reads and writes in one call."""

    _fields_ = [
        *_fields(_POINTER, "alive", "places", "inputs", "outputs", "hidden", "cell", "made", "work", "arrivals"),
        *_fields(_INTEGER, "steps", "input_stride", "output_stride", "skips", "rank", "team"),
        *_fields(_POINTER, "sentences"),
    ]


class Sentences(ctypes.Structure):
    """The sentences that the rows of a run read one after the other."""

    _fields_ = _fields(_POINTER, "begins", "ends", "hidden", "cell")


class Encoder(ctypes.Structure):
    """The weights of the token encoder, as far as it reads characters."""

    _fields_ = [
        *_fields(_POINTER, "embedding", "widths", "numbers", "filters", "filter_bias"),
        *_fields(_POINTER, "transforms", "gates", "transform_biases", "gate_biases"),
        *_fields(Packed, "projection"),
        *_fields(_POINTER, "projection_bias"),
        *_fields(_INTEGER, "characters", "dim", "num_widths", "features", "num_highways", "size", "squashes"),
    ]
