"""One direction's share of a training step, from token vectors to gradients.

The two language models share only the token vectors and the softmax, so each direction runs forward and backward on
its own (on a CPU: on a core of its own) and returns gradients for what is shared.

Source: bilm-tf `bilm/training.py`; docs/specification.md, 6.3 and 6.4.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from elmo.model.lm_head import LMHead
from elmo.model.projected_lstm import ProjectedLSTM
from elmo.ops.sampled_softmax import LogUniformSampler, NegativeSample
from elmo.pretrain.ranks.gradients import Gradient, on_device
from elmo.pretrain.step.dropout import RowDropout
from elmo.pretrain.step.softmax_loss import Negatives, exact_loss, sampled_loss


@dataclass(frozen=True)
class DirectionWindow:
    """What a direction reads in a step."""

    places: Int[Tensor, "tokens batch"]
    """Place of each input among the step's distinct tokens."""
    target_ids: Int[Tensor, "tokens batch"]
    """Vocabulary ids, on the CPU."""
    negatives: NegativeSample | None
    """Of the sampled softmax, on the CPU; None: the loss is exact."""
    keep: Float[Tensor, "tokens batch"] | None
    """0 where the state is forgotten before a token."""
    hidden: Float[Tensor, "layers batch projection"]
    cell: Float[Tensor, "layers batch cell"]
    drop: RowDropout


@dataclass(frozen=True)
class DirectionResult:
    """What a direction found; the gradients of its own LSTM are already in the parameters."""

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
    product_dtype: torch.dtype | None = None,
) -> DirectionResult:
    """Forward and backward of `scale` times the mean loss: sampled with a sampler, else exact."""
    vectors = vectors.detach().requires_grad_()
    inputs = functional.embedding(window.places, vectors)
    top, hidden, cell = lstm.read_window(inputs, window.hidden, window.cell, window.drop, window.keep, product_dtype)
    outputs = top.flatten(0, 1)
    targets = on_device(window.target_ids.flatten(), outputs.device)
    if sampler is not None and window.negatives is not None:
        # Sorted here, not when the step is planned: on a CPU each direction then does so on its own core.
        negatives = Negatives.of(window.negatives, window.target_ids, outputs.device)
        loss, leaves = sampled_loss(head, sampler, outputs, targets, negatives, product_dtype)
    else:
        loss, leaves = exact_loss(head, outputs, targets, product_dtype)
    (loss * scale).backward()
    assert vectors.grad is not None
    return DirectionResult(loss.detach(), hidden, cell, vectors.grad, leaves.gradients())


def forgetting(
    begins: Bool[np.ndarray, "tokens rows"], probability: float, generator: np.random.Generator, rows: slice, total: int
) -> Float[Tensor, "tokens rows"] | None:
    """0 where a sentence begins and the row forgets what it read before, else 1.

    Drawn for the `total` rows of all processes, of which `begins` has `rows`.
    """
    if probability == 0:
        return None
    drawn = generator.random((len(begins), total))[:, rows]
    return torch.from_numpy(~(begins & (drawn < probability))).float()
