"""The pictures: PNG and SVG with what belongs on them, and a plain word where nothing can draw."""

import re

import pytest

from elmo_paper.pages.plots import draw

matplotlib = pytest.importorskip("matplotlib")

RULES = [
    {"rule": "near", "label": "rule: near", "dev": 75.0},
    {"rule": "far", "label": "rule: far", "dev": 20.0},
]


def svg_words(path, record) -> str:
    """The picture as SVG, its text as text."""
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        files = draw(record, path)
    assert [file.suffix for file in files] == [".png", ".svg"]
    assert files[0].read_bytes().startswith(b"\x89PNG")
    return files[1].read_text()


def axis(svg: str) -> list[float]:
    """The figures on the axes."""
    return [float(text) for text in re.findall(r">(\d+(?:\.\d+)?)</text>", svg)]


def test_dots_have_their_means_the_data_sets_name_and_the_rules(tmp_path, record_of):
    record = record_of("table2", [[80.0, 81.0], [84.0, 85.0], [86.0, 87.0], [89.0, 90.0]], rules=RULES)
    found = svg_words(tmp_path / "table2", record)
    for word in ("80.5", "89.5", "baseline (no ELMo)", "F1 on dev", "tweets (named entities)", "rule: near"):
        assert word in found
    assert "Below the axis: rule: far, 20.0 on dev" in found
    assert "intervals of the means over seeds alone" in found


def test_a_name_that_would_be_a_formula_is_drawn_as_it_is(tmp_path, record_of):
    record = {**record_of("table3", [[70.0, 70.1]] * 3), "name": r"r$\cost$"}
    assert r"r$\cost$ (named entities)" in svg_words(tmp_path / "table3", record)


@pytest.mark.parametrize("scores", [[70.0, 70.1], [70.0, 70.0]])
def test_differences_of_a_tenth_do_not_fill_the_picture(tmp_path, record_of, scores):
    record = record_of("table3", [scores] * 3)
    ticks = axis(svg_words(tmp_path / "table3", record))
    assert max(ticks) - min(ticks) >= 4
