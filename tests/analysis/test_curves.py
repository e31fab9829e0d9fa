"""Curves: the right numbers at the right places, and a figure that can be opened."""

import json
import xml.etree.ElementTree
from pathlib import Path

import numpy as np
import pytest

from elmo.analysis.curves import draw_curves, read_curves
from elmo.errors import ConfigError, MissingExtraError, OutputError

LINES = [
    {"step": 0, "evaluation": "old", "mean_perplexity": 9.0},
    *({"step": step, "epoch": 0.1, "loss": 5 - step / 10, "tokens_per_second": 1.0} for step in range(1, 31)),
    *(
        {"step": step, "evaluation": "valid"}
        | {"forward_perplexity": one, "backward_perplexity": two, "mean_perplexity": mean}
        for step, one, two, mean in ((30, 90.0, 110.0, 99.5), (40, 8.0, 11.0, 9.4))
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
    draw_curves([curves], tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    xml.etree.ElementTree.fromstring(text)
    assert "sampled softmax" in text
    assert "my-run" in text
    with pytest.raises(OutputError, match="exists already"):
        draw_curves([curves], tmp_path / "a.png")


def test_what_can_not_be_drawn_is_an_error(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="suffix '.gif'"):
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
