"""LayerChoice: which layers a caller wants, and how they become one array.

"all"               (layers, tokens, dim)
"average"           their plain mean, as the layer weights of an untrained scalar mix
"top"               the last layer alone
an index            that layer; 0 is the token layer, -1 the top one
a list of weights   the weighted sum, by exactly these numbers: no softmax, no gamma
"""

from dataclasses import dataclass
from typing import Any

from elmo.embed.layer_names import Layers, layer_weights


@dataclass(frozen=True)
class LayerChoice:
    """A checked choice. Build it with `of`."""

    name: str
    """As it is written into metadata: "all", "average", "top", "1" or "0.2,0.3,0.5"."""
    weights: tuple[float, ...] | None
    """The weight of each layer; None: all layers are kept."""

    @classmethod
    def of(cls, layers: Layers, num_layers: int) -> "LayerChoice":
        """The choice `layers` of a model's `num_layers` layers; ConfigError if it makes no sense."""
        return cls(*layer_weights(layers, num_layers))

    @property
    def keeps_all(self) -> bool:
        """Whether the result has an axis of layers."""
        return self.weights is None

    def apply(self, layers: Any) -> Any:
        """Of an array (layers, ...), numpy's or torch's, the chosen layers or their sum."""
        if self.weights is None:
            return layers
        if self.name == "average":
            return layers.mean(axis=0)
        used = [(weight, layer) for weight, layer in zip(self.weights, layers, strict=True) if weight != 0]
        if not used:
            return layers[0] * 0
        total = used[0][1] if used[0][0] == 1 else used[0][1] * used[0][0]
        for weight, layer in used[1:]:
            total = total + layer * weight
        return total
