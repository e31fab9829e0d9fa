"""Which layers: what a caller may ask for as `layers`, and how the layers become one array.

"all"               (layers, tokens, dim)
"average"           their plain mean, as the layer weights of an untrained scalar mix
"top"               the last layer alone
an index            that layer; 0 is the token layer, -1 the top one
a list of weights   the weighted sum, by exactly these numbers: no softmax, no gamma

Nothing here loads torch: a choice that makes no sense is refused before a model is loaded.
"""

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex

from elmo.errors import ConfigError

Layers = str | SupportsIndex | Sequence[float]
"""A name, an index of any integer type (0 is the token layer, -1 the top one), or a weight for each layer."""

NAMES = ("all", "average", "top")


@dataclass(frozen=True)
class LayerChoice:
    """A checked choice. Build it with `of`."""

    name: str
    """As it is written into metadata: "all", "average", "top", "1" or "0.2,0.3,0.5"."""
    weights: tuple[float, ...] | None
    """The weight of each layer; None: all layers are kept."""

    @classmethod
    def of(cls, layers: Layers, num_layers: int) -> "LayerChoice":
        """The choice `layers` of a model's `num_layers` layers, the token layer included.

        Raises ConfigError for a choice that this model can't give.
        """
        if isinstance(layers, str | bytes | bool):  # b"all" has three numbers, and True would be the index 1
            return cls(str(layers), _named(layers, num_layers))
        try:
            index = operator.index(layers)  # type: ignore[arg-type] - whatever is not an index is a TypeError
        except TypeError:
            weights = _checked_weights(layers, num_layers)
            return cls(",".join(f"{weight:.12g}" for weight in weights), weights)
        if not -num_layers <= index < num_layers:
            raise _not_a_choice(layers, num_layers)
        return cls(str(index % num_layers), _one(index % num_layers, num_layers))

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


def parse_layers(text: str) -> Layers:
    """What the command line has: a name, an index, or weights with commas between them. `LayerChoice.of` checks it."""
    try:
        return [float(part) for part in text.split(",")] if "," in text else int(text)
    except ValueError:
        return text


def mix_weights(layers: Layers, num_layers: int) -> tuple[float, ...] | None:
    """Each layer's fixed weight in a scalar mix, which takes any choice but "all"; None for "mix", learned ones."""
    if isinstance(layers, str) and layers == "mix":
        return None
    weights = LayerChoice.of(layers, num_layers).weights
    if weights is None or min(weights) < 0 or sum(weights) == 0:
        raise ConfigError(
            f"layers is {layers!r}. Use 'mix', 'average', 'top', an index, or weights of 0 or more, not all of them 0."
        )
    return weights


def _named(name: object, num_layers: int) -> tuple[float, ...] | None:
    if name not in NAMES:
        raise _not_a_choice(name, num_layers)
    if name == "all":
        return None
    return _one(num_layers - 1, num_layers) if name == "top" else (1 / num_layers,) * num_layers


def _one(index: int, num_layers: int) -> tuple[float, ...]:
    return tuple(float(place == index) for place in range(num_layers))


def _checked_weights(layers: Any, num_layers: int) -> tuple[float, ...]:
    try:
        weights = tuple(float(weight) for weight in layers)
    except (TypeError, ValueError, OverflowError):
        weights = ()
    if len(weights) != num_layers or not all(map(math.isfinite, weights)):
        raise _not_a_choice(layers, num_layers)
    return weights


def _not_a_choice(layers: object, num_layers: int) -> ConfigError:
    return ConfigError(
        f"layers is {layers!r:.200}, but the model has {num_layers} layers. Use 'all', 'average', 'top', an index from "
        f"{-num_layers} to {num_layers - 1} (0: the token layer), or {num_layers} weights, such as 0.2,0.3,0.5."
    )
