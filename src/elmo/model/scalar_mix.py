"""ScalarMix: all layers -> one vector per token.

    mixed = gamma * sum over layers of softmax(raw_weights)[layer] * vectors[layer]

Source: paper section 3.2; AllenNLP `allennlp/modules/scalar_mix.py`; bilm-tf `bilm/elmo.py`.
"""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from elmo.layer_choice import Layers, mix_weights
from elmo.setting_checks import require_value

LayerNorm = Literal["boundaries", "words", "token"] | bool
"""Which positions the layer norm's statistics are over; True means "boundaries", False no layer norm."""

# Added to the variance. AllenNLP counts the boundaries among the positions, bilm-tf has removed them before. "token" is
# neither's: the layer norm of Ba et al. 2016, which the paper cites.
_EPSILONS = {"boundaries": 1e-13, "words": 1e-12, "token": 1e-12}


# Far enough below 0 that softmax gives such a layer a weight of exactly 0.
_NO_WEIGHT = -9e10


class ScalarMix(nn.Module):
    """A weighted sum of layers whose weights are learned; before training it is their plain average.

    Parameters: `raw_weights` (layers,), which a softmax turns into `weights`, and the factor `gamma` (1,).
    """

    if TYPE_CHECKING:  # nn.Module types __call__ as Any
        __call__: Callable[..., Tensor]

    def __init__(
        self,
        num_layers: int,
        *,
        layer_norm: LayerNorm = False,
        raw_weights: Sequence[float] | None = None,
        train_weights: bool = True,
        train_gamma: bool = True,
    ) -> None:
        """`raw_weights`: initial values (default 0), which are kept with `train_weights=False`.

        `layer_norm="boundaries"` is AllenNLP's, "words" is bilm-tf's, over all the batch's positions; the mask given to
        `forward` must hold those positions. "token" is over a position's own dimensions.
        """
        super().__init__()
        require_value("layer_norm", layer_norm, LayerNorm)
        layer_norm = "boundaries" if layer_norm is True else layer_norm
        start = [0.0] * num_layers if raw_weights is None else [float(weight) for weight in raw_weights]
        self.layer_norm: Literal["boundaries", "words", "token", False] = layer_norm
        self.raw_weights = nn.Parameter(torch.tensor(start), requires_grad=train_weights)
        self.gamma = nn.Parameter(torch.ones(1), requires_grad=train_gamma)

    @classmethod
    def of_layers(
        cls, layers: Layers, num_layers: int, *, layer_norm: LayerNorm = False, train_gamma: bool = True
    ) -> "ScalarMix":
        """A mix whose weights are learned (`layers="mix"`), or fixed as `layers` says, which is never "all".

        Before training, the result is what `Embedder.embed` gives for the same `layers`: gamma starts from the sum of
        the fixed weights. Raises ConfigError for negative ones, which a softmax can't give.
        """
        weights = mix_weights(layers, num_layers)
        if weights is None:
            return cls(num_layers, layer_norm=layer_norm, train_gamma=train_gamma)
        raw = [math.log(weight / max(weights)) if weight else _NO_WEIGHT for weight in weights]
        mix = cls(num_layers, layer_norm=layer_norm, raw_weights=raw, train_weights=False, train_gamma=train_gamma)
        nn.init.constant_(mix.gamma, sum(weights))
        return mix

    def extra_repr(self) -> str:
        """Its settings, for `repr`."""
        return f"num_layers={len(self.raw_weights)}, layer_norm={self.layer_norm}"

    @property
    def weights(self) -> Float[Tensor, " layers"]:
        """The normalized weight of each layer; they sum to 1."""
        return torch.softmax(self.raw_weights, dim=0)

    def penalty(self) -> Float[Tensor, ""]:
        """Sum of the squared raw weights, which pulls the mix towards the plain average; 0 if they aren't trained."""
        penalty = self.raw_weights.square().sum()
        return penalty if self.raw_weights.requires_grad else torch.zeros_like(penalty)

    def forward(
        self, layers: Float[Tensor, "layers batch tokens dim"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens dim"]:
        """The mix of `layers`; `mask` is used only by a layer norm over the batch."""
        if self.layer_norm == "token":
            layers = functional.layer_norm(layers, layers.shape[-1:], eps=_epsilon("token", layers.dtype))
        elif self.layer_norm:
            layers = normalize(layers, mask, _epsilon(self.layer_norm, layers.dtype))
        factors = (self.gamma * self.weights).view(-1, 1, 1, 1)
        mixed = factors[0] * layers[0]
        for factor, layer in zip(factors[1:], layers[1:], strict=True):
            mixed = mixed + factor * layer
        return mixed


def _epsilon(layer_norm: str, dtype: torch.dtype) -> float:
    return max(_EPSILONS[layer_norm], torch.finfo(dtype).tiny)  # float16 has nothing between 0 and 6e-5


def normalize(
    layers: Float[Tensor, "layers batch tokens dim"], mask: Bool[Tensor, "batch tokens"], epsilon: float
) -> Float[Tensor, "layers batch tokens dim"]:
    """Each layer with mean 0 and variance 1: one mean and one variance over all features of all positions of `mask`.

    They are the batch's, so a sentence's vectors depend on the other sentences in it, as in both originals.
    """
    counted = mask[None, :, :, None]
    count = mask.sum().clamp(min=1) * layers.shape[3]
    wide = layers.to(torch.promote_types(layers.dtype, torch.float32))  # a batch's sum exceeds what float16 holds
    mean = torch.where(counted, wide, 0).sum(dim=(1, 2, 3), keepdim=True) / count
    centered = wide - mean
    variance = torch.where(counted, centered, 0).square().sum(dim=(1, 2, 3), keepdim=True) / count
    return (centered / torch.sqrt(variance + epsilon)).to(layers.dtype)
