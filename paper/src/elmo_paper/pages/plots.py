"""A record as a picture: dots with intervals, curves over shares of the data, a heat map of layer weights.

And several records in one: table 1, and what the layers know beside the paper's figures.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from elmo.disk.atomic import new_file
from elmo_paper.analysis.plots import SUFFIXES, Dot, Panel, drawn, panels_of, plain, save
from elmo_paper.analysis.record import Record, row_name
from elmo_paper.pages.tables import data_in, data_name, layer_names, metric_name, title
from elmo_paper.reproduce import paper
from elmo_paper.reproduce.record import ExperimentRecord

# Points of score that an axis spans at least: differences of a few tenths shouldn't fill a picture.
_LEAST_SPAN = 8.0
# Rules this many points below the lowest system are named below the picture, so that it keeps its scale.
_FAR_BELOW = 12.0
_COLORS = {"baseline": "0.35", "elmo": "C0", "rule": "C3"}


def draw(record: ExperimentRecord, path: Path, suffixes: tuple[str, ...] = SUFFIXES) -> list[Path]:
    """Writes `path` with each suffix, each atomically, replacing existing files; returns the files."""
    from matplotlib.figure import Figure

    draws = {"figure1": _draw_shares, "figure2": _draw_weights}
    figure = Figure(layout="constrained")
    draws.get(record["experiment"], _draw_dots)(figure, record)
    figure.suptitle(f"{title(record['experiment'])}\n{data_name(record)}", fontsize=11)
    return _saved(figure, path, suffixes)


def draw_gains(records: Sequence[ExperimentRecord], path: Path, suffixes: tuple[str, ...] = SUFFIXES) -> list[Path]:
    """Table 1 as one picture: on the left the scores without and with ELMo, on the right the gain and the paper's."""
    from matplotlib.figure import Figure

    rows = [row for record in records for row in _gain_rows(record)]
    figure = Figure(figsize=(6.4, 1.6 + 0.55 * len(rows)), layout="constrained")
    scores, gains = figure.subplots(1, 2, sharey=True)
    for place, (_, data, record) in enumerate(rows):
        (gain,) = record["gains"]
        for system, shift in zip(record["systems"], (-0.14, 0.14), strict=True):
            color = _COLORS[system["system"]]
            scores.plot(_bounds(system[data]), [place + shift] * 2, color=color, linewidth=1.6)
            scores.scatter(system[data]["mean"], place + shift, s=26, color=color, zorder=3,
                           label="" if place else system["label"])  # fmt: skip
        found, theirs = gain[data], record["paper"]["table1"]["gain"]
        gains.plot(found["interval"] or [found["difference"]] * 2, [place] * 2, color="C0", linewidth=1.6)
        gains.scatter(found["difference"], place, s=26, color="C0", zorder=3)
        gains.scatter(theirs, place, s=34, marker="D", facecolors="none", edgecolors="C3", zorder=3,
                      label="" if place else "the paper's gain, on its own data")  # fmt: skip
    gains.axvline(0, color="0.35", linewidth=0.8)
    _name_rows(scores, [name for name, _, _ in rows])
    for axes, label in ((scores, "score"), (gains, "gain in points")):
        _finish(axes, label)
    figure.suptitle(f"{title('table1')}\nlines: 95 % intervals over seeds and test examples", fontsize=10)
    return _saved(figure, path, suffixes)


def _name_rows(axes: Any, names: Sequence[str]) -> None:
    """The first one at the top, the task below its data."""
    axes.set_yticks(range(len(names)), [name.replace(" (", "\n(") for name in names], fontsize=8)
    axes.set_ylim(len(names) - 0.5, -0.5)


