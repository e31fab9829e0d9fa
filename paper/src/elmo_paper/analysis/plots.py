"""The record of an analysis as a figure: a dot with its interval for every layer of every encoder.

Equal figures give equal files: SVG without a date, and with ids from a fixed salt.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmo_paper.analysis.record import Record, row_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg")
_COLORS = {"biLM": "C0", "forward LM": "C4", "random biLM": "0.55", "static": "C1", "context average": "C1"}
_LINES = (":", "-.", "--")


@dataclass(frozen=True)
class Dot:
    """One layer's figure."""

    encoder: str
    layer: str
    value: float | None
    """None: there was nothing to measure, and its line stays empty."""
    interval: Sequence[float] | None = None
    paper: float | None = None
    """The paper's own figure, drawn as a diamond."""


@dataclass(frozen=True)
class Panel:
    """Dots under each other on one axis."""

    axis: str
    dots: Sequence[Dot]
    lines: Mapping[str, float] = field(default_factory=dict)
    """What needs no vectors, as vertical lines."""


def draw(record: Record, path: Path) -> None:
    """Draws what an analysis recorded into `path` as SVG; equal records give equal files."""
    title, _ = _FIGURES[record["analysis"]]
    source = f"{record['model']}, {record['date'][:10]}; lines: 95 % intervals"
    save(drawn(panels_of(record), f"{title}\n{source}"), path, ".svg")


def panels_of(record: Record) -> list[Panel]:
    """What is drawn of the record of an analysis."""
    _, panels = _FIGURES[record["analysis"]]
    return panels(record)


def drawn(panels: Sequence[Panel], title: str, *, panel_width: float = 2.9) -> "Figure":
    """The panels side by side, with the same rows in all of them. `panel_width`: in inches."""
    from matplotlib.figure import Figure

    rows = len(panels[0].dots)
    figure = Figure(figsize=(1.9 + panel_width * len(panels), 1.4 + 0.32 * rows), layout="constrained")
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False, sharey=True)[0], panels, strict=True):
        _draw_panel(axes, panel)
    figure.suptitle(title, fontsize=10)
    return figure


def _draw_panel(axes: Any, panel: Panel) -> None:
    for place, dot in enumerate(panel.dots):
        if dot.paper is not None:
            axes.scatter(dot.paper, place, s=34, marker="D", facecolors="none", edgecolors="C3", zorder=3)
        if dot.value is None:
            continue
        color = _COLORS.get(dot.encoder, "C2")
        if dot.interval is not None:
            axes.plot(dot.interval, [place, place], color=color, linewidth=1.6, solid_capstyle="butt")
        axes.scatter(dot.value, place, s=30, color=color, zorder=3)
        axes.annotate(f"{dot.value:.{_digits(panel)}f}", (dot.value, place), xytext=(0, 5), ha="center", fontsize=7,
                      textcoords="offset points")  # fmt: skip
    for (label, value), style in zip(panel.lines.items(), _LINES, strict=False):
        axes.axvline(value, color="C3", linestyle=style, linewidth=1.1, label=label)
    if panel.lines:
        axes.legend(frameon=False, fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    axes.set_yticks(range(len(panel.dots)), [row_name(vars(dot)) for dot in panel.dots], fontsize=8)
    axes.set_ylim(len(panel.dots) - 0.4, -0.8)
    axes.set_xlabel(panel.axis, fontsize=8)
    axes.margins(x=0.12)
    axes.tick_params(axis="x", labelsize=8)
    plain(axes, axis="x")


def _digits(panel: Panel) -> int:
    return 1 if max(abs(dot.value) for dot in panel.dots if dot.value is not None) >= 10 else 2


def _pos(record: Record) -> list[Panel]:
    baseline, *rows = record["rows"]

    def panel(axis: str, value: str, interval: str = "") -> Panel:
        dots = [Dot(row["encoder"], row["layer"], row[value], row.get(interval)) for row in rows]
        lines = {} if baseline[value] is None else {"most frequent tag of the word": baseline[value]}
        return Panel(axis, dots, lines)

    measured = {
        "unseen": "unseen words",
        "ambiguous": "ambiguous words",
        "selectivity": "selectivity (points)",
        "compression": "compression by online code",
    }
    panels = [panel("accuracy, all words", "accuracy", "interval")]
    return panels + [panel(axis, value) for value, axis in measured.items() if rows[0][value] is not None]


def _wsd(record: Record) -> list[Panel]:
    _, most_frequent, *systems = record["systems"]
    dots = []
    for system in systems:
        difference, low, high = system["minus_first_sense"]
        dots.append(Dot(system["encoder"], system["layer"], difference, (low, high)))
    lines = {"first sense": 0.0, "most frequent sense": most_frequent["minus_first_sense"][0]}
    return [Panel("F1 over all test sets, minus that of the first sense", dots, lines)]


def _precision(record: Record) -> list[Panel]:
    chance, *rows = record["rows"]

    def panel(question: str, k: str) -> Panel:
        dots = [Dot(row["encoder"], row["layer"], *row["precision"][question][k]) for row in rows]
        nearest = "the nearest" if k == "1" else f"the nearest {k}"
        return Panel(f"same {question}, {nearest}", dots, {"chance": chance["precision"][question][k][0]})

    return [panel(question, k) for question in chance["precision"] for k in ("1", "10")]


def _geometry(record: Record) -> list[Panel]:
    axes = {
        "anisotropy": "anisotropy",
        "self_similarity": "self-similarity of words",
        "intra_sentence": "intra-sentence similarity",
        "explained": "maximum explainable variance",
    }
    rows = list(record["layers"])
    return [
        Panel(axis, [Dot(row["encoder"], row["layer"], *(row[measure] or (None,))) for row in rows])
        for measure, axis in axes.items()
        if any(row[measure] is not None for row in rows)
    ]


_FIGURES: dict[str, tuple[str, Callable[[Record], list[Panel]]]] = {
    "pos": ("Parts of speech by a linear probe of each layer", _pos),
    "precision": (
        "Occurrences of the same word form in other documents: percent that agree with the query",
        _precision,
    ),
    "wsd": ("Word senses by the nearest sense vector", _wsd),
    "geometry": ("Geometry of the vectors of each layer", _geometry),
}


def plain(axes: Any, **grid: Any) -> None:
    """A pale grid behind the data, and no frame at the top and on the right. `grid`: as for matplotlib's `grid`."""
    axes.grid(color="0.9", linewidth=0.6, **grid)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def save(figure: "Figure", path: Path, suffix: str) -> None:
    """Writes `path` in the format of `suffix`, one of `SUFFIXES`: the path of an unfinished file has its own."""
    import matplotlib
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_parse_math(False)  # the names in it are people's own: two "$" make no formula
    metadata = {"Date": None} if suffix == ".svg" else None
    with matplotlib.rc_context({"svg.hashsalt": "elmo"}):
        figure.savefig(path, format=suffix[1:], dpi=200, metadata=metadata)
