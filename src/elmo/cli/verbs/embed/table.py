"""The table of a sentence's vectors that `elmo embed` shows."""

from typing import TYPE_CHECKING

from elmo.cli.display_width import padded, shortened, width

if TYPE_CHECKING:
    import numpy as np

_VALUES_SHOWN = 4
_WIDEST_TOKEN = 24


def table(tokens: list[str], spans: list[list[int]], array: "np.ndarray") -> str:
    """A row per token: its place in the text, the L2 norm of its vector in each layer, and the first dimensions of the
    vector in the last."""
    layers = array if array.ndim == 3 else array[None]
    shown = [shortened(token, _WIDEST_TOKEN) for token in tokens]
    columns = max(map(width, ("token", *shown)))
    names = [f"layer {index}" for index in range(len(layers))] if array.ndim == 3 else ["length"]
    begin = "begins, layer " + str(len(layers) - 1) if array.ndim == 3 else "begins"
    lines = [f"{padded('token', columns)} {'from-to':>9}" + "".join(f"{name:>10}" for name in names) + f"   {begin}"]
    for place, (token, (start, end)) in enumerate(zip(shown, spans, strict=True)):
        lengths = "".join(f"{(layer[place].astype('float64') ** 2).sum() ** 0.5:>10.3f}" for layer in layers)
        values = " ".join(f"{value:7.3f}" for value in layers[-1][place][:_VALUES_SHOWN])
        span = "" if start < 0 else f"{start}-{end}"
        lines.append(f"{padded(token, columns)} {span:>9}{lengths}   {values} ...")
    axes = "layers, tokens, dimensions" if array.ndim == 3 else "tokens, dimensions"
    shape = f"{axes}: {' x '.join(map(str, array.shape))}, {array.dtype}"
    named = "layer 0 ..." if array.ndim == 3 else "length"
    return "\n".join([*lines, "", shape, f"{named}: L2 norm of the vector; from-to: characters of the text"])