def _finish(axes: Any, label: str) -> None:
    axes.set_xlabel(label, fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
    axes.legend(frameon=False, fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    plain(axes, axis="x")


def _gain_rows(record: ExperimentRecord) -> Iterator[tuple[str, str, ExperimentRecord]]:
    """The name of the data, and which they are: the test data, and second ones if the same models were scored there."""
    yield data_name(record), record["decided_on"], record
    if "second_name" in record:
        yield data_name({**record, "name": record["second_name"]}), "second_test", record


def draw_layers(table: str, records: Sequence[Record], path: Path, suffixes: tuple[str, ...] = SUFFIXES) -> list[Path]:
    """One of tables 4 to 6, of one record or several of an analysis; the paper's figures are in the first panel."""
    found = [panel for record in records for panel in _layer_panels(table, record)]
    names = list(dict.fromkeys(row_name(vars(dot)) for panel in found for dot in panel.dots))
    theirs = _IN_PAPER[table]
    panels = [_with_rows(panel, names, {} if place else theirs) for place, panel in enumerate(found)]
    marks = ["lines: 95 % intervals", *(["diamonds: the paper, on its own data"] if theirs else [])]
    text = f"Table {table[-1]} of the paper: {_LAYER_TITLES[table]}\n{'; '.join(marks)}"
    return _saved(drawn(panels, text, panel_width=2.3 if len(panels) > 1 else 3.4), path, suffixes)


_LAYER_TITLES = {
    "table4": "the nearest occurrence of the same word",
    "table5": "word senses by the nearest sense vector",
    "table6": "parts of speech by a linear probe",
}
_IN_PAPER: Mapping[str, Mapping[str, float]] = {
    "table4": {},
    "table5": {name: score - paper.TABLE_5["first sense"] for name, score in paper.TABLE_5.items()},
    "table6": paper.TABLE_6,
}


def _layer_panels(table: str, record: Record) -> list[Panel]:
    """Of table 4 the nearest occurrence, of table 5 the paper's own method, of table 6 the accuracy on all words."""
    panels = panels_of(record)
    if table == "table4":
        return [panel for panel in panels if panel.axis.endswith("nearest")]
    if table == "table5":
        return [replace(panels[0], dots=[dot for dot in panels[0].dots if not dot.encoder.endswith(" k-NN")])]
    return [replace(panels[0], axis=f"{record['model']}: {panels[0].axis}")]


def _with_rows(panel: Panel, names: Sequence[str], theirs: Mapping[str, float]) -> Panel:
    """With a row for each name, which is empty where the panel has no such row."""
    own = {row_name(vars(dot)): dot for dot in panel.dots}
    dots = [replace(own[name], paper=theirs.get(name)) if name in own else Dot(name, "", None) for name in names]
    return replace(panel, dots=dots)


def draw_finetuned(records: Sequence[dict[str, Any]], path: Path, suffixes: tuple[str, ...] = SUFFIXES) -> list[Path]:
    """Table 7: the perplexity of each text before and after fine-tuning, ours above the paper's; a logarithmic axis."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 1.4 + 0.5 * len(records)), layout="constrained")
    axes = figure.subplots()
    for place, record in enumerate(records):
        own = record["perplexity"]["before"], statistics.fmean(record["perplexity"]["after"])
        theirs = [value for value in paper.TABLE_7[record["text"]][1:] if value is not None]
        for shift, ends, color, label in (
            (-0.14, own, "C0", "here"),
            (0.14, theirs, "C3", "the paper, on its own data"),
        ):
            axes.plot(ends, [place + shift] * len(ends), color=color, linewidth=1.6, label="" if place else label)
            axes.scatter(ends[0], place + shift, s=26, facecolors="white", edgecolors=color, zorder=3)
            axes.scatter(ends[1:], [place + shift] * len(ends[1:]), s=26, color=color, zorder=3)
    axes.set_xscale("log")
    ticks = [15, 25, 50, 100, 200]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set_xticks([], minor=True)
    _name_rows(axes, [data_name(record) for record in records])
    _finish(axes, "perplexity on dev text: before (open) and after an epoch on the training text")
    figure.suptitle("Table 7 of the paper: the biLM fine-tuned on a task's text", fontsize=10)
    return _saved(figure, path, suffixes)


def _saved(figure: Any, path: Path, suffixes: Sequence[str]) -> list[Path]:
    files = [path.with_name(path.name + suffix) for suffix in suffixes]
    for file in files:
        with new_file(file, size=1 << 20, force=True) as unfinished:
            save(figure, unfinished, file.suffix)
    return files


def _draw_dots(figure: Any, record: ExperimentRecord) -> None:
    """A line for each system: the mean, its interval, and every seed. Rules without learning are dotted lines."""
    names, systems = data_in(record), record["systems"]
    figure.set_size_inches(4.4 * len(names) + 1.2, 2.1 + 0.45 * len(systems))
    panels = figure.subplots(1, len(names), squeeze=False, sharey=True)[0]
    for axes, data in zip(panels, names, strict=True):
        for place, system in enumerate(systems):
            _draw_dot(axes, place, system[data], _COLORS["baseline" if system["system"] == "baseline" else "elmo"])
        bounds = _all_bounds(record, data)
        _draw_rules(axes.axvline, near := _near(record["rules"], data, bounds), data)
        _span(axes.set_xlim, bounds + [rule[data] for rule in near])
        axes.set_yticks(range(len(systems)), [system["label"] for system in systems])
        axes.set_ylim(len(systems) - 0.5, -0.5)
        axes.set_xlabel(f"{metric_name(record['metric'])} on {data.replace('_', ' ')}")
        plain(axes, axis="x")
    _legend(figure, panels[-1], _explanation(record, "Full dots: means; circles: single seeds"))


def _draw_dot(axes: Any, place: int, summary: dict[str, Any], color: str) -> None:
    low, high = _bounds(summary)
    axes.plot([low, high], [place, place], color=color, linewidth=1.6, solid_capstyle="butt")
    axes.scatter(summary["mean"], place, s=38, color=color, zorder=3)
    scores = summary["scores"]
    axes.scatter(scores, [place + 0.22] * len(scores), s=12, facecolors="none", edgecolors=color, linewidths=0.8)
    axes.annotate(f"{summary['mean']:.1f}", (summary["mean"], place), xytext=(0, 6), textcoords="offset points",
                  ha="center", fontsize=8)  # fmt: skip


def _near(rules: list[dict[str, Any]], data: str, scores: list[float]) -> list[dict[str, Any]]:
    return [rule for rule in rules if rule[data] >= min(scores) - _FAR_BELOW]


def _draw_rules(draw_line: Any, rules: list[dict[str, Any]], data: str) -> None:
    for rule, style in zip(rules, (":", "-.", (0, (1, 4))), strict=False):
        draw_line(rule[data], color=_COLORS["rule"], linestyle=style, linewidth=1.2, label=rule["label"])


def _legend(figure: Any, axes: Any, explanation: str) -> None:
    """One for all panels, below them, under what the marks mean."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        below: Any = figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8,
                                   title=explanation, title_fontsize=7)  # fmt: skip
        below.get_title().set(color="0.35", multialignment="center")
    else:
        figure.supxlabel(explanation, fontsize=7, color="0.35")


def _draw_shares(figure: Any, record: ExperimentRecord) -> None:
    """Means over the share of the data, its axis logarithmic, with intervals."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    names, systems = data_in(record), record["systems"]
    figure.set_size_inches(4.8 * len(names), 4.4)
    shares = sorted({system["share"] for system in systems})
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    for axes, data in zip(panels, names, strict=True):
        for name, label in (("elmo", "+ ELMo"), ("baseline", "baseline (no ELMo)")):
            found = {system["share"]: system[data] for system in systems if system["system"] == name}
            _draw_curve(axes, [(share, found[share]) for share in shares], name, label)
        bounds = _all_bounds(record, data)
        _draw_rules(axes.axhline, near := _near(record["rules"], data, bounds), data)
        _span(axes.set_ylim, bounds + [rule[data] for rule in near])
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(FixedLocator(shares))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{share:g}"))
        axes.set(xlabel="% of the training data", ylabel=f"{metric_name(record['metric'])} on {data.replace('_', ' ')}")
        plain(axes, axis="y")
    _legend(figure, panels[-1], _explanation(record, "Dots: means"))


def _draw_curve(axes: Any, points: list[tuple[float, dict[str, Any]]], name: str, label: str) -> None:
    style, shift = ("-", 1.03) if name == "elmo" else ("--", 0.97)  # so that intervals don't cover each other
    shares = [share * shift for share, _ in points]
    axes.plot(shares, [one["mean"] for _, one in points], style, color=_COLORS[name], marker="o", markersize=4,
              label=label)  # fmt: skip
    for share, (_, one) in zip(shares, points, strict=True):
        axes.plot([share, share], _bounds(one), color=_COLORS[name], linewidth=1.2)


def _draw_weights(figure: Any, record: ExperimentRecord) -> None:
    """A row for each mix, a column for each layer, darker where the weight is larger."""
    rows = [(system, mix) for system in record["systems"] for mix in system["mixes"]]
    weights = [[weight["mean"] for weight in mix["weights"]] for _, mix in rows]
    figure.set_size_inches(2.6 + 1.35 * len(weights[0]), 1.7 + 0.55 * len(rows))
    axes = figure.subplots()
    image = axes.imshow(weights, cmap="Blues", vmin=0, vmax=max(0.5, *map(max, weights)), aspect="auto")
    for row, (_, mix) in enumerate(rows):
        for column, weight in enumerate(mix["weights"]):
            spread = weight["standard_deviation"]
            text = f"{weight['mean']:.2f}" + ("" if spread is None else f"\n± {spread:.2f}")
            color = "white" if image.norm(weight["mean"]) > 0.6 else "0.1"
            axes.text(column, row, text, ha="center", va="center", fontsize=8, color=color)
    axes.set_yticks(range(len(rows)), [_place(system, mix) for system, mix in rows])
    axes.set_xticks(range(len(weights[0])), layer_names(len(weights[0])))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.colorbar(image, ax=axes, label="weight in the mix", shrink=0.9)


def _place(system: dict[str, Any], mix: dict[str, Any]) -> str:
    return mix["placement"] + (" (of both)" if system["system"] == "both" else " only")


def _bounds(summary: dict[str, Any]) -> tuple[float, float]:
    """The interval of the mean, or the lowest and the highest seed if there is none."""
    if summary["interval"] is None:
        return min(summary["scores"]), max(summary["scores"])
    low, high = summary["interval"]
    return low, high


def _span(set_limits: Any, scores: list[float]) -> None:
    """An axis with room around all scores that spans at least `_LEAST_SPAN` points."""
    low, high = min(scores), max(scores)
    room = max(0.06 * (high - low), (_LEAST_SPAN - (high - low)) / 2)
    set_limits(max(0.0, low - room), min(100.0, high + room))


def _explanation(record: ExperimentRecord, dots: str) -> str:
    varies = "seeds and test examples" if record["bootstrap"] else "seeds alone"
    lines = [
        f"{dots}; lines: 95 % intervals of the means over {varies}.",
        "Whether systems differ is tested on their differences: see the table, not the overlap of the lines.",
    ]
    for rule in record["rules"]:
        far = [data for data in data_in(record) if not _near([rule], data, _all_bounds(record, data))]
        if far:
            lines.append(
                f"Below the axis: {rule['label']}, " + ", ".join(f"{rule[data]:.1f} on {data}" for data in far)
            )
    return "\n".join(lines)


def _all_bounds(record: ExperimentRecord, data: str) -> list[float]:
    return [bound for system in record["systems"] for bound in _bounds(system[data])]
