"""Pictures by matplotlib: the uses of a word on a map, the similarities of two sentences, the weights of a mix.

They are those of the explorer's page, and what they show is in the axes that they return:

plot_uses        `axes.collections`: the points, in a collection for each label
plot_similarity  `axes.images[0].get_array()`: the cosines
plot_mix         `axes.containers`: the bars of each mix
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from elmo.analysis.neighbors.context_index import unit
from elmo.analysis.neighbors.korean import forms_of
from elmo.analysis.neighbors.occurrence_map import pictures
from elmo.embed.results.similarity import similarity
from elmo.errors import ConfigError, TextError, TextWarning
from elmo.layer_choice import LayerChoice, Layers
from elmo.process.extra_library import extra_library
from elmo.text.sentence_checks import checked_sentence, checked_sentences

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from elmo.embed.embedder import Embedder

# As the page: blue and orange, and then others that the color-blind can tell from these (Okabe and Ito 2008).
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#b0a800")
_DARK = 0.53  # from this cosine on a cell's number is white


def plot_uses(
    word: str,
    sentences: Iterable[str | Sequence[str]],
    embedder: "Embedder",
    *,
    labels: Sequence[str] | None = None,
    layers: Layers = "top",
    ax: "Axes | None" = None,
) -> "Axes":
    """Every use of a word in `sentences` as a point on a map: uses with similar vectors lie near each other.

    The number beside a point is the place of its sentence in the list, from 0. A Korean noun is also found with its
    particles. `labels`: one for each sentence, such as the meaning of the word in it; each has its color. `layers`: as
    for `Embedder.embed`, but not "all". `ax`: the axes that are drawn into (default: those of a new figure).

    The map shows the two directions in which the vectors, scaled to length 1, differ most, and says how much of their
    variance these hold; each layer's map is turned onto the one of the layer below, so that they can be compared.
    Raises TextError if no sentence has the word, ConfigError for layers that are no single vector and for labels of
    another number than sentences, MissingExtraError without matplotlib.
    """
    checked = checked_sentences(sentences)
    if labels is not None and len(labels) != len(checked):
        raise ConfigError(f"there are {len(checked)} sentences, but {len(labels)} labels. Give one for each sentence.")
    choice = _one_vector(layers, embedder)
    forms = {word, *forms_of(word, {token for sentence in checked for token in sentence})}
    uses = [(row, place) for row, tokens in enumerate(checked) for place, token in enumerate(tokens) if token in forms]
    if not uses:
        raise TextError(
            f"none of the {len(checked)} sentences has the token {word!r}. Write it as it stands there, capitals and "
            "all; marks are tokens of their own."
        )
    edge = int(embedder.keep_boundaries)
    arrays = embedder.embed(checked)
    vectors = np.stack([arrays[row][:, place + edge] for row, place in uses], axis=1)
    picture = pictures([unit(one) for one in _up_to(choice, vectors)], marks=0)[-1]

    axes = _axes(ax, "plot_uses()")
    given = ["" if labels is None else labels[row] for row, _ in uses]
    for number, label in enumerate(dict.fromkeys(given)):
        shown = picture.points[[one == label for one in given]]
        axes.scatter(*shown.T, s=36, alpha=0.8, color=_COLORS[number % len(_COLORS)], label=label)
    for (row, _), (x, y) in zip(uses, picture.points, strict=True):
        axes.annotate(f"{row}", (x, y), xytext=(4, 3), textcoords="offset points", fontsize="x-small", color="dimgray")
    held = "all uses have the same vector"
    if picture.variance is not None:
        held = f"the two dimensions shown hold {picture.variance:.0%} of the variance"
    axes.set(title=f"{word}, layers: {choice.name}", xlabel=held, xticks=[], yticks=[])
    axes.set_aspect("equal", adjustable="datalim")
    if labels is not None:
        axes.legend(frameon=False)
    return _readable(axes)


def plot_similarity(
    a: str | Sequence[str],
    b: str | Sequence[str],
    embedder: "Embedder",
    *,
    layers: Layers = "top",
    ax: "Axes | None" = None,
) -> "Axes":
    """The cosine of each token of sentence `a`, a row, with each token of `b`, a column.

    `layers`, `ax`, errors: as for `plot_uses`.
    """
    rows, columns = checked_sentence(a, "a"), checked_sentence(b, "b")
    choice = _one_vector(layers, embedder)
    table = similarity(*embedder.embed([rows, columns], layers=layers))
    if embedder.keep_boundaries:
        rows, columns = (["<S>", *tokens, "</S>"] for tokens in (rows, columns))
    axes = _axes(ax, "plot_similarity()")
    axes.imshow(table, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=45, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    axes.set(xlabel=f"cosine, layers: {choice.name}")
    axes.spines[:].set_visible(False)
    for (i, j), value in np.ndenumerate(table):
        color = "white" if value > _DARK else "black"
        number = f"{value:.2f}".replace("-0.00", "0.00")
        axes.text(j, i, number, ha="center", va="center", fontsize="small", color=color)
    return _readable(axes)


def plot_mix(
    mixes: Sequence[Mapping[str, Any]] | Sequence[float],
    *,
    names: Sequence[str] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """The weight of each layer in one or more mixes as bars, beside a line at the plain average, where training begins.

    `mixes`: what `ELMo.mix_weights()` returns, "mix_weights" of a task run's scores.json, or the weights of one mix.
    `names`: of the mixes, for the legend (default: each one's gamma). `ax`: as for `plot_uses`.
    Raises MissingExtraError without matplotlib.
    """
    found = [it if isinstance(it, Mapping) else None for it in mixes]
    known = [it for it in found if it is not None]
    weights = np.array([it["weights"] for it in known] if known else [mixes], dtype=np.float64)
    names = names or [f"γ = {it['gamma']:.2f}" for it in known]
    count, num_layers = weights.shape
    axes = _axes(ax, "plot_mix()")
    width = 0.8 / count
    for number, row in enumerate(weights):
        middles = np.arange(num_layers) + (number - (count - 1) / 2) * width
        bars = axes.bar(middles, row, width, color=_COLORS[number % len(_COLORS)], label=names[number] if names else "")
        axes.bar_label(bars, fmt="%.2f", fontsize="small")
    axes.axhline(1 / num_layers, color="gray", linewidth=1, linestyle="--")
    axes.set(xticks=range(num_layers), xlabel="layer", ylabel="weight")
    axes.spines[["top", "right"]].set_visible(False)
    if names:
        axes.legend(frameon=False)
    return _readable(axes)


def _one_vector(layers: Layers, embedder: "Embedder") -> LayerChoice:
    choice = LayerChoice.of(layers, embedder.num_layers)
    if choice.keeps_all:
        raise ConfigError(
            "layers is 'all', but a picture shows one vector of each token. Use 'top', 'average', an index or weights."
        )
    return choice


def _up_to(choice: LayerChoice, layers: np.ndarray) -> list[np.ndarray]:
    """The layers whose pictures are turned onto each other, the chosen one last; a sum comes after all layers."""
    used = [layer for layer, weight in enumerate(choice.weights or ()) if weight]
    return [*layers[: used[0] + 1]] if len(used) == 1 else [*layers, choice.apply(layers)]


def _axes(given: "Axes | None", purpose: str) -> "Axes":
    pyplot = extra_library("matplotlib.pyplot", "plot", purpose)
    return pyplot.subplots(layout="constrained")[1] if given is None else given


def _readable(axes: "Axes") -> "Axes":
    """With fonts that have all letters of the picture: matplotlib's own have no Korean, for example."""
    from matplotlib.text import Text

    texts = axes.findobj(Text)
    families = _families(frozenset("".join(text.get_text() for text in texts)) - {"\n"})
    for text in texts:
        text.set_fontfamily(families)
    return axes


@cache
def _families(letters: frozenset[str]) -> list[str]:
    """The usual fonts, and after them installed ones that have the letters which those lack."""
    from matplotlib import font_manager, rcParams

    families = list(rcParams["font.family"])
    lacking = set(letters) - _letters_of(font_manager.findfont(font_manager.FontProperties(family=families)))
    upright = [it for it in font_manager.fontManager.ttflist if it.style == "normal" and it.weight in (400, "normal")]
    for font in sorted(upright, key=lambda it: ("Sans" not in it.name and "Gothic" not in it.name, it.name)):
        if lacking and (has := lacking & _letters_of(font.fname)):
            families.append(font.name)
            lacking -= has
    if lacking:
        warnings.warn(
            f"no installed font has {''.join(sorted(lacking))[:20]!r}, so boxes are drawn in their place. Install a "
            "font that has them, such as Noto Sans CJK (apt install fonts-noto-cjk), delete the folder that "
            "matplotlib.get_cachedir() names, and start Python again.",
            TextWarning,
            stacklevel=4,
        )
    return families


@cache
def _letters_of(font: str) -> frozenset[str]:
    from matplotlib.font_manager import get_font

    return frozenset(map(chr, get_font(font).get_charmap()))
