"""The pictures: PNG and SVG with what belongs on them, and a plain word where nothing can draw."""

import sys

import pytest

from elmo.errors import MissingExtraError
from elmo.reproduce.drawing import draw

matplotlib = pytest.importorskip("matplotlib")


def svg_words(path, experiment, outcomes) -> str:
    """The picture as SVG, its text as text."""
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        files = draw(experiment, outcomes, path)
    assert [file.suffix for file in files] == [".png", ".svg"]
    assert files[0].read_bytes().startswith(b"\x89PNG")
    return files[1].read_text()


def test_bars_have_their_means_and_say_where_the_axis_is_cut(tmp_path, outcomes_of):
    outcomes = outcomes_of("table2", [[80.0, 81.0], [84.0, 85.0], [86.0, 87.0], [89.0, 90.0]])
    found = svg_words(tmp_path / "table2", "table2", outcomes)
    assert all(word in found for word in ("80.5", "89.5", "(no ELMo)", "dev f1 (axis cut below)", ": ner"))


def test_curves_have_both_systems_at_every_share(tmp_path, outcomes_of):
    outcomes = outcomes_of("figure1", [[0.0], [30.0], [60.0], [80.0]], shares=[1, 100])
    found = svg_words(tmp_path / "figure1", "figure1", outcomes)
    assert all(f">{word}<" in found for word in ("1", "100", "+ ELMo", "baseline (no ELMo)", "dev f1"))


def test_the_heat_map_has_every_mix_and_every_weight(tmp_path, outcomes_of):
    one = {"placement": "input", "weights": [0.21, 0.32, 0.47], "gamma": 1.0}
    two = {"placement": "output", "weights": [0.41, 0.3, 0.29], "gamma": 2.0}
    outcomes = outcomes_of("figure2", [[1.0]] * 3, mixes=[[[one]], [[one, two]], [[two]]])
    found = svg_words(tmp_path / "figure2", "figure2", outcomes)
    for word in ("input only", "input (of both)", "output (of both)", "output only", "token layer", "0.47", "0.41"):
        assert f">{word}<" in found


def test_without_matplotlib_the_install_command_is_named(tmp_path, outcomes_of, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pyelmo\[analysis\]'"):
        draw("table3", outcomes_of("table3", [[1.0]] * 3), tmp_path / "table3")
    assert not list(tmp_path.glob("table3*"))
