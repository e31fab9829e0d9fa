"""LSTM layers: laid out arrays as the structures that C reads, what a reading needs, and the call."""

import ctypes
import math
from typing import NamedTuple

import numpy as np

from elmo.errors import ConfigError
from elmo.ops.native.arguments import address, addresses_of, aligned, arguments, of_numpy
from elmo.ops.native.kinds import KINDS
from elmo.ops.native.library import Library, require_member
from elmo.ops.native.structures import (
    FLOAT,
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
from elmo.shapes import Float, Int, Shaped

_CELLS = 16  # of a panel of gates
_CACHE_LINE = 16  # in values of 32 bits
# numpy's flags: aligned; and writeable.
_READABLE, _WRITABLE = 0x100, 0x500


# Field by field as in inference/layer.h.
class _Layer(ctypes.Structure):
    _fields_ = [
        *fields(Packed, "input", "recurrent", "projection"),
        *fields(POINTER, "bias"),
        *fields(INTEGER, "dim", "size", "cell_size"),
        *fields(FLOAT, "cell_clip", "projection_clip"),
    ]


class _Sentences(ctypes.Structure):
    _fields_ = [*fields(POINTER, "begins", "ends", "hidden", "cell"), *fields(INTEGER, "count")]


class _Run(ctypes.Structure):
    _fields_ = [
        *fields(POINTER, "alive", "places", "inputs", "outputs", "hidden", "cell", "made", "work", "arrivals"),
        *fields(INTEGER, "steps", "input_stride", "output_stride", "skips", "rank", "team"),
        *fields(POINTER, "sentences"),
        *fields(INTEGER, "rows", "tokens", "positions"),
    ]


_STEPS = arguments(alive="int64 steps", places="int64 tokens")
_TURNS = arguments(begins="int32 tokens", ends="int32 tokens")
_STATE = arguments(hidden="float32 sentences size", cell="float32 sentences cell_size")


class Turns(NamedTuple):
    """Sentences that rows read one after the other. Both arrays are parallel to `Steps.places`."""

    begins: Int[np.ndarray, " tokens"]
    """The sentence that begins with this token, or -1: its state takes the place of the row's."""
    ends: Int[np.ndarray, " tokens"]
    """The sentence that ends with this token, or -1: it is handed the row's state."""


class Steps:
    """When some rows read which token. The arrays are checked here, once for all layers that read so.

    `alive`: rows that still have a token at each step; `places`: where each token's input and output are, all rows of
    step 0, then of step 1 ...; `turns`: None if each row reads one sentence.
    """

    __slots__ = ("addresses", "alive", "places", "rows", "turns")

    def __init__(
        self, alive: Int[np.ndarray, " steps"], places: Int[np.ndarray, " tokens"], turns: Turns | None = None
    ) -> None:
        sizes: dict[str, int] = {}
        found = addresses_of("elmo_fused_lstm", _STEPS, (alive, places), sizes)
        of_turns = (None, None) if turns is None else addresses_of("elmo_fused_lstm", _TURNS, turns, sizes)
        self.alive, self.places, self.turns = alive, places, turns
        self.addresses = (*found, *of_turns)
        """Of these four arrays, for C."""
        self.rows = require("rows at the first step", int(alive[0]) if len(alive) else 0, at_most=len(places))
        """Of the computation: those that read a token at the first step."""


class Team:
    """Threads that share the columns of a layer during one run, and the memory that they have in common."""

    __slots__ = ("addresses", "arrivals", "hidden", "made", "sizes", "steps", "threads")

    def __init__(self, threads: int, steps: Steps, size: int, cell_size: int) -> None:
        """For a layer with outputs of `size` values, which reads these steps."""
        self.threads = require("threads of a team", threads, at_least=1)
        self.steps, self.sizes = steps, (size, cell_size)
        self.made = aligned((steps.rows, cell_size), np.float32)
        self.hidden = aligned((steps.rows, size), np.float32) if steps.turns else None
        """Where rows that read several sentences keep their state."""
        self.arrivals = np.zeros((threads, _CACHE_LINE), np.int32)
        self.addresses = (
            self.hidden if self.hidden is None else address(self.hidden),
            address(self.made),
            address(self.arrivals),
        )


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
        (bias_place,) = addresses_of("elmo_fused_lstm", PADDED_BIAS, [bias], {"panels": panels}, of_numpy)
        self._functions, self._kind = library.functions, KINDS[input_weight.dtype]
        self._kept = matrices, bias
        self._dim, self._size, self._cell_size = dim, size, cell_size
        self._layer = _Layer(
            input_weight.packed,
            recurrent_weight.packed,
            projection_weight.packed if projection_weight else Packed(),
            bias_place,
            dim,
            size,
            cell_size,
            *(math.inf if clip is None else clip for clip in (cell_clip, projection_clip)),
        )

    def read(
        self,
        steps: Steps,
        inputs: Float[np.ndarray, "positions dim"],
        outputs: Float[np.ndarray, "positions size"],
        hidden: Float[np.ndarray, "sentences size"],
        cell: Float[np.ndarray, "sentences cell"],
        skips: bool,
        team: Team | None = None,
        rank: int = 0,
    ) -> None:
        """Reads all tokens, alone or as one thread of a team. `skips`: the inputs are added to the outputs."""
        if not len(steps.places):
            return
        input_stride = _row_stride("inputs", inputs, self._dim, _READABLE)
        output_stride = _row_stride("outputs", outputs, self._size, _WRITABLE)
        sizes = {"size": self._size, "cell_size": self._cell_size}
        hidden_at, cell_at = addresses_of("elmo_fused_lstm", _STATE, (hidden, cell), sizes)
        sentences, positions = sizes["sentences"], min(len(inputs), len(outputs))
        team = Team(1, steps, self._size, self._cell_size) if team is None else team
        require_member(rank, team.threads)
        if team.steps is not steps or team.sizes != (self._size, self._cell_size) or not positions:
            raise ConfigError(
                f"the team's memory is for outputs and cells of {team.sizes} and there are {positions} inputs and "
                f"outputs, but this layer and these steps need {(self._size, self._cell_size)} and at least one. Make "
                "the team for this reading."
            )
        if skips and self._dim != self._size:
            require("values of inputs that are added to the outputs", self._dim, equal=self._size)
        alive_at, places_at, begins_at, ends_at = steps.addresses
        room_at, made_at, arrivals_at = team.addresses
        rows, turns = steps.rows, None
        if steps.turns is None:
            rows = min(rows, sentences)
        else:
            turns = _Sentences(begins_at, ends_at, hidden_at, cell_at, sentences)
            hidden_at = room_at
        run = _Run(
            alive_at, places_at, address(inputs[0]), address(outputs[0]), hidden_at, cell_at, made_at, None,
            arrivals_at, len(steps.alive), input_stride, output_stride, skips, rank, team.threads,
            None if turns is None else ctypes.addressof(turns),
            rows, len(steps.places), positions,
        )  # fmt: skip
        layer, run_at = ctypes.byref(self._layer), ctypes.byref(run)
        work = aligned(self._functions.elmo_fused_lstm_work_bytes(layer, run_at), np.uint8)
        run.work = address(work)
        require_done(self._functions.elmo_fused_lstm(self._kind, layer, run_at), "alive", "places", "begins", "ends")


def _row_stride(name: str, array: Shaped[np.ndarray, "positions values"], width: int, flags: int) -> int:
    """How many values there are from row to row. A row has no gaps, and rows don't overlap."""
    if isinstance(array, np.ndarray) and array.dtype == np.float32 and array.shape[1:] == (width,):
        stride, step = array.strides
        has_gaps = (step != 4 and width > 1) or (len(array) > 1 and stride < 4 * width)
        if not has_gaps and array.flags.num & flags == flags:
            return stride // 4
    raise ConfigError(
        f"{name} is {getattr(array, 'dtype', type(array).__name__)} of shape {np.shape(array)} and strides "
        f"{getattr(array, 'strides', None)}, but this layer takes float32 of shape (positions, {width}), whose rows "
        "have no gaps, don't overlap and aren't locked: C would read or write beyond it. Pass a contiguous, writable "
        "array of this model's width."
    )
