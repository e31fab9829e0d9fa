"""Curves of training runs: the sampled loss of training, and the perplexity on held-out text, over tokens seen.

The loss of training is that of the sampled softmax: optimistic, so it stands on an axis of its own and is never turned
into a perplexity (docs/specification.md, 6.5).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elmo.disk.atomic import new_file
from elmo.disk.json_file import read_record, read_records
from elmo.errors import ConfigError, MissingExtraError

SUFFIXES = (".png", ".svg", ".pdf")

_DASHES = {"forward": (0, (4, 2)), "backward": (0, (1, 1.5)), "mean": "solid"}
_WIDTH, _HEIGHT = 9.0, 4.2
_MOST_POINTS = 400
_LOG_FROM = 4


@dataclass(frozen=True)
class Curves:
    """One run's figures over the tokens read in each direction."""

    name: str
    loss_tokens: np.ndarray
    loss: np.ndarray
    """(logged steps,) mean sampled loss over the directions, nats per token."""
    perplexity_tokens: np.ndarray
    perplexity: dict[str, np.ndarray]
    """Per direction and for "mean": (evaluations,) on the validation text."""


def read_curves(run: Path) -> Curves:
    """A run folder's curves. Raises ConfigError if it is not a run folder, or nothing was logged yet."""
    run = Path(run)
    config, metrics = run / "config.json", run / "metrics.jsonl"
    for path in (config, metrics):
        if not path.is_file():
            raise ConfigError(
                f"{run}: there is no {path.name}, so it is not a run folder, or its first step is not logged yet. "
                "Name a folder that 'elmo pretrain' or 'elmo finetune' wrote."
            )
    recipe = read_record(config)
    tokens = recipe["batch_size"] * recipe["unroll_steps"]
    lines = [line for _, line in read_records(metrics, "step")]
    losses = [(_tokens_read(line, tokens), line["loss"]) for line in lines if "loss" in line]
    found = _one_for_each_step([line for line in lines if line.get("evaluation") == "valid"])
    if not losses and not found:
        raise ConfigError(f"{metrics}: nothing was logged yet. Wait for the run's first {recipe['log_every']} steps.")
    directions = [name for name in _DASHES if found and f"{name}_perplexity" in found[0]]
    return Curves(
        run.resolve().name,
        np.array([place for place, _ in losses], dtype=float),
        np.array([loss for _, loss in losses], dtype=float),
        np.array([_tokens_read(line, tokens) for line in found], dtype=float),
        {name: np.array([line[f"{name}_perplexity"] for line in found], dtype=float) for name in directions},
    )


def _tokens_read(line: dict[str, Any], tokens_per_step: int) -> int:
    """Lines of older versions don't have it; then windows had one size."""
    return line.get("tokens_read", line["step"] * tokens_per_step)


def _one_for_each_step(evaluations: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The last step is evaluated on all sentences too; joined to the figure of some of them, it would be a jump."""
    kept: dict[int, dict[str, Any]] = {}
    for line in evaluations:
        kept.setdefault(line["step"], line)
    return list(kept.values())


def draw_curves(runs: Sequence[Curves], path: Path, *, force: bool = False) -> None:
    """A figure of two panels, each with one color per run, as PNG, SVG or PDF by the name's suffix; written atomically.

    Raises ConfigError for another suffix or no run, OutputError if `path` exists and `force` is False,
    MissingExtraError without matplotlib.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"{path}: has the suffix {path.suffix!r}, but figures are {' or '.join(SUFFIXES)}.")
    if not runs:
        raise ConfigError("there is no run to draw: none was named. Name at least one run folder.")
    figure = _figure(runs)
    with new_file(path, size=1 << 20, force=force) as unfinished:
        figure.savefig(unfinished, format=path.suffix.lower()[1:], dpi=200)


def _figure(runs: Sequence[Curves]) -> Any:
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import EngFormatter
    except ImportError:
        raise MissingExtraError("matplotlib", "analysis", "drawing curves") from None
    figure = Figure(figsize=(_WIDTH, _HEIGHT), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True)
    for number, run in enumerate(runs):
        _draw_loss(left, run, f"C{number}")
        _draw_perplexity(right, run, f"C{number}")
    left.set(title="Training loss (sampled softmax)", ylabel="nats per token, mean of the directions")
    right.set(title="Validation perplexity (full softmax)", ylabel="perplexity")
    _scale_perplexity(right, runs)
    for axes in (left, right):
        axes.set_xlabel("tokens read in each direction")
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.margins(x=0.12)
        axes.set_xlim(left=0)
        axes.grid(which="both", color="0.9", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    _legends(left, right, runs)
    return figure


def _draw_loss(axes: Any, run: Curves, color: str) -> None:
    """The logged values, pale, and their moving average over a fiftieth of the run."""
    if not len(run.loss):
        return
    step = -(-len(run.loss) // _MOST_POINTS)
    axes.plot(run.loss_tokens[::step], run.loss[::step], color=color, alpha=0.25, linewidth=0.8)
    width = max(1, len(run.loss) // 50)
    smooth = _smooth(run.loss, width)
    # Near its ends the average is over ever fewer values, and as ragged as they are.
    whole = slice(width, len(smooth) - width) if len(smooth) > 4 * width else slice(None)
    axes.plot(run.loss_tokens[whole], smooth[whole], color=color, label=run.name)


def _draw_perplexity(axes: Any, run: Curves, color: str) -> None:
    for direction, values in run.perplexity.items():
        axes.plot(
            run.perplexity_tokens,
            values,
            color=color,
            linestyle=_DASHES[direction],
            linewidth=1.8 if direction == "mean" else 1.0,
            marker="o" if direction == "mean" else None,
            markersize=3.5,
        )
    if "mean" in run.perplexity and len(run.perplexity["mean"]):
        last = run.perplexity["mean"][-1]
        axes.annotate(
            f"{last:.1f}", (run.perplexity_tokens[-1], last), xytext=(0, 7), textcoords="offset points", color=color,
            ha="center",
        )  # fmt: skip


def _scale_perplexity(axes: Any, runs: Sequence[Curves]) -> None:
    """Logarithmic where the values span a wide range, with few plain labels."""
    from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter

    values = [value for run in runs for numbers in run.perplexity.values() for value in numbers]
    if values and max(values) > _LOG_FROM * min(values):
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(ScalarFormatter())


def _legends(left: Any, right: Any, runs: Sequence[Curves]) -> None:
    from matplotlib.lines import Line2D

    if any(len(run.loss) for run in runs):
        left.legend(frameon=False)
    shown = [name for name in ("mean", "forward", "backward") if any(name in run.perplexity for run in runs)]
    if shown:
        handles = [Line2D([], [], color="0.3", linestyle=_DASHES[name], label=name) for name in shown]
        right.legend(handles=handles, frameon=False)
    else:
        right.text(0.5, 0.5, "not evaluated yet", transform=right.transAxes, ha="center", color="0.5")


def _smooth(values: np.ndarray, width: int) -> np.ndarray:
    """Each value's mean with as many neighbors on both sides as there are, at most `width`."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    places = np.arange(len(values))
    reach = np.minimum(width, np.minimum(places, len(values) - 1 - places))
    return (sums[places + reach + 1] - sums[places - reach]) / (2 * reach + 1)
