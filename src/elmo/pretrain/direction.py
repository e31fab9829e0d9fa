"""One direction's share of a training step, from token vectors to gradients.

The two language models share only the token vectors and the softmax, so each direction runs forward and backward on
its own (on a CPU: on a core of its own) and hands back gradients for what is shared.

Source: bilm-tf `bilm/training.py`; the specification, 6.3 and 6.4.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from elmo.model.lm_head import LMHead
from elmo.model.projected_lstm import ProjectedLSTM
from elmo.ops.sampled_softmax import LogUniformSampler, NegativeSample, SoftmaxRows, sampled_softmax_mean


@dataclass(frozen=True)
class DirectionWindow:
    """What a direction reads in a step."""

    places: Int[Tensor, "tokens batch"]
    """Place of each input among the step's distinct tokens."""
    target_ids: Int[Tensor, "tokens batch"]
    """Vocabulary ids."""
    negatives: NegativeSample
    keep: Float[Tensor, "tokens batch"] | None
    """0 where the state is forgotten before a token."""
    hidden: Float[Tensor, "layers batch projection"]
    cell: Float[Tensor, "layers batch cell"]
    seed: int
    """Of the dropout."""


@dataclass(frozen=True)
class DirectionResult:
    """What a direction found; the gradients of its own LSTM are already in the parameters."""

    loss: float
    """Mean sampled loss in nats per token."""
    hidden: Float[Tensor, "layers batch projection"]
    cell: Float[Tensor, "layers batch cell"]
    vectors_gradient: Float[Tensor, "types projection"]
    softmax_ids: Int[Tensor, " rows"]
    weight_gradient: Float[Tensor, "rows projection"]
    bias_gradient: Float[Tensor, " rows"]


def learn(
    lstm: ProjectedLSTM,
    head: LMHead,
    sampler: LogUniformSampler,
    vectors: Float[Tensor, "types projection"],
    window: DirectionWindow,
    *,
    dropout: float,
    scale: float,
    product_dtype: torch.dtype | None = None,
) -> DirectionResult:
    """Forward and backward of `scale` times the mean loss."""
    vectors = vectors.detach().requires_grad_()
    inputs = functional.embedding(window.places, vectors)
    generator = torch.Generator().manual_seed(window.seed)
    top, hidden, cell = lstm.read_window(
        inputs, window.hidden, window.cell, dropout, generator, window.keep, product_dtype
    )
    targets = window.target_ids.flatten()
    ids, places = torch.cat([targets, window.negatives.ids]).unique(return_inverse=True)
    weight = head.weight.detach()[ids].requires_grad_()
    bias = head.bias.detach()[ids].requires_grad_()
    log_chance = sampler.log_chance(ids, window.negatives.num_draws)
    target_rows, negative_rows = (
        SoftmaxRows(functional.embedding(at, weight), bias[at], log_chance[at])
        for at in (places[: len(targets)], places[len(targets) :])
    )
    loss = sampled_softmax_mean(
        top.flatten(0, 1), targets, target_rows, window.negatives.ids, negative_rows, product_dtype
    )
    (loss * scale).backward()
    return DirectionResult(loss.item(), hidden, cell, vectors.grad, ids, weight.grad, bias.grad)


def forgetting(begins: np.ndarray, chance: float, generator: np.random.Generator) -> Tensor | None:
    """(tokens, batch): 0 where a sentence begins and the row forgets what it read before, else 1."""
    if chance == 0:
        return None
    return torch.from_numpy(~(begins & (generator.random(begins.shape) < chance))).float()
