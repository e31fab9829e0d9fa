"""The alternating LSTM without padding: the rows are sorted by length once, and all layers read packed tokens.

Packed tokens are in the order of the steps: all rows' first tokens, then the second ones of the rows that have one, and
so on. As the rows are sorted, those that are alive at a step are always the first ones, whichever way a layer reads: a
row that reads from the right joins, with its starting state, at the step of its last token.

Each layer has its own backward pass. Autograd of the plain loop keeps a dozen tensors per step and multiplies small
matrices for every weight gradient of every step. Here only the gradients of the gates run back through time; each
weight's gradient is one product over all tokens at the end. Source: our own derivation from the equations in
`reference.py`.

The passes over the gates of a step are the native library's or, without it, torch's, which are the specification of
native/training/highway_gates.h. `gates` and `grad_gates` are (batch, 6 size) with the blocks i, f, g, o, r, k;
`recurrent` is (batch, 5 size); all other tensors are (batch, size).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from elmo.errors import ConfigError
from elmo.ops import native_passes
from elmo.ops.alternating_lstm.reference import HighwayWeights, LSTMState
from elmo.ops.product import product


class Step(NamedTuple):
    """The tokens of one time step among the packed ones: those of the first `rows` rows."""

    first: int
    rows: int


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
        vectors, hidden, cell = _Layer.apply(
            vectors, hidden, cell, weights.input_weight, weights.state_weight, weights.bias(), mask, steps
        )
        hiddens.append(hidden)
        cells.append(cell)
    outputs = inputs.new_zeros(batch * tokens, vectors.shape[1]).index_copy(0, packing.positions, vectors)
    back = packing.order.argsort()
    final = (torch.stack(tensors).index_select(1, back) for tensors in (hiddens, cells))
    return outputs.unflatten(0, (batch, tokens)), LSTMState(*final)


class _Packing(NamedTuple):
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


class _Layer(torch.autograd.Function):
    """The outputs, and the state after each row's last step; `steps` in the order in which they are read."""

    @staticmethod
    @native_passes.full_precision
    def forward(
        ctx: Any,
        inputs: Float[Tensor, "packed dim"],
        hidden: Float[Tensor, "batch size"],
        cell: Float[Tensor, "batch size"],
        input_weight: Float[Tensor, "six_blocks dim"],
        state_weight: Float[Tensor, "five_blocks size"],
        bias: Float[Tensor, " six_blocks"],
        mask: Float[Tensor, "batch size"] | None,
        steps: Sequence[Step],
    ) -> tuple[Float[Tensor, "packed size"], Float[Tensor, "batch size"], Float[Tensor, "batch size"]]:
        size = hidden.shape[1]
        gates = product(inputs, input_weight, bias)
        outputs, previous, before, squashed = (inputs.new_empty(len(inputs), size) for _ in range(4))
        hidden, cell = hidden.clone(), cell.clone()
        for first, rows in steps:
            here = slice(first, first + rows)
            _masked(hidden, mask, previous[here])
            recurrent = product(previous[here], state_weight)
            _forward_pass(
                gates[here], recurrent, hidden[:rows], cell[:rows], before[here], squashed[here], outputs[here]
            )
        ctx.save_for_backward(inputs, input_weight, state_weight, mask, gates, previous, before, squashed)
        ctx.steps = steps
        return outputs, hidden, cell

    @staticmethod
    @native_passes.taken_once
    @native_passes.full_precision
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        grad_outputs, grad_hidden, grad_cell = grads
        inputs, input_weight, state_weight, mask, gates, previous, before, squashed = ctx.saved_tensors
        grad_outputs = grad_outputs.contiguous()
        # Each row's part is replaced from its last step to its first, and so becomes the starting state's.
        grad_hidden = grad_hidden.clone(memory_format=torch.contiguous_format)
        grad_cell = grad_cell.clone(memory_format=torch.contiguous_format)
        grad_gates = torch.empty_like(gates)
        with_state = grad_gates[:, : state_weight.shape[0]]
        across = state_weight.t().contiguous()
        for first, rows in reversed(ctx.steps):
            here = slice(first, first + rows)
            _backward_pass(
                gates[here], before[here], squashed[here],
                grad_outputs[here], grad_hidden[:rows], grad_cell[:rows], grad_gates[here],
            )  # fmt: skip
            grad_previous = product(with_state[here], across)
            grad_hidden[:rows] = grad_previous if mask is None else grad_previous * mask[:rows]
        return (
            product(grad_gates, input_weight.t()) if ctx.needs_input_grad[0] else None,
            grad_hidden,
            grad_cell,
            product(inputs.t(), grad_gates.t()).t(),
            product(previous.t(), with_state.contiguous().t()).t(),  # oneDNN has no fast way through strided columns
            grad_gates.sum(dim=0),
            None,
            None,
        )


