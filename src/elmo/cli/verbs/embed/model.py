"""The model of `elmo embed`: what can be said of it early, and the Embedder."""

import sys
from typing import TYPE_CHECKING

from elmo.cli.verbs.embed.options import Arguments

if TYPE_CHECKING:
    from elmo.embed.embedder import Embedder
    from elmo.layer_choice import Layers


def check_layers(layers: "Layers", model: str | None) -> None:
    """Raises if there is no such model, or its config shows that it hasn't these layers."""
    from elmo.layer_choice import layer_weights
    from elmo.weights.describe import outline

    if (num_layers := outline(model).num_layers) is not None:
        layer_weights(layers, num_layers)


def load_embedder(arguments: Arguments) -> "Embedder":
    """The model with its settings; says which type "auto" stands for."""
    # Here, so that checks do not wait for it.
    from elmo.embed.embedder import Embedder

    embedder = Embedder.from_pretrained(
        arguments.model,
        device=arguments.device,
        dtype=arguments.dtype,
        state=arguments.state,
        keep_boundaries=arguments.keep_boundaries,
        max_tokens=arguments.max_tokens,
    )
    if arguments.dtype == "auto" and not arguments.quiet:
        print(f"--dtype auto: {embedder.dtype}", file=sys.stderr)
    return embedder
