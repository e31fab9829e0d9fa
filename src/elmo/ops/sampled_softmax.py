"""The sampled softmax: cross-entropy against a sample of the vocabulary, drawn log-uniformly by frequency rank.

    p(c) = ln((c + 2) / (c + 1)) / ln(V + 1)         c: vocabulary id = frequency rank from 0
    draw c = floor(exp(u ln(V + 1))) - 1 until `num_samples` distinct ids are there; T: number of draws made
    Q(c) = 1 - (1 - p(c))^T                          the probability that c is among them

The logits are by far the largest tensor of a training step. Autograd of `sampled_softmax_reference` reads them a dozen
times; `sampled_softmax_mean`, on a CPU, reads them once and overwrites them with their gradient, which two products
carry on to outputs and weights.

Source: TensorFlow 1's `sampled_softmax_loss` and `log_uniform_candidate_sampler` (unique=True); the specification, 6.3.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from elmo.errors import ConfigError
from elmo.ops import native_passes
from elmo.ops.product import product
from elmo.ops.tracing import has_values


class NegativeSample(NamedTuple):
    """Distinct vocabulary ids, and how many draws it took to find them."""

    ids: Int[Tensor, " samples"]
    num_draws: int


class LogUniformSampler:
    """Draws distinct ids, the frequent ones more often. Its only state is the generator given to `draw`."""

    def __init__(self, vocabulary_size: int, num_samples: int) -> None:
        if not 1 <= num_samples <= vocabulary_size:
            raise ConfigError(
                f"num_negative_samples must be from 1 to the vocabulary's size, {vocabulary_size} (got {num_samples}): "
                f"the negatives of a step are distinct words. Use {vocabulary_size} or fewer "
                "(--num-negative-samples)."
            )
        self.vocabulary_size = vocabulary_size
        self.num_samples = num_samples

    def draw(self, generator: np.random.Generator) -> NegativeSample:
        """The first `num_samples` distinct ids of an endless sequence of draws.

        The work is proportional to the draws, each of which is sorted once: with as many samples as words, the last
        ones take V ln(V)^2 draws or so.
        """
        size = 2 * self.num_samples
        is_seen = np.zeros(self.vocabulary_size, dtype=bool)
        missing, num_draws = self.num_samples, 0
        while True:
            distinct, first = np.unique(self._draws(generator, size), return_index=True)
            is_new = ~is_seen[distinct]
            distinct, first = distinct[is_new], first[is_new]
            if len(distinct) >= missing:
                kept = np.argsort(first, kind="stable")[:missing]
                is_seen[distinct[kept]] = True
                ids = torch.from_numpy(np.flatnonzero(is_seen))
                return NegativeSample(ids, num_draws + int(first[kept[-1]]) + 1)
            is_seen[distinct] = True
            missing -= len(distinct)
            num_draws += size

    def _draws(self, generator: np.random.Generator, count: int) -> Int[np.ndarray, " draws"]:
        values = np.exp(generator.random(count) * math.log(self.vocabulary_size + 1)).astype(np.int64) - 1
        return np.clip(values, 0, self.vocabulary_size - 1)  # rounding can reach V itself

    def log_probability(self, ids: Int[Tensor, "*shape"], num_draws: int) -> Float[Tensor, "*shape"]:
        """ln Q(c): the log of the probability that each id is among the negatives."""
        rank = ids.double()
        p = torch.log((rank + 2) / (rank + 1)) / math.log(self.vocabulary_size + 1)
        return torch.log(-torch.expm1(num_draws * torch.log1p(-p))).float()


class SoftmaxRows(NamedTuple):
    """The softmax's parameters of some words, and the log of each word's probability of being among the negatives."""

    weight: Float[Tensor, "words dim"]
    bias: Float[Tensor, " words"]
    log_probability: Float[Tensor, " words"]


def sampled_softmax_reference(
    outputs: Float[Tensor, "targets dim"],
    target_ids: Int[Tensor, " targets"],
    target_rows: SoftmaxRows,
    negative_ids: Int[Tensor, " negatives"],
    negative_rows: SoftmaxRows,
    product_dtype: torch.dtype | None = None,
) -> Float[Tensor, " targets"]:
    """The loss in nats of each target against the target itself and the negatives.

    Every logit is lowered by its word's log probability; a negative that is the row's own target is left out.
    """
    cast = (lambda tensor: tensor) if product_dtype is None else (lambda tensor: tensor.to(product_dtype))
    target_logits = (outputs * target_rows.weight).sum(dim=1) + target_rows.bias - target_rows.log_probability
    shift = negative_rows.bias - negative_rows.log_probability
    logits = functional.linear(cast(outputs), cast(negative_rows.weight)).to(outputs.dtype) + shift
    logits = logits.masked_fill(negative_ids[None, :] == target_ids[:, None], float("-inf"))
    return torch.logaddexp(logits.logsumexp(dim=1), target_logits) - target_logits


def sampled_softmax_mean(
    outputs: Float[Tensor, "targets dim"],
    target_ids: Int[Tensor, " targets"],
    target_rows: SoftmaxRows,
    negative_ids: Int[Tensor, " negatives"],
    negative_rows: SoftmaxRows,
    product_dtype: torch.dtype | None = None,
) -> Float[Tensor, ""]:
    """The mean of `sampled_softmax_reference` over the targets; `negative_ids` ascend.

    Gradients can't be taken twice.
    """
    softmax = {f"target_rows.{name}": tensor for name, tensor in target_rows._asdict().items()}
    softmax |= {f"negative_rows.{name}": tensor for name, tensor in negative_rows._asdict().items()}
    native_passes.require_alike(outputs=outputs, **softmax)
    # On a GPU, where C never runs, looking at values would wait for the device.
    looks = negative_ids.is_cpu and has_values(negative_ids)
    ascends = not looks or bool((negative_ids[1:] > negative_ids[:-1]).all())
    if len(negative_ids) != len(negative_rows.weight) or not ascends:
        raise ConfigError(
            f"there are {len(negative_ids)} negative ids for {len(negative_rows.weight)} rows of the softmax, but each "
            "row needs an id of its own, in ascending order. Pass the ids and the rows of one sample."
        )
    factor = product_dtype or outputs.dtype
    tensors = (outputs, *target_rows, *negative_rows)
    is_empty = min(len(outputs), len(negative_ids)) == 0
    if is_empty or factor not in (torch.float32, torch.bfloat16) or not native_passes.can_run(*tensors):
        arguments = (outputs, target_ids, target_rows, negative_ids, negative_rows, product_dtype)
        return sampled_softmax_reference(*arguments).mean()
    target_logits = (outputs * target_rows.weight).sum(dim=1) + target_rows.bias - target_rows.log_probability
    shift = negative_rows.bias - negative_rows.log_probability
    place = torch.searchsorted(negative_ids, target_ids).clamp_(max=len(negative_ids) - 1)
    hit = torch.where(negative_ids[place] == target_ids, place, -1)
    return _MeanLoss.apply(outputs, negative_rows.weight, shift, target_logits, hit, factor)


class _MeanLoss(torch.autograd.Function):
    @staticmethod
    @native_passes.full_precision
    def forward(
        ctx: Any,
        outputs: Float[Tensor, "targets dim"],
        weight: Float[Tensor, "negatives dim"],
        shift: Float[Tensor, " negatives"],
        target_logits: Float[Tensor, " targets"],
        hit: Int[Tensor, " targets"],
        factor: torch.dtype,
    ) -> Float[Tensor, ""]:
        rows = len(outputs)
        outputs, weight = outputs.to(factor), weight.to(factor)
        logits = product(outputs, weight)
        grad_target, nats = target_logits.clone(), torch.empty_like(target_logits)
        grad_shift, scratch = torch.zeros_like(shift), torch.empty_like(shift)
        native_passes.run(
            "sampled_softmax", logits, shift.contiguous(), hit, grad_target, nats, grad_shift, scratch,
            numbers=(1 / rows,),
        )  # fmt: skip
        ctx.save_for_backward(outputs, weight, logits, grad_target, grad_shift)
        return nats.mean()

    @staticmethod
    @native_passes.taken_once
    @native_passes.full_precision
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] - torch passes one for each output
        ctx: Any, grad_mean: Float[Tensor, ""]
    ) -> tuple[Tensor | None, ...]:
        outputs, weight, grad_logits, grad_target, grad_shift = ctx.saved_tensors
        dtype = grad_target.dtype
        return (
            product(grad_logits, weight.t()).to(dtype) * grad_mean,
            product(grad_logits.t(), outputs.t()).to(dtype) * grad_mean,
            grad_shift * grad_mean,
            grad_target * grad_mean,
            None,
            None,
        )
