"""Products, LSTM layers and the characters of the token encoder through the C library, each in one call.

Source: ops/native/inference/kernel.h; the same in numpy is in `plain` and `token_encoder`. Rows don't depend on the
rows beside them, nor on the number of threads, to the last bit. `panels` lays the weights out.
"""

import functools
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from elmo.config import BiLMConfig, LSTMSettings
from elmo.engine.panels import PANEL, lay_out
from elmo.engine.row_packing import RowBatch
from elmo.engine.weight_store import LayerWeights, Tensors, Weight
from elmo.ops import native
from elmo.ops.native.arguments import aligned
from elmo.ops.native.character_encoder import CharacterEncoder
from elmo.ops.native.kinds import ComputeType
from elmo.ops.native.lstm import LSTMLayer, Team
from elmo.ops.native.structures import Matrix, require
from elmo.ops.native.threads import num_threads, run_parallel
from elmo.shapes import Float, Int

# Multiplications of one thread's share below which making a thread takes longer than it saves.
_MULTIPLICATIONS_OF_A_THREAD = 4_000_000
_LANES = 16
# Factors added up before they join the sum: short sums round less, and the LSTMs amplify the rounding of their inputs.
_CHUNK = 32
# Tokens of one thread's share below which making a thread takes longer than it saves.
_TOKENS_OF_A_THREAD = 64


class NativeProduct:
    """One weight (outer, inner), ready for products."""

    def __init__(self, weight: Weight, dtype: ComputeType) -> None:
        self.outer, self.inner = weight.shape
        self._matrix = lay_out(weight, dtype).matrix()

    def __call__(
        self, inputs: Float[np.ndarray, "rows inner"], bias: Float[np.ndarray, " outer"] | None = None
    ) -> Float[np.ndarray, "rows outer"]:
        """inputs @ weight.T + bias"""
        inputs = np.ascontiguousarray(inputs)
        require("values of an input", inputs.shape[-1], equal=self.inner)
        panels = self._matrix.panels
        out = aligned((len(inputs), PANEL * panels), np.float32)
        if bias is not None:
            bias = np.pad(bias, (0, PANEL * panels - self.outer))  # one of another length is refused below
        size = len(inputs) * PANEL * panels * self.inner
        parts = max(1, min(num_threads(), panels, size // _MULTIPLICATIONS_OF_A_THREAD))
        multiply = functools.partial(self._matrix.multiply, inputs, bias, out)
        run_parallel([functools.partial(multiply, *share) for share in _shares(panels, parts)])
        return out[:, : self.outer]


class NativeLayer:
    """One layer of one direction, laid out."""

    shares_columns = True
    """Several threads can run it together, each with some of the columns."""

    def __init__(self, weights: LayerWeights, settings: LSTMSettings, dtype: ComputeType) -> None:
        order, projection = _gate_order(weights.cell_size), weights.projection_weight
        read_once = lay_out(weights.input_weight, dtype, order).matrix()
        every_step = [lay_out(weights.recurrent_weight, dtype, order).matrix()]
        if projection is not None:
            every_step.append(lay_out(projection, dtype).matrix())
        self.num_bytes = sum(matrix.num_bytes for matrix in every_step)
        """Of the weights that every step reads."""
        self._layer = LSTMLayer(
            native.required_library(),
            read_once,
            *every_step,
            bias=np.where(order < 0, np.float32(0), weights.bias_with_forget(settings.forget_bias)[order]),
            cell_size=weights.cell_size,
            cell_clip=settings.cell_clip,
            projection_clip=settings.projection_clip,
        )

    def run(self, batch: RowBatch, team: Team | None = None, rank: int = 0) -> None:
        """Reads all tokens. Several threads that run at the same time, `rank` 0 to team - 1, share the columns."""
        self._layer.read(*batch, team, rank)


def _gate_order(size: int) -> Int[np.ndarray, " padded"]:
    """Gate rows in the order of the panels: the four gates of sixteen cells, then of the next sixteen; -1: no cell."""
    cells = np.arange(size + -size % _LANES)
    rows = np.where(cells < size, size * np.arange(4)[:, None] + cells, -1)
    return rows.reshape(4, -1, _LANES).swapaxes(0, 1).reshape(-1)


class NativeCharacters:
    """Convolutions, highway layers and, if `projects`, the projection: laid out."""

    def __init__(self, config: BiLMConfig, tensors: Tensors, dtype: ComputeType, *, projects: bool) -> None:
        self.size = config.projection_size if projects else config.num_filters
        filters = [
            (width, number, _matrix(in_order_of_characters(np.asarray(tensors[f"convolutions.{n}.weight"])), dtype))
            for n, (width, number) in enumerate(config.filters)
        ]
        self._encoder = CharacterEncoder(
            native.required_library(),
            np.ascontiguousarray(tensors["character_embedding"]),
            config.max_characters_per_token,
            filters,
            np.concatenate([tensors[f"convolutions.{n}.bias"] for n in range(len(filters))]),
            [
                [_linear(tensors, f"highways.{index}.{side}", dtype) for side in ("transform", "gate")]
                for index in range(config.num_highway)
            ],
            (*_linear(tensors, "projection", dtype), self.size) if projects else None,
            squashes=config.activation == "tanh",
        )

    @staticmethod
    def fits(config: BiLMConfig, dtype: ComputeType) -> bool:
        """Whether windows begin at whole groups of factors, as the library needs it."""
        return config.has_characters and (dtype == "float32" or config.character_dim % 2 == 0)

    def __call__(self, characters: Int[np.ndarray, "types characters"]) -> Float[np.ndarray, "types size"]:
        """One row for each token."""
        ids = np.ascontiguousarray(characters, np.int32)
        out = aligned((len(ids), self.size), np.float32)
        parts = max(1, min(num_threads(), len(ids) // _TOKENS_OF_A_THREAD))
        shares = [slice(*share) for share in _shares(len(ids), parts)]
        run_parallel([functools.partial(self._encoder.encode, ids[share], out[share]) for share in shares])
        return out


def _shares(size: int, parts: int) -> Iterator[tuple[int, int]]:
    """Where each of the threads' shares begins and ends."""
    return pairwise(size * part // parts for part in range(parts + 1))


def _matrix(weight: Weight, dtype: ComputeType) -> Matrix:
    panels = lay_out(weight, dtype)
    return (panels._replace(chunk=_CHUNK) if dtype == "float32" else panels).matrix()


def _linear(tensors: Tensors, name: str, dtype: ComputeType) -> tuple[Matrix, Float[np.ndarray, " padded"]]:
    bias = np.asarray(tensors[f"{name}.bias"])
    return _matrix(tensors[f"{name}.weight"], dtype), np.pad(bias, (0, -len(bias) % PANEL))


def in_order_of_characters(weight: Float[np.ndarray, "filters dim width"]) -> Float[np.ndarray, "filters span"]:
    """As in the windows: one character's vector after the other."""
    return np.ascontiguousarray(weight.swapaxes(1, 2)).reshape(len(weight), -1)
