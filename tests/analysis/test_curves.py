"""Curves: the right numbers at the right places, and a figure that can be opened."""

import json
import xml.etree.ElementTree
from pathlib import Path

import numpy as np
import pytest

from elmo.analysis import curves as curves_module
from elmo.analysis.curves import draw_curves, read_curves
from elmo.errors import ConfigError, MissingExtraError, OutputError

LINES = [
    {"step": 0, "evaluation": "old", "mean_perplexity": 9.0},
    *({"step": step, "epoch": 0.1, "loss": 5 - step / 10, "tokens_per_second": 1.0} for step in range(1, 31)),
    *(
        {"step": step, "evaluation": "valid"}
        | {"forward_perplexity": one, "backward_perplexity": two, "mean_perplexity": mean}
        # At the last step the finished model is evaluated once more, on all sentences.
        for step, one, two, mean in ((30, 90.0, 110.0, 99.5), (40, 8.0, 11.0, 9.4), (40, 8.5, 11.5, 9.9))
    ),
    {"step": 41, "skipped": "no number"},
]  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "my-run"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"batch_size": 4, "unroll_steps": 5, "log_every": 1}))
    lines = "".join(json.dumps(line) + "\n" for line in LINES) + '{"step": 42, "lo'
    (folder / "metrics.jsonl").write_text(lines)
    return folder


def test_steps_become_tokens_and_the_old_text_is_left_out(run: Path) -> None:
    found = read_curves(run)
    assert found.name == "my-run"
    assert found.loss_tokens.tolist() == [20.0 * step for step in range(1, 31)]
    assert found.loss[0] == 4.9
    assert found.perplexity_tokens.tolist() == [600, 800]
    assert {name: values.tolist() for name, values in found.perplexity.items()} == {
        "forward": [90, 8], "backward": [110, 11], "mean": [99.5, 9.4],
    }  # fmt: skip


def test_a_png_and_an_svg_are_drawn_and_name_the_runs_and_the_sampled_loss(run: Path, tmp_path: Path) -> None:
    image = pytest.importorskip("matplotlib.image")
    curves = read_curves(run)
    draw_curves([curves, curves], tmp_path / "a.png")
    pixels = image.imread(tmp_path / "a.png")
    assert pixels.shape[:2] == (840, 1800)
    assert len(np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0)) > 20
    draw_curves([curves], tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    draw_curves([curves], tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    xml.etree.ElementTree.fromstring(text)
    assert "sampled softmax" in text
    assert "my-run" in text
    with pytest.raises(OutputError, match="exists already"):
        draw_curves([curves], tmp_path / "a.png")


def test_a_run_whose_name_is_not_utf8_is_drawn(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    curves = read_curves(run.rename(tmp_path / "r\udcff"))
    assert curves.name == r"r\udcff"
    draw_curves([curves], tmp_path / "a.svg")


def test_a_run_whose_name_would_be_a_formula_is_drawn(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    draw_curves([read_curves(run.rename(tmp_path / r"$\cost$"))], tmp_path / "a.svg")
    assert r"$\cost$" in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_tokens_read_are_taken_from_the_lines_that_have_them(run: Path) -> None:
    lines = [{"step": 1, "loss": 5.0}, {"step": 2, "tokens_read": 30, "loss": 4.0}]  # resumed with other unroll_steps
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_curves(run).loss_tokens.tolist() == [20, 30]


def test_the_average_does_not_follow_the_last_single_values(run: Path) -> None:
    pytest.importorskip("matplotlib")
    losses = [5.0] * 199 + [50.0]
    lines = [json.dumps({"step": step, "loss": loss}) for step, loss in enumerate(losses, start=1)]
    (run / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    axes = curves_module._figure([read_curves(run)]).axes[0]
    average = axes.lines[1].get_ydata()
    assert len(average) < 200
    assert max(average) < 12
    label = next(text for text in curves_module._figure([read_curves(run)]).axes[1].texts)
    assert label.get_text() == "not evaluated yet"


def test_the_last_perplexity_stands_inside_the_axes(run: Path) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = curves_module._figure([read_curves(run)])
    FigureCanvasAgg(figure).draw()
    axes = figure.axes[1]
    (label,) = (text for text in axes.texts if text.get_text() == "9.4")
    box, frame = label.get_window_extent(), axes.get_window_extent()
    assert frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ([4, 5], "holds a JSON list, but the settings of a run are an object"),
        ({"batch_size": 4}, "unroll_steps must be a whole number above 0 .got None"),
        ({"batch_size": "4", "unroll_steps": 5}, "batch_size must be a whole number above 0 .got '4'"),
        ({"batch_size": 0, "unroll_steps": 5}, "batch_size must be a whole number above 0 .got 0"),
    ],
)
def test_settings_that_are_no_runs_are_refused_with_the_files_name(run: Path, config: object, message: str) -> None:
    (run / "config.json").write_text(json.dumps(config))
    with pytest.raises(ConfigError, match=rf"config\.json: {message}"):
        read_curves(run)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"step": 7, "loss": "low"}, "at step 7 loss must be a number .got 'low'"),
        ({"step": 7, "loss": 1.0, "tokens_read": None}, "at step 7 tokens_read must be a number .got None"),
        ({"step": 50, "evaluation": "valid"}, "at step 50 forward_perplexity must be a number .got None"),
    ],
)
def test_a_logged_figure_that_is_no_number_is_refused_with_its_step(run: Path, line: dict, message: str) -> None:
    path = run / "metrics.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (*LINES, line)))
    with pytest.raises(ConfigError, match=rf"metrics\.jsonl: {message}"):
        read_curves(run)


def test_what_can_not_be_drawn_is_an_error(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="got '.gif'"):
        draw_curves([read_curves(run)], tmp_path / "a.gif")
    with pytest.raises(ConfigError, match="no run to draw"):
        draw_curves([], tmp_path / "a.png")
    with pytest.raises(ConfigError, match="there is no config.json"):
        read_curves(tmp_path)
    curves = read_curves(run)
    (run / "metrics.jsonl").write_text('{"step": 1')
    with pytest.raises(ConfigError, match="nothing was logged yet"):
        read_curves(run)
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pyelmo\[analysis\]'"):
        draw_curves([curves], tmp_path / "b.png")
    assert not (tmp_path / "b.png").exists()
