"""Tables and figures as pictures: bars, curves over shares of the data, a heat map of layer weights."""

from pathlib import Path
from typing import Any

from elmo.disk.atomic import new_file
from elmo.errors import MissingExtraError
from elmo.reproduce.outcomes import Outcome, data_of
from elmo.reproduce.report import TITLES, layer_names

SUFFIXES = (".png", ".svg")

_COLORS = {"baseline": "0.55", "elmo": "C0"}
_DOTS = {"color": "0.15", "s": 14, "zorder": 3, "linewidths": 0}


def require_matplotlib() -> None:
    """MissingExtraError without matplotlib."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingExtraError("matplotlib", "analysis", "drawing a figure") from None


def draw(experiment: str, outcomes: list[Outcome], path: Path) -> list[Path]:
    """Writes `path` with each of `SUFFIXES`, each whole or not at all, over what is there; the files.

    Raises MissingExtraError without matplotlib.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    draws = {"table2": _draw_bars, "table3": _draw_bars, "figure1": _draw_shares, "figure2": _draw_weights}
    figure = Figure(layout="constrained")
    draws[experiment](figure, outcomes)
    figure.suptitle(f"{TITLES[experiment]}: {outcomes[0].summary['task']}", fontsize=11)
    files = [path.with_name(path.name + suffix) for suffix in SUFFIXES]
    for file in files:
        with new_file(file, size=1 << 20, force=True) as unfinished:
            figure.savefig(unfinished, format=file.suffix[1:], dpi=200)
    return files


def _draw_bars(figure: Any, outcomes: list[Outcome]) -> None:
    """Means as bars with their spread, every seed as a dot. Where the axis doesn't begin at 0, it says so."""
    names = data_of(outcomes)
    figure.set_size_inches(4.6 * len(names), 3.6)
    labels = [outcome.system.label.replace(", ", ",\n").replace(" (", "\n(") for outcome in outcomes]
    for axes, data in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        for place, outcome in enumerate(outcomes):
            _draw_bar(axes, place, outcome.score(data), is_baseline=outcome.system.name == "baseline")
        scores = [score for outcome in outcomes for score in outcome.score(data)["scores"]]
        lowest, highest = min(scores), max(scores)
        room = max(highest - lowest, 1.0)
        axes.set_ylim(max(0.0, lowest - 0.6 * room), highest + 0.25 * room)
        axes.set_xticks(range(len(outcomes)), labels, fontsize=8)
        cut = "" if axes.get_ylim()[0] == 0 else " (axis cut below)"
        axes.set_ylabel(f"{data} {outcomes[0].summary['metric']}{cut}")
        _plain(axes)


def _draw_bar(axes: Any, place: int, summary: dict[str, Any], *, is_baseline: bool) -> None:
    spread = summary["standard_deviation"]
    color = _COLORS["baseline" if is_baseline else "elmo"]
    axes.bar(place, summary["mean"], width=0.6, color=color, yerr=spread, capsize=4, ecolor="0.15")
    axes.scatter([place + 0.18] * len(summary["scores"]), summary["scores"], **_DOTS)
    top = max([summary["mean"] + (spread or 0), *summary["scores"]])
    axes.annotate(f"{summary['mean']:.1f}", (place, top), xytext=(0, 3), textcoords="offset points", ha="center")


def _draw_shares(figure: Any, outcomes: list[Outcome]) -> None:
    """Means over the share of the data, its axis logarithmic, with the spread as a band."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    names = data_of(outcomes)
    figure.set_size_inches(4.8 * len(names), 3.8)
    shares = sorted({outcome.system.share for outcome in outcomes})
    for axes, data in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        for name, label in (("elmo", "+ ELMo"), ("baseline", "baseline (no ELMo)")):
            found = {outcome.system.share: outcome.score(data) for outcome in outcomes if outcome.system.name == name}
            means = [found[share]["mean"] for share in shares]
            spreads = [found[share]["standard_deviation"] or 0.0 for share in shares]
            style = "-" if name == "elmo" else "--"
            axes.plot(shares, means, style, color=_COLORS[name], marker="o", markersize=4, label=label)
            low, high = (
                [mean + sign * spread for mean, spread in zip(means, spreads, strict=True)] for sign in (-1, 1)
            )
            axes.fill_between(shares, low, high, color=_COLORS[name], alpha=0.18, linewidth=0)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(FixedLocator(shares))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{share:g}"))
        axes.set(xlabel="% of the training data", ylabel=f"{data} {outcomes[0].summary['metric']}")
        axes.legend(frameon=False, loc="best")
        _plain(axes)


def _draw_weights(figure: Any, outcomes: list[Outcome]) -> None:
    """A row for each mix, a column for each layer, darker where the weight is larger."""
    rows = [(outcome, mix) for outcome in outcomes for mix in outcome.mixes()]
    weights = [[weight["mean"] for weight in mix["weights"]] for _, mix in rows]
    figure.set_size_inches(2.6 + 1.35 * len(weights[0]), 1.5 + 0.55 * len(rows))
    axes = figure.subplots()
    image = axes.imshow(weights, cmap="Blues", vmin=0, vmax=max(0.5, *map(max, weights)), aspect="auto")
    for row, (_, mix) in enumerate(rows):
        for column, weight in enumerate(mix["weights"]):
            spread = weight["standard_deviation"]
            text = f"{weight['mean']:.2f}" + ("" if spread is None else f"\n± {spread:.2f}")
            color = "white" if image.norm(weight["mean"]) > 0.6 else "0.1"
            axes.text(column, row, text, ha="center", va="center", fontsize=8, color=color)
    labels = [mix["placement"] + (" (of both)" if outcome.system.name == "both" else " only") for outcome, mix in rows]
    axes.set_yticks(range(len(rows)), labels)
    axes.set_xticks(range(len(weights[0])), layer_names(outcomes))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.colorbar(image, ax=axes, label="weight in the mix", shrink=0.9)


def _plain(axes: Any) -> None:
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
