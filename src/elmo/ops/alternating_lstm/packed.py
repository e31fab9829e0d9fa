"""The alternating LSTM without padding: the rows are sorted by length once, and all layers read packed tokens.

Packed tokens lie step by step: all rows' first tokens, then the second ones of the rows that have one, and so on. As
the rows are sorted, those that are alive at a step are always the first ones, whichever way a layer reads: a row that
reads from the right joins, with its starting state, at the step of its last token.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from elmo.errors import ConfigError
from elmo.ops import native_passes
from elmo.ops.alternating_lstm.layer import Step, highway_layer
from elmo.ops.alternating_lstm.weights import HighwayWeights, LSTMState


def alternating_lstm_packed(
    inputs: Float[Tensor, "batch tokens dim"],
    lengths: Int[Tensor, " batch"],
    layers: Sequence[HighwayWeights],
    state: LSTMState | None = None,
    recurrent_masks: Float[Tensor, "layers batch size"] | None = None,
) -> tuple[Float[Tensor, "batch tokens size"], LSTMState]:
    """As `alternating_lstm_reference`; gradients don't flow into `recurrent_masks`, and can't be taken twice."""
    batch, tokens, _ = inputs.shape
    for weights in layers:
        native_passes.require_alike(inputs=inputs, **weights._asdict(), **({} if state is None else state._asdict()))
    if state is not None and any(tensor.shape[:2] != (len(layers), batch) for tensor in state):
        raise ConfigError(
            f"the state has the shapes {[tuple(tensor.shape) for tensor in state]}, but there are {len(layers)} layers "
            f"and {batch} rows. Pass the state of the same rows of the same layers."
        )
    packing = _packing(lengths, batch, tokens)
    vectors = inputs.flatten(0, 1).index_select(0, packing.positions)
    hiddens, cells = [], []
    for number, weights in enumerate(layers):
        zeros = inputs.new_zeros(batch, weights.size)
        start = (zeros, zeros) if state is None else (state.hidden[number], state.cell[number])
        hidden, cell = (tensor.index_select(0, packing.order) for tensor in start)
        mask = None if recurrent_masks is None else recurrent_masks[number].index_select(0, packing.order)
        steps = packing.steps[::-1] if number % 2 else packing.steps
        vectors, hidden, cell = highway_layer(vectors, hidden, cell, weights, mask, steps)
        hiddens.append(hidden)
        cells.append(cell)
    outputs = inputs.new_zeros(batch * tokens, vectors.shape[1]).index_copy(0, packing.positions, vectors)
    back = packing.order.argsort()
    final = (torch.stack(tensors).index_select(1, back) for tensors in (hiddens, cells))
    return outputs.unflatten(0, (batch, tokens)), LSTMState(*final)


class _Packing(NamedTuple):
    """Where the packed tokens come from."""

    order: Int[Tensor, " batch"]
    """The rows, the longest first."""
    positions: Int[Tensor, " packed"]
    """Of each packed token, among the (batch * tokens) of the input."""
    steps: Sequence[Step]
    """From left to right."""


def _packing(lengths: Int[Tensor, " batch"], batch: int, tokens: int) -> _Packing:
    sorted_lengths, order = lengths.sort(descending=True, stable=True)
    counts = sorted_lengths.tolist()
    if len(counts) != batch or not all(type(count) is int and 0 <= count <= tokens for count in counts):
        raise ConfigError(
            f"the lengths are {counts[:5]} and so on, {len(counts)} in all, but there are {batch} rows of {tokens} "
            "tokens, of each of which they count the first ones. Pass a whole number from 0 on for each row."
        )
    places = torch.arange(tokens, device=lengths.device)[:, None]
    alive = places < sorted_lengths
    steps, first = [], 0
    for rows in alive.sum(dim=1).tolist():
        if rows:
            steps.append(Step(first, rows))
        first += rows
    return _Packing(order, (order * tokens + places)[alive], steps)
