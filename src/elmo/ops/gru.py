"""The gated recurrent unit (GRU), as cuDNN and torch have it: the reset gate multiplies the recurrent product.

    r = sigmoid(W_r x_t + b_r + U_r h_{t-1} + d_r)
    z = sigmoid(W_z x_t + b_z + U_z h_{t-1} + d_z)
    n = tanh(W_n x_t + b_n + r * (U_n h_{t-1} + d_n))
    h_t = (1 - z) * n + z * h_{t-1}

`gru_reference` is the plain loop over time. `grus_side_by_side` takes the steps of several GRUs together, the two
directions of a text for instance, with a backward pass of its own; values and gradients are the same. torch's GRU on a
CPU is a loop over a dozen small operations a step, and autograd multiplies small matrices for every weight gradient of
every step. Here a step is one product for all GRUs and three passes over their gates. Backward,

    dn/dh_t = 1 - z,  dz/dh_t = h_{t-1} - n,  dh_{t-1}/dh_t = z + what goes through the gates,

everything that multiplies the gradient of h_t is computed for all steps at once, so that a step is one product and two
passes; each weight's gradient is one product over all tokens at the end.

Source: Cho et al. 2014; Clark and Gardner 2018 use cuDNN's. The backward pass is our own derivation.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from elmo.ops import native_passes
from elmo.ops.product import product


class GRUWeights(NamedTuple):
    """One GRU. Blocks of `size` rows in torch's order: reset r, update z, candidate n."""

    input_weight: Float[Tensor, "three_blocks dim"]
    state_weight: Float[Tensor, "three_blocks size"]
    input_bias: Float[Tensor, " three_blocks"]
    state_bias: Float[Tensor, " three_blocks"]

    @property
    def size(self) -> int:
        """Units of the GRU."""
        return self.state_weight.shape[1]


def gru_reference(inputs: Float[Tensor, "tokens batch dim"], weights: GRUWeights) -> Float[Tensor, "tokens batch size"]:
    """The hidden state after each token; the one before the first is zero."""
    hidden = inputs.new_zeros(inputs.shape[1], weights.size)
    outputs = []
    for vectors in inputs:
        of_input = functional.linear(vectors, weights.input_weight, weights.input_bias).chunk(3, dim=1)
        of_state = functional.linear(hidden, weights.state_weight, weights.state_bias).chunk(3, dim=1)
        r, z = (torch.sigmoid(own + other) for own, other in zip(of_input[:2], of_state[:2], strict=True))
        n = torch.tanh(of_input[2] + r * of_state[2])
        hidden = (1 - z) * n + z * hidden
        outputs.append(hidden)
    return torch.stack(outputs) if outputs else inputs.new_zeros(*inputs.shape[:2], weights.size)


def grus_side_by_side(
    inputs: Float[Tensor, "grus tokens batch dim"], weights: Sequence[GRUWeights]
) -> Float[Tensor, "grus tokens batch size"]:
    """Of each GRU, with weights of its own, the values of `gru_reference`; gradients can't be taken twice."""
    for one in weights:
        native_passes.require_alike(inputs=inputs, **one._asdict())
    of_input, of_state, input_bias, state_bias = (torch.stack(tensors) for tensors in zip(*weights, strict=True))
    return _SideBySide.apply(inputs, of_input, of_state, input_bias, state_bias)


class _SideBySide(torch.autograd.Function):
    @staticmethod
    @native_passes.full_precision
    def forward(
        ctx: Any,
        inputs: Float[Tensor, "grus tokens batch dim"],
        input_weight: Float[Tensor, "grus three_blocks dim"],
        state_weight: Float[Tensor, "grus three_blocks size"],
        input_bias: Float[Tensor, "grus three_blocks"],
        state_bias: Float[Tensor, "grus three_blocks"],
    ) -> Float[Tensor, "grus tokens batch size"]:
        grus, tokens, batch, _ = inputs.shape
        size = state_weight.shape[2]
        gates = _products(inputs.flatten(1, 2), input_weight, input_bias).unflatten(1, (tokens, batch))
        of_state = torch.empty_like(gates)
        states = inputs.new_zeros(grus, tokens + 1, batch, size)
        across, bias = state_weight.transpose(1, 2).contiguous(), state_bias[:, None]
        for t in range(tokens):
            hidden, here, recurrent = states[:, t], gates[:, t], of_state[:, t]
            torch.baddbmm(bias, hidden, across, out=recurrent)
            here[..., : 2 * size].add_(recurrent[..., : 2 * size]).sigmoid_()
            r, z, n = here.split(size, dim=2)
            n.addcmul_(r, recurrent[..., 2 * size :]).tanh_()
            torch.lerp(n, hidden, z, out=states[:, t + 1])
        ctx.save_for_backward(inputs, input_weight, state_weight, gates, of_state[..., 2 * size :], states)
        return states[:, 1:]

    @staticmethod
    @native_passes.taken_once
    @native_passes.full_precision
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride]  # the decorator hides the signature
        ctx: Any, grad_outputs: Float[Tensor, "grus tokens batch size"]
    ) -> tuple[Tensor | None, ...]:
        inputs, input_weight, state_weight, gates, of_state, states = ctx.saved_tensors
        size = state_weight.shape[2]
        r, z, n = gates.split(size, dim=3)
        previous = states[:, :-1]
        through_n = (1 - z) * (1 - n * n)
        factors = torch.stack([through_n * of_state * r * (1 - r), (previous - n) * z * (1 - z), through_n * r], dim=3)
        # Of the gates as the state's weights see them; the candidate's is another for the input's.
        grad_gates = torch.empty_like(factors)
        grad_hidden = grad_outputs.clone(memory_format=torch.contiguous_format)
        for t in reversed(range(gates.shape[1])):
            own = grad_hidden[:, t]
            torch.mul(factors[:, t], own[:, :, None], out=grad_gates[:, t])
            if t:
                grad_hidden[:, t - 1].addcmul_(own, z[:, t]).baddbmm_(grad_gates[:, t].flatten(2), state_weight)
        flat = grad_gates.flatten(1, 2).flatten(2)
        grad_state_weight, grad_state_bias = _weight_gradients(flat, previous.flatten(1, 2)), flat.sum(dim=1)
        torch.mul(grad_hidden, through_n, out=grad_gates[..., 2, :])
        return (
            _products(flat, input_weight.transpose(1, 2)).view_as(inputs) if ctx.needs_input_grad[0] else None,
            _weight_gradients(flat, inputs.flatten(1, 2)),
            grad_state_weight,
            flat.sum(dim=1),
            grad_state_bias,
        )


def _weight_gradients(
    grads: Float[Tensor, "grus packed outer"], inputs: Float[Tensor, "grus packed inner"]
) -> Float[Tensor, "grus outer inner"]:
    return _products(grads.transpose(1, 2), inputs.transpose(1, 2))


def _products(*factors: Tensor) -> Float[Tensor, "grus rows outer"]:
    """Of each GRU's inputs, weight and, if there is one, bias."""
    return torch.stack([product(*own) for own in zip(*factors, strict=True)])
