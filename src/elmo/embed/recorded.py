"""RecordedReading: a biLM on a GPU reads batches of a few shapes, each recorded as a CUDA graph.

A sentence of 30 tokens is read by some thousand small kernels, each of which takes longer to launch than to run; a
recording is one launch. A batch is filled up to the next of a few shapes, which changes vectors by rounding alone.
"""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from elmo.model.bilm import BiLM
from elmo.ops.native.kinds import ComputeType
from elmo.ops.product import RoundedProducts
from elmo.process.thread_lock import ThreadLock
from elmo.shapes import Float, Int

# Longer rows are rare, and a recording takes as long as some readings.
_MAX_TOKENS = 512
# A recording of the longest rows is some ten thousand kernels.
_MAX_RECORDINGS = 64


class _Shape(NamedTuple):
    rows: int
    tokens: int

    @property
    def positions(self) -> int:
        return self.rows * self.tokens


class RecordedReading:
    """Records a shape when it comes for the second time. Recordings are dropped when a weight has changed.

    Any number of threads may read.
    """

    def __init__(self, bilm: BiLM, dtype: ComputeType) -> None:
        self._bilm = bilm
        self._dtype: ComputeType = dtype
        self._lock = ThreadLock()
        self._weights: object = None
        self._seen: Counter[_Shape] = Counter()
        self._make_room(0)

    def __reduce__(self) -> tuple[Any, ...]:
        return RecordedReading, (self._bilm, self._dtype)  # recordings stay where they were made

    def _make_room(self, positions: int) -> None:
        """Buffers for batches of so many positions, which all recordings share: without them there is none."""
        self._graphs: dict[_Shape, torch.cuda.CUDAGraph] = {}
        self._pool = None
        self._room = positions
        config, device = self._bilm.config, self._bilm.device
        self._vectors = torch.zeros(positions, config.projection_size, device=device)
        self._lengths = torch.zeros(positions, dtype=torch.int64, device=device)
        self._layers = torch.empty(config.num_layers + 1, positions, config.output_dim, device=device)

    def read(
        self,
        vectors: Float[Tensor, "batch tokens projection"],
        lengths: Int[np.ndarray, " batch"],
        weights: object,
    ) -> Float[Tensor, "layers batch tokens dim"] | None:
        """All layers of rows that start from zeros; None if the batch's shape isn't recorded.

        `weights` differs when a weight has changed.
        """
        batch, tokens, _ = vectors.shape
        device = vectors.device
        if not 0 < tokens <= _MAX_TOKENS or batch == 0:
            return None
        if torch.cuda.current_stream(device) != torch.cuda.default_stream(device):
            return None  # one stream at a time may use the buffers
        shape = _Shape(_filled_up(batch), _filled_up(tokens))
        with self._lock.mutex:
            if weights is not self._weights:
                self._weights = weights
                self._seen.clear()
                self._make_room(0)
            self._seen[shape] += 1
            if self._seen[shape] == 1:
                return None
            if shape.positions > self._room:
                self._make_room(1 << (shape.positions - 1).bit_length())
            self._inputs(shape)[:batch, :tokens] = vectors
            self._lengths[: shape.rows] = 0
            self._lengths[:batch] = torch.from_numpy(lengths).to(device)
            graph = self._graphs.pop(shape, None) or self._recorded(shape)
            self._graphs[shape] = graph  # the last one used
            if len(self._graphs) > _MAX_RECORDINGS:
                del self._graphs[next(iter(self._graphs))]
            graph.replay()
            return self._outputs(shape)[:, :batch, :tokens].clone(memory_format=torch.contiguous_format)

    def _inputs(self, shape: _Shape) -> Float[Tensor, "rows tokens projection"]:
        return self._vectors[: shape.positions].view(*shape, -1)

    def _outputs(self, shape: _Shape) -> Float[Tensor, "layers rows tokens dim"]:
        return self._layers[:, : shape.positions].view(len(self._layers), *shape, -1)

    def _recorded(self, shape: _Shape) -> torch.cuda.CUDAGraph:
        def read() -> None:
            with RoundedProducts(self._dtype):
                found = self._bilm.contextualize(self._inputs(shape), self._lengths[: shape.rows], padded=True)
            self._outputs(shape).copy_(found.layers)

        read()  # what is made at a first use must not be recorded
        graph = torch.cuda.CUDAGraph()
        self._pool = self._pool or torch.cuda.graph_pool_handle()
        with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
            read()
        return graph


def _filled_up(count: int) -> int:
    """The next multiple of 8, from 64 on of a quarter of the power of two below: few sizes, and little is filling."""
    step = max(8, 1 << max(0, count.bit_length() - 3))
    return -(-count // step) * step