def _masked(
    hidden: Float[Tensor, "batch size"], mask: Float[Tensor, "batch size"] | None, out: Float[Tensor, "rows size"]
) -> None:
    """The state of the first rows as the gates read it."""
    rows = len(out)
    if mask is None:
        out.copy_(hidden[:rows])
    else:
        torch.mul(hidden[:rows], mask[:rows], out=out)


def _forward_pass(
    gates: Float[Tensor, "batch six_blocks"],
    recurrent: Float[Tensor, "batch five_blocks"],
    hidden: Float[Tensor, "batch size"],
    cell: Float[Tensor, "batch size"],
    before: Float[Tensor, "batch size"],
    squashed: Float[Tensor, "batch size"],
    output: Float[Tensor, "batch size"],
) -> None:
    """`gates` holds the input's share of the gates' inputs, `recurrent` the state's; the gates replace the former.

    Advances the state (`hidden`, `cell`) in place, and writes the old cell into `before`, tanh of the new one into
    `squashed` and the new h into `output`.
    """
    tensors = (gates, recurrent, hidden, cell, before, squashed, output)
    if native_passes.ran("highway_forward", *tensors):
        return
    gates[:, : recurrent.shape[1]] += recurrent
    i, f, g, o, r, k = gates.chunk(6, dim=1)
    g.tanh_()
    for gate in (i, f, o, r):
        gate.sigmoid_()
    before.copy_(cell)
    cell.mul_(f).addcmul_(i, g)
    torch.tanh(cell, out=squashed)
    torch.lerp(k, o * squashed, r, out=output)
    hidden.copy_(output)


def _backward_pass(
    gates: Float[Tensor, "batch six_blocks"],
    before: Float[Tensor, "batch size"],
    squashed: Float[Tensor, "batch size"],
    grad_output: Float[Tensor, "batch size"],
    grad_hidden: Float[Tensor, "batch size"],
    grad_cell: Float[Tensor, "batch size"],
    grad_gates: Float[Tensor, "batch six_blocks"],
) -> None:
    """From the gradients of the output and the state after a step to those of the gates' inputs and the cell before.

    Writes `grad_gates`, replaces `grad_cell`; `grad_hidden`, of the state after the step, is only read.
    """
    tensors = (gates, before, squashed, grad_output, grad_hidden, grad_cell, grad_gates)
    if native_passes.ran("highway_backward", *tensors):
        return
    i, f, g, o, r, k = gates.chunk(6, dim=1)
    incoming = grad_output + grad_hidden
    of_cell_output = incoming * r
    grad_cell.add_(of_cell_output * o * (1 - squashed * squashed))
    parts = (
        grad_cell * g * i * (1 - i),
        grad_cell * before * f * (1 - f),
        grad_cell * i * (1 - g * g),
        of_cell_output * squashed * o * (1 - o),
        incoming * (o * squashed - k) * r * (1 - r),
        incoming * (1 - r),
    )
    torch.cat(parts, dim=1, out=grad_gates)
    grad_cell.mul_(f)
