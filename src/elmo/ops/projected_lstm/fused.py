"""Inference through the native library: all steps of a layer in one call, with float32, bfloat16 or int8 factors.

Source: native/inference/kernel.h. The torch version is `packed`, the specification `reference`; a row's
bits don't depend on the rows in the same batch. `can_fuse` says whether it can run.
"""

import ctypes
import math
from typing import Any, NamedTuple, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from elmo.ops import native
from elmo.ops.native.kinds import KINDS, ComputeType, native_types
from elmo.ops.product.native_product import PackedMatrix
from elmo.ops.product.panels import lay_out
from elmo.ops.product.version import weight_version
from elmo.ops.projected_lstm.cell import LayerWeights, LSTMSettings
from elmo.process.thread_lock import ThreadLock

_LANES = 16
_CACHE_LINE = 16  # in numbers of 32 bits


class _Layer(ctypes.Structure):
    """native/inference/layer.h, Layer"""

    _fields_ = [
        *((name, PackedMatrix) for name in ("input", "recurrent", "projection")),
        ("bias", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("dim", "size", "cell_size")),
        *((name, ctypes.c_float) for name in ("cell_clip", "projection_clip")),
    ]


class _Run(ctypes.Structure):
    """native/inference/layer.h, Run"""

    _fields_ = [
        *(
            (name, ctypes.c_void_p)
            for name in ("alive", "places", "inputs", "outputs", "hidden", "cell", "made", "work", "arrivals")
        ),
        *((name, ctypes.c_int64) for name in ("steps", "input_stride", "output_stride", "skips", "rank", "team")),
    ]


class Reading(NamedTuple):
    """What a layer reads and writes: rows that still have a token at each step are a prefix, longest first."""

    alive: Int[Tensor, " steps"]
    """Rows that still have a token."""
    places: Int[Tensor, " tokens"]
    """Where each token's input and output lie, all rows of step 0, then of step 1 ..."""
    inputs: Float[Tensor, "positions dim"]
    outputs: Float[Tensor, "positions projection"]
    """Rows without gaps in them, however far apart."""
    hidden: Float[Tensor, "batch projection"]
    cell: Float[Tensor, "batch cell"]
    """The state, brought up to date in place."""
    skips: bool
    """Whether the inputs are added to the outputs."""


class Shared(NamedTuple):
    """What the threads of a team have in common during one run."""

    made: Float[Tensor, "batch cell"]
    arrivals: Int[Tensor, "team numbers"]

    @classmethod
    def of(cls, team: int, reading: Reading) -> "Shared":
        """For `team` threads."""
        return cls(torch.empty_like(reading.cell), torch.zeros(team, _CACHE_LINE, dtype=torch.int32, device="cpu"))


class FusedLayer:
    """One layer of one direction, laid out. It does not see later changes of the weights; `fused_layer` does."""

    def __init__(self, weights: LayerWeights, settings: LSTMSettings, dtype: ComputeType) -> None:
        self.kind = KINDS[dtype]
        projection = None if weights.projection_weight is None else lay_out(weights.projection_weight, dtype)
        bias = weights.bias.detach().clone()
        bias[weights.cell_size : 2 * weights.cell_size] += settings.forget_bias
        self._kept = (
            lay_out(_gate_panels(weights.input_weight), dtype),
            lay_out(_gate_panels(weights.recurrent_weight), dtype),
            projection,
            _gate_panels(bias[:, None])[:, 0].contiguous(),
        )
        clips = (math.inf if clip is None else clip for clip in (settings.cell_clip, settings.projection_clip))
        self._layer = _Layer(
            *(PackedMatrix.of(panels) for panels in self._kept[:3]),
            self._kept[3].data_ptr(),
            weights.input_weight.shape[1],
            weights.recurrent_weight.shape[1],
            weights.cell_size,
            *clips,
        )

    @property
    def num_bytes(self) -> int:
        """Of the weights that every step reads."""
        read = [panels.weights for panels in self._kept[1:3] if panels is not None]
        return sum(weights.numel() * weights.element_size() for weights in read)

    def run(self, reading: Reading, shared: Shared | None = None, rank: int = 0) -> None:
        """Reads all tokens. Several threads that run at the same time, `rank` 0 to team - 1, share the columns."""
        if not len(reading.places):
            return
        shared = shared or Shared.of(1, reading)
        library = cast(Any, native.library())
        run = _Run(
            *(tensor.data_ptr() for tensor in reading[:6]),
            shared.made.data_ptr(),
            0,
            shared.arrivals.data_ptr(),
            len(reading.alive),
            reading.inputs.stride(0),
            reading.outputs.stride(0),
            reading.skips,
            rank,
            len(shared.arrivals),
        )
        size = library.elmo_fused_lstm_work_bytes(ctypes.byref(self._layer), ctypes.byref(run))
        work = torch.empty(size, dtype=torch.uint8, device="cpu")
        run.work = work.data_ptr()
        library.elmo_fused_lstm(self.kind, ctypes.byref(self._layer), ctypes.byref(run))


def _gate_panels(rows: Float[Tensor, "gates inner"]) -> Float[Tensor, "padded inner"]:
    """Gate rows in the order of the panels: the four gates of sixteen cells, then of the next sixteen."""
    size = rows.shape[0] // 4
    gates = rows.detach().view(4, size, -1)
    gates = torch.nn.functional.pad(gates, (0, 0, 0, -size % _LANES))
    return gates.view(4, -1, _LANES, rows.shape[1]).transpose(0, 1).reshape(-1, rows.shape[1])


_known: dict[tuple[ComputeType, LSTMSettings], WeakTensorKeyDictionary] = {}
_lock = ThreadLock()


def can_fuse(weights: LayerWeights, dtype: ComputeType) -> bool:
    """Whether a layer of these weights can run here: float32 on a CPU that has the instructions."""
    tensors = [tensor for tensor in weights if tensor is not None]
    return dtype in native_types() and all(one.device.type == "cpu" and one.dtype == torch.float32 for one in tensors)


def fused_layer(weights: LayerWeights, settings: LSTMSettings, dtype: ComputeType) -> FusedLayer:
    """The layer's `FusedLayer`, made at its first use and made anew when a weight was changed or trained.

    Several threads may ask at once: one of them lays the weights out, the others wait for it.
    """
    version = [weight_version(tensor) for tensor in weights if tensor is not None]
    known = _known.setdefault((dtype, settings), WeakTensorKeyDictionary())
    found = known.get(weights.recurrent_weight)
    if found is not None and found[0] == version:
        return found[1]
    with _lock:
        found = known.get(weights.recurrent_weight)
        if found is None or found[0] != version:
            found = (version, FusedLayer(weights, settings, dtype))
            known[weights.recurrent_weight] = found
    return found[1]
