"""Convolutions over a token's characters, and the maximum over positions: `elmo.reference.char_cnn` in torch.

After its end-of-word character a row holds only padding. A window of width w that starts in the padding sees w
paddings, whatever the token, so one of them is as good as all: the row may be cut to the longest token plus the widest
filter without changing any maximum. Values equal those of `elmo.reference.char_cnn`, which takes all windows, up to
rounding: the sums are the same, in an order of their own. Each width is one matrix product over unfolded windows,
which torch's CPU build does faster than its conv1d. In training on a CPU, tokens are cut in groups of similar length,
and `BestWindow` passes gradients only to the window that gave a filter's maximum; autograd would send them through
products over all windows.
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from elmo.errors import ConfigError
from elmo.ops import native_passes
from elmo.ops.tracing import has_values
from elmo.ops.transfer import on_device


class BestWindow(torch.autograd.Function):
    """vectors (types, columns * dim), weight (filters, dim, width) -> each filter's maximum (types, filters).

    For tensors that `native_passes.can_run` accepts; gradients can't be taken twice.
    """

    @staticmethod
    @native_passes.full_precision
    def forward(
        ctx: Any, vectors: Float[Tensor, "types values"], weight: Float[Tensor, "filters dim width"]
    ) -> Float[Tensor, "types filters"]:
        filters, dim, width = weight.shape
        kernel = weight.transpose(1, 2).reshape(filters, width * dim).contiguous()
        windows = vectors.unfold(1, width * dim, dim)
        types, positions, _ = windows.shape
        scores = windows.reshape(types * positions, width * dim) @ kernel.t()
        best = vectors.new_empty(types, filters)
        place = vectors.new_empty(types, filters, dtype=torch.int32)
        native_passes.run("max_over_positions", scores.view(types, positions, filters), best, place)
        ctx.save_for_backward(vectors, kernel, place)
        ctx.dim = dim
        return best

    @staticmethod
    @native_passes.taken_once
    @native_passes.full_precision
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] - the decorator hides the signature
        ctx: Any, grad_best: Float[Tensor, "types filters"]
    ) -> tuple[Float[Tensor, "types values"], Float[Tensor, "filters dim width"]]:
        vectors, kernel, place = ctx.saved_tensors
        filters, span = kernel.shape
        grad_vectors, grad_kernel = torch.zeros_like(vectors), torch.zeros_like(kernel)
        native_passes.run(
            "max_over_positions_backward",
            vectors, kernel, place, grad_best.contiguous(), grad_vectors, grad_kernel, dim=ctx.dim,
        )  # fmt: skip
        return grad_vectors, grad_kernel.view(filters, span // ctx.dim, ctx.dim).transpose(1, 2)


_NUM_GROUPS = 8


class CharacterVectors(NamedTuple):
    """The vectors of tokens' characters, cut where only padding follows."""

    groups: tuple[Float[Tensor, "_ _"], ...]
    """(types, characters * dim) of each group: a window of width w is w * dim neighbors."""
    dim: int
    """Of one character's vector."""
    back: Int[Tensor, " types"] | None = None
    """Where each token is among those of all groups; None: in their order."""
    trains: bool = False
    """Whether `BestWindow` computes."""


def character_vectors(
    character_ids: Int[Tensor, "types characters"], embedding: Float[Tensor, "alphabet dim"], widest: int
) -> CharacterVectors:
    """What `best_windows` reads; `widest` is the width of the widest filter.

    The ids may be on the CPU while the embedding is on a GPU: cutting them there makes the host wait for nothing.
    """
    dim = embedding.shape[1]
    if character_ids.device not in (embedding.device, torch.device("cpu")):
        raise ConfigError(
            f"the character ids are on {character_ids.device}, but the embedding is on {embedding.device}. Move them "
            "to one device, or leave the ids on the CPU."
        )
    if not has_values(character_ids):
        return CharacterVectors((functional.embedding(character_ids, embedding).flatten(1),), dim)
    trains = torch.is_grad_enabled() and len(character_ids) > 0 and native_passes.can_run(embedding)
    if not trains:
        return CharacterVectors((_cut(character_ids, embedding, widest),), dim)
    order = (character_ids != character_ids[:, -1:]).sum(dim=1).argsort(stable=True)
    back = torch.empty_like(order)
    back[order] = torch.arange(len(order), device=order.device)
    groups = (_cut(character_ids[group], embedding, widest) for group in order.chunk(_NUM_GROUPS))
    return CharacterVectors(tuple(groups), dim, back, trains=True)


def best_windows(
    vectors: CharacterVectors, weight: Float[Tensor, "filters dim width"]
) -> Float[Tensor, "types filters"]:
    """Each filter's maximum over all windows of a token, before bias and activation."""
    if weight.shape[1] != vectors.dim or weight.shape[2] < 1:
        raise ConfigError(
            f"the filters' weight has the shape {tuple(weight.shape)}, but a character's vector has {vectors.dim} "
            "values. Pass filters of (number, dim, width) for these vectors."
        )
    find = BestWindow.apply if vectors.trains and native_passes.can_run(weight, *vectors.groups) else _best_window
    found = [find(group, weight) for group in vectors.groups]
    best = found[0] if len(found) == 1 else torch.cat(found)
    return best if vectors.back is None else best[vectors.back]


def activate(values: Float[Tensor, "*shape"], activation: str) -> Float[Tensor, "*shape"]:
    """relu or tanh."""
    return torch.relu(values) if activation == "relu" else torch.tanh(values)


def _best_window(
    vectors: Float[Tensor, "types values"], weight: Float[Tensor, "filters dim width"]
) -> Float[Tensor, "types filters"]:
    """`BestWindow` as operations that autograd and autocast know."""
    filters, dim, width = weight.shape
    windows = vectors.unfold(1, width * dim, dim)
    return functional.linear(windows, weight.transpose(1, 2).reshape(filters, width * dim)).amax(dim=1)


def _cut(
    character_ids: Int[Tensor, "types characters"], embedding: Float[Tensor, "alphabet dim"], widest: int
) -> Float[Tensor, "types values"]:
    """The vectors of the columns up to the last one in which some row differs from its own end, and one window more."""
    differs = (character_ids != character_ids[:, -1:]).any(dim=0).nonzero()
    used = int(differs[-1]) + 1 if len(differs) else 0
    ids = on_device(character_ids[:, : used + widest], embedding.device)
    return functional.embedding(ids, embedding).flatten(1)
