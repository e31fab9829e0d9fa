"""What may be asked for as `layers`, known before a model is: its names, and what is written on the command line."""

from collections.abc import Sequence

from elmo.errors import ConfigError

Layers = str | int | Sequence[float]
"""A name, an index (0 is the token layer, -1 the top one), or a weight for each layer."""

NAMES = ("all", "average", "top")


def parse_layers(text: str) -> Layers:
    """What the command line has: "all", "average", "top", an index, or weights with commas between them."""
    try:
        return [float(part) for part in text.split(",")] if "," in text else int(text)
    except ValueError:
        if text in NAMES:
            return text
    raise ConfigError(
        f"layers is {text!r}, which chooses no layers. Use {', '.join(NAMES)}, an index such as 0 or -1, or one weight "
        "for each layer, such as 0.2,0.3,0.5."
    )
