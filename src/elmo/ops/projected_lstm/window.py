"""Training: the projected LSTM on full windows, with its own backward.

Autograd of the plain loop keeps a dozen tensors per step and multiplies small matrices for every weight gradient of
every step. Here only the gradients of the gates run back through time; each weight's gradient is one product over the
whole window at the end. Values and gradients equal autograd of `projected_lstm_reference` (tests, float64).

Source: our own derivation from the equations in `elmo.reference`; a clipped value passes no gradient.
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from elmo.config import LSTMSettings
from elmo.ops import native_passes
from elmo.ops.product import product, repeated_factor
from elmo.ops.projected_lstm.gate_passes import backward_pass, forward_pass
from elmo.ops.projected_lstm.reference import LayerWeights

Window = Callable[..., tuple[Tensor, Tensor, Tensor]]
"""`projected_lstm_window`, or what replays it."""


def projected_lstm_window(
    inputs: Float[Tensor, "tokens batch dim"],
    hidden: Float[Tensor, "batch projection"],
    cell: Float[Tensor, "batch cell"],
    weights: LayerWeights,
    settings: LSTMSettings,
    keep: Float[Tensor, "tokens batch"] | None = None,
    product_dtype: torch.dtype | None = None,
) -> tuple[Float[Tensor, "tokens batch projection"], Float[Tensor, "batch projection"], Float[Tensor, "batch cell"]]:
    """Read a window in which every row has every token; time comes first here.

    Before each token the state is multiplied by `keep` (1: go on; 0: forget everything; None: always go on).
    `product_dtype=torch.bfloat16` rounds the factors of the matrix products; gates, cells, clips and gradients stay in
    the inputs' own type. Returns the outputs and the state after the last token. Gradients flow to the inputs and the
    weights, and not into the starting state: backpropagation through time ends at the window (truncated). Without a
    projection the outputs are those of the cells, which are rounded like a factor. Gradients can't be taken twice.
    """
    native_passes.require_alike(inputs=inputs, hidden=hidden, cell=cell, **weights._asdict())
    weights = weights._replace(bias=weights.bias_with_forget(settings.forget_bias))
    return _Window.apply(inputs, hidden, cell, *weights, settings, keep, product_dtype)


class _Window(torch.autograd.Function):
    @staticmethod
    @native_passes.full_precision
    def forward(
        ctx: Any,
        inputs: Float[Tensor, "tokens batch dim"],
        hidden: Float[Tensor, "batch projection"],
        cell: Float[Tensor, "batch cell"],
        input_weight: Float[Tensor, "gates dim"],
        recurrent_weight: Float[Tensor, "gates projection"],
        bias: Float[Tensor, " gates"],
        projection_weight: Float[Tensor, "projection cell"] | None,
        settings: LSTMSettings,
        keep: Float[Tensor, "tokens batch"] | None,
        product_dtype: torch.dtype | None,
    ) -> tuple[
        Float[Tensor, "tokens batch projection"], Float[Tensor, "batch projection"], Float[Tensor, "batch cell"]
    ]:
        steps, batch, dim = inputs.shape
        size, width = cell.shape[1], hidden.shape[1]
        factor = product_dtype or inputs.dtype
        flat_inputs = inputs.to(factor).reshape(-1, dim)
        shares = product(flat_inputs, input_weight.to(factor)).view(steps, batch, 4 * size)
        recurrent = repeated_factor(recurrent_weight, factor)
        project = None if projection_weight is None else repeated_factor(projection_weight, factor)
        clip = None if projection_weight is None else settings.projection_clip
        gates = inputs.new_empty(steps, batch, 4 * size)
        outputs = inputs.new_empty(steps, batch, width)
        cells, new_cells, squashed = (inputs.new_empty(steps, batch, size) for _ in range(3))
        hiddens = inputs.new_empty(steps, batch, width, dtype=factor)
        unprojected = inputs.new_empty(steps, batch, size, dtype=factor)
        for t in range(steps):
            for state, before in ((hidden, hiddens[t]), (cell, cells[t])):
                before.copy_(state if keep is None else state * keep[t, :, None])
            forward_pass(
                shares[t], product(hiddens[t], recurrent), bias, cells[t],
                gates[t], new_cells[t], squashed[t], unprojected[t], settings.cell_clip,
            )  # fmt: skip
            outputs[t] = unprojected[t] if project is None else product(unprojected[t], project)
            if clip is not None:
                outputs[t].clamp_(-clip, clip)
            hidden, cell = outputs[t], new_cells[t]
        ctx.save_for_backward(
            flat_inputs, input_weight, recurrent_weight, projection_weight, keep,
            gates, hiddens, outputs, cells, new_cells, squashed, unprojected,
        )  # fmt: skip
        ctx.cell_clip, ctx.projection_clip, ctx.factor = settings.cell_clip, clip, factor
        hidden, cell = hidden.clone(), cell.clone()
        ctx.mark_non_differentiable(hidden, cell)
        return outputs.clone(), hidden, cell

    @staticmethod
    @native_passes.taken_once
    @native_passes.full_precision
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] - torch passes one for each output
        ctx: Any, grad_outputs: Float[Tensor, "tokens batch projection"], *_: Tensor
    ) -> tuple[Tensor | None, ...]:
        flat_inputs, input_weight, recurrent_weight, projection_weight, keep, *saved = ctx.saved_tensors
        gates, hiddens, outputs, cells, new_cells, squashed, unprojected = saved
        clip, factor, dtype = ctx.projection_clip, ctx.factor, gates.dtype
        steps, batch, size = squashed.shape
        recurrent = repeated_factor(recurrent_weight, factor)
        project = None if projection_weight is None else repeated_factor(projection_weight, factor)
        grad_gates = gates.new_empty(gates.shape, dtype=factor)
        grad_bias = gates.new_zeros(4 * size)
        grad_outputs = grad_outputs.clone(memory_format=torch.contiguous_format)
        grad_cell = squashed.new_zeros(batch, size)
        for t in reversed(range(steps)):
            if t + 1 < steps:
                from_future = product(grad_gates[t + 1], recurrent.t())
                grad_outputs[t] += from_future if keep is None else from_future * keep[t + 1, :, None]
            if clip is not None:
                grad_outputs[t].masked_fill_(outputs[t].abs() >= clip, 0)
            grad_output = grad_outputs[t].to(factor)
            backward_pass(
                gates[t], cells[t], new_cells[t], squashed[t],
                grad_output if project is None else product(grad_output, project.t()),
                grad_cell, grad_gates[t], grad_bias, ctx.cell_clip,
            )  # fmt: skip
            if keep is not None:
                grad_cell.mul_(keep[t, :, None])
        flat = grad_gates.view(-1, 4 * size)
        flat_outputs = grad_outputs.to(factor).view(-1, outputs.shape[2])
        return (
            product(flat, input_weight.to(factor).t()).to(dtype).view(steps, batch, flat_inputs.shape[1]),
            None,
            None,
            product(flat.t(), flat_inputs.t()).to(dtype),
            product(flat.t(), hiddens.view(-1, hiddens.shape[2]).t()).to(dtype),
            grad_bias,
            None if project is None else product(flat_outputs.t(), unprojected.view(-1, size).t()).to(dtype),
            None,
            None,
            None,
        )
