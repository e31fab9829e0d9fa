"""Curves of training runs: the sampled loss of training, and the perplexity on held-out text, over tokens seen.

The training loss comes from the sampled softmax and is optimistic, so it has an axis of its own and is never converted
to a perplexity (docs/specification.md, 6.5).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elmo.analysis.plots import plain, require_figure, save
from elmo.disk.atomic import new_file
from elmo.disk.bounded import shown
from elmo.disk.json_file import read_record, read_records
from elmo.disk.output import escaped
from elmo.errors import ConfigError
from elmo.shapes import Float

SUFFIXES = (".png", ".svg", ".pdf")

_DASHES = {"forward": (0, (4, 2)), "backward": (0, (1, 1.5)), "mean": "solid"}
_WIDTH, _HEIGHT = 9.0, 4.2
_MOST_POINTS = 400
_LOG_FROM = 4
_RESTORE = "Restore the file from a copy, or leave this run out."


@dataclass(frozen=True)
class Curves:
    """One run's figures over the tokens read in each direction."""

    name: str
    loss_tokens: Float[np.ndarray, " steps"]
    loss: Float[np.ndarray, " steps"]
    """Of the logged steps: the mean sampled loss over the directions, nats per token."""
    perplexity_tokens: Float[np.ndarray, " evaluations"]
    perplexity: dict[str, Float[np.ndarray, " evaluations"]]
    """Per direction and for "mean", on the validation text."""


def read_curves(run: Path) -> Curves:
    """A run folder's curves. Raises ConfigError if it is not a run folder or is damaged, or nothing was logged yet."""
    run = Path(run)
    config, metrics = run / "config.json", run / "metrics.jsonl"
    for path in (config, metrics):
        if not path.is_file():
            raise ConfigError(
                f"{run}: there is no {path.name}, so it is not a run folder, or its first step is not logged yet. "
                "Name a folder that 'elmo pretrain' or 'elmo finetune' wrote."
            )
    tokens = _tokens_per_step(config)
    lines = [line for _, line in read_records(metrics, "step")]
    logged = [line for line in lines if "loss" in line]
    found = _one_for_each_step([line for line in lines if line.get("evaluation") == "valid"])
    if not logged and not found:
        raise ConfigError(f"{metrics}: nothing was logged yet. Wait until the run has logged a step.")
    directions = [name for name in _DASHES if found and f"{name}_perplexity" in found[0]]
    return Curves(
        escaped(run.resolve().name),
        _tokens_read(logged, tokens, metrics),
        _numbers(logged, "loss", metrics),
        _tokens_read(found, tokens, metrics),
        {name: _numbers(found, f"{name}_perplexity", metrics) for name in directions},
    )


def _tokens_per_step(config: Path) -> int:
    recipe = read_record(config)
    if not isinstance(recipe, dict):
        raise ConfigError(
            f"{config}: holds a JSON {type(recipe).__name__}, but the settings of a run are an object. {_RESTORE}"
        )
    for name in ("batch_size", "unroll_steps"):
        value = recipe.get(name)
        if type(value) is not int or value < 1:
            raise ConfigError(
                f"{config}: {name} must be a whole number above 0 (got {shown(value)}): a step reads that many rows "
                f"and tokens of each. {_RESTORE}"
            )
    return recipe["batch_size"] * recipe["unroll_steps"]


def _tokens_read(lines: Sequence[dict[str, Any]], tokens_per_step: int, metrics: Path) -> Float[np.ndarray, " lines"]:
    """Lines of older versions don't have it; then windows had one size."""
    counted = [{"tokens_read": line["step"] * tokens_per_step, **line} for line in lines]
    return _numbers(counted, "tokens_read", metrics)


def _numbers(lines: Sequence[dict[str, Any]], key: str, metrics: Path) -> Float[np.ndarray, " lines"]:
    """The value of `key` in each line. Raises ConfigError for a value that is not a number."""
    for line in lines:
        if type(line.get(key)) not in (int, float):
            raise ConfigError(
                f"{metrics}: at step {line['step']} {key} must be a number (got {shown(line.get(key))}). {_RESTORE}"
            )
    return np.array([line[key] for line in lines], dtype=float)


def _one_for_each_step(evaluations: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The last step is evaluated on all sentences too. Beside the figures on some, that would look like a jump."""
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
    require_figure(path, SUFFIXES)
    if not runs:
        raise ConfigError("there is no run to draw: none was named. Name at least one run folder.")
    figure = _figure(runs)
    with new_file(path, size=1 << 20, force=force) as unfinished:
        save(figure, unfinished, path.suffix.lower())


def _figure(runs: Sequence[Curves]) -> Any:
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

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
        plain(axes, which="both")
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
    if "mean" in run.perplexity and len(run.perplexity["mean"]) and np.isfinite(run.perplexity["mean"][-1]):
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


def _smooth(values: Float[np.ndarray, " values"], width: int) -> Float[np.ndarray, " values"]:
    """Each value's mean with as many neighbors on both sides as there are, at most `width`."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    places = np.arange(len(values))
    reach = np.minimum(width, np.minimum(places, len(values) - 1 - places))
    return (sums[places + reach + 1] - sums[places - reach]) / (2 * reach + 1)
