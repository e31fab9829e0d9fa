"""One layer over packed tokens, with its own backward pass.

Autograd of the plain loop keeps a dozen tensors a step and multiplies small matrices for every weight gradient of every
step. Here only the gradients of the gates run back through time; each weight's gradient is one product over all tokens
at the end. Source: our own derivation from the equations in `reference.py`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from elmo.ops.alternating_lstm.gate_passes import backward_pass, forward_pass
from elmo.ops.alternating_lstm.weights import HighwayWeights


class Step(NamedTuple):
    """The tokens of one time step among the packed ones: those of the first `rows` rows."""

    first: int
    rows: int


def highway_layer(
    inputs: Float[Tensor, "packed dim"],
    hidden: Float[Tensor, "batch size"],
    cell: Float[Tensor, "batch size"],
    weights: HighwayWeights,
    mask: Float[Tensor, "batch size"] | None,
    steps: Sequence[Step],
) -> tuple[Float[Tensor, "packed size"], Float[Tensor, "batch size"], Float[Tensor, "batch size"]]:
    """The outputs, and the state after each row's last step; `steps` in the order in which they are read."""
    return _Layer.apply(inputs, hidden, cell, weights.input_weight, weights.state_weight, weights.bias(), mask, steps)


class _Layer(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        hidden: Tensor,
        cell: Tensor,
        input_weight: Tensor,
        state_weight: Tensor,
        bias: Tensor,
        mask: Tensor | None,
        steps: Sequence[Step],
    ) -> tuple[Tensor, Tensor, Tensor]:
        size = hidden.shape[1]
        gates = torch.addmm(bias, inputs, input_weight.t())
        outputs, previous, before, squashed = (inputs.new_empty(len(inputs), size) for _ in range(4))
        hidden, cell = hidden.clone(), cell.clone()
        recurrent = inputs.new_empty(len(hidden), 5 * size)
        across = state_weight.t()
        for first, rows in steps:
            here = slice(first, first + rows)
            _masked(hidden, mask, previous[here])
            torch.mm(previous[here], across, out=recurrent[:rows])
            forward_pass(
                gates[here], recurrent[:rows], hidden[:rows], cell[:rows], before[here], squashed[here], outputs[here]
            )
        ctx.save_for_backward(inputs, input_weight, state_weight, mask, gates, previous, before, squashed)
        ctx.steps = steps
        return outputs, hidden, cell

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_outputs: Tensor, grad_hidden: Tensor, grad_cell: Tensor) -> tuple[Tensor | None, ...]:
        inputs, input_weight, state_weight, mask, gates, previous, before, squashed = ctx.saved_tensors
        grad_outputs = grad_outputs.contiguous()
        # Each row's part is replaced from its last step to its first, and so becomes the starting state's.
        grad_hidden = grad_hidden.clone(memory_format=torch.contiguous_format)
        grad_cell = grad_cell.clone(memory_format=torch.contiguous_format)
        grad_gates = torch.empty_like(gates)
        with_state = grad_gates[:, : state_weight.shape[0]]
        for first, rows in reversed(ctx.steps):
            here = slice(first, first + rows)
            backward_pass(
                gates[here], before[here], squashed[here],
                grad_outputs[here], grad_hidden[:rows], grad_cell[:rows], grad_gates[here],
            )  # fmt: skip
            torch.mm(with_state[here], state_weight, out=grad_hidden[:rows])
            if mask is not None:
                grad_hidden[:rows] *= mask[:rows]
        return (
            grad_gates @ input_weight if ctx.needs_input_grad[0] else None,
            grad_hidden,
            grad_cell,
            grad_gates.t() @ inputs,
            with_state.t() @ previous,
            grad_gates.sum(dim=0),
            None,
            None,
        )


def _masked(hidden: Tensor, mask: Tensor | None, out: Tensor) -> None:
    """The state of the first rows as the gates read it."""
    rows = len(out)
    if mask is None:
        out.copy_(hidden[:rows])
    else:
        torch.mul(hidden[:rows], mask[:rows], out=out)
