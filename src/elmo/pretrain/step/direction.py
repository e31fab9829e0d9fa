"""One direction's share of a training step, from token vectors to the loss and its gradients.

The two language models share only the token vectors and the softmax, so each direction runs forward and backward on
its own (on a CPU: on a core of its own) and returns gradients for what is shared.

Source: bilm-tf `bilm/training.py`; docs/specification.md, 6.3 and 6.4.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from elmo.model.lm_head import LMHead
from elmo.model.projected_lstm import ProjectedLSTM
from elmo.ops.adaptive_softmax import adaptive_softmax_mean
from elmo.ops.dropout import kept
from elmo.ops.full_softmax import full_softmax_mean
from elmo.ops.projected_lstm.window import Window, projected_lstm_window
from elmo.ops.sampled_softmax import LogUniformSampler, SoftmaxRows, sampled_softmax_mean
from elmo.ops.transfer import on_device
from elmo.pretrain.ranks.gradients import Gradient, RowGradient
from elmo.pretrain.step.plan import DirectionPlan, SampledRows

_DROPOUT_BLOCK = 512


class RowDropout:
    """Dropout of (tokens, rows, width) tensors that is the same for a row whichever process reads it.

    Every block of 512 rows has its own generator, so a process draws only for the blocks its rows are in; up to 512
    rows, the result is that of one generator for all. Each call draws again. `rows`: which of the `total` rows of all
    processes the tensors hold.
    """

    def __init__(self, probability: float, seed: int, rows: slice, total: int, device: torch.device) -> None:
        self.probability = probability
        self._blocks = []
        for start in range(rows.start - rows.start % _DROPOUT_BLOCK, rows.stop if probability else 0, _DROPOUT_BLOCK):
            generator = torch.Generator(device).manual_seed(seed + start // _DROPOUT_BLOCK)
            count = min(_DROPOUT_BLOCK, total - start)
            own = slice(max(0, rows.start - start), min(count, rows.stop - start))
            self._blocks.append((generator, count, own))

    def __call__(self, values: Float[Tensor, "tokens rows width"]) -> Float[Tensor, "tokens rows width"]:
        """`values` after dropout; the values kept are scaled up."""
        if self.probability == 0:
            return values
        mask = torch.cat([self._draw(values, *block) for block in self._blocks], dim=1)
        return values * mask.div_(1 - self.probability)

    def _draw(
        self, values: Float[Tensor, "tokens rows width"], generator: torch.Generator, count: int, own: slice
    ) -> Float[Tensor, "tokens own width"]:
        mask = values.new_empty(values.shape[0], count, values.shape[2])
        return kept(mask, self.probability, generator)[:, own]


@dataclass(frozen=True)
class DirectionWindow:
    """The input of a direction in a step."""

    plan: DirectionPlan
    hidden: Float[Tensor, "layers batch projection"]
    cell: Float[Tensor, "layers batch cell"]
    drop: RowDropout


@dataclass(frozen=True)
class DirectionResult:
    """Loss and gradients of a direction; the gradients of its own LSTM are already in the parameters."""

    loss: Float[Tensor, ""]
    """Mean loss in nats per token. Reading it makes the host wait for the device."""
    hidden: Float[Tensor, "layers batch projection"]
    cell: Float[Tensor, "layers batch cell"]
    vectors_gradient: Float[Tensor, "types projection"]
    head_gradients: dict[str, Gradient]
    """Of the softmax's tensors, by their names."""


def learn(
    lstm: ProjectedLSTM,
    head: LMHead,
    sampler: LogUniformSampler | None,
    vectors: Float[Tensor, "types projection"],
    window: DirectionWindow,
    *,
    scale: float,
    product_dtype: torch.dtype | None,
    read: Window = projected_lstm_window,
) -> DirectionResult:
    """Forward and backward of `scale` times the mean loss: sampled with a sampler, else exact.

    `read`: what reads a layer's window, see `ProjectedLSTM.read_window`.
    """
    vectors = vectors.detach().requires_grad_()
    plan, device = window.plan, vectors.device
    keep = None if plan.keep is None else on_device(plan.keep, device)
    inputs = functional.embedding(on_device(plan.places, device), vectors)
    top, hidden, cell = lstm.read_window(inputs, window.hidden, window.cell, window.drop, keep, product_dtype, read)
    outputs, targets, rows = top.flatten(0, 1), on_device(plan.target_ids.flatten(), device), None
    if sampler is not None and plan.sampled is not None:
        rows = plan.sampled.rows
        loss, leaves = sampled_loss(head, sampler, outputs, targets, plan.sampled, product_dtype)
    else:
        loss, leaves = exact_loss(head, outputs, targets, product_dtype)
    (loss * scale).backward()
    assert vectors.grad is not None
    # Zero where nothing was read: a cluster of the adaptive softmax without a target.
    found = {name: torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for name, leaf in leaves.items()}
    gradients = {name: own if rows is None else RowGradient(rows, own) for name, own in found.items()}
    return DirectionResult(loss.detach(), hidden, cell, vectors.grad, gradients)


def sampled_loss(
    head: LMHead,
    sampler: LogUniformSampler,
    outputs: Float[Tensor, "targets projection"],
    targets: Int[Tensor, " targets"],
    sampled: SampledRows,
    product_dtype: torch.dtype | None,
) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
    """The mean against a sample of the vocabulary, and the leaves it read: the rows of targets and negatives alone."""
    sample, rows = sampled.negatives, on_device(sampled.rows, outputs.device)
    leaves = {
        "weight": head.weight.detach()[rows].requires_grad_(),
        "bias": head.bias.detach()[rows].requires_grad_(),
    }
    log_probability = sampler.log_probability(rows, sample.num_draws)
    target_rows, negative_rows = (
        SoftmaxRows(functional.embedding(at, leaves["weight"]), leaves["bias"][at], log_probability[at])
        for at in on_device(sampled.places, outputs.device).split([len(targets), len(sample.ids)])
    )
    negative_ids = on_device(sample.ids, outputs.device)
    return sampled_softmax_mean(outputs, targets, target_rows, negative_ids, negative_rows, product_dtype), leaves


def exact_loss(
    head: LMHead,
    outputs: Float[Tensor, "targets projection"],
    targets: Int[Tensor, " targets"],
    product_dtype: torch.dtype | None,
) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
    """The mean against the whole vocabulary, by the full or the adaptive softmax, and the leaves it read."""
    leaves = {name: parameter.detach().requires_grad_() for name, parameter in head.named_parameters()}
    if head.clusters:
        loss = adaptive_softmax_mean(outputs, targets, head.adaptive_weights(leaves), product_dtype)
    else:
        loss = full_softmax_mean(outputs, targets, leaves["weight"], leaves["bias"], product_dtype)
    return loss, leaves
