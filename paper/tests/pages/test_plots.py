"""The pictures: PNG and SVG with what belongs on them, and a plain word where nothing can draw."""

import re
from typing import Any

import pytest

from elmo_paper.pages.plots import draw, draw_finetuned, draw_gains, draw_layers

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


def test_curves_have_both_systems_at_every_share(tmp_path, record_of):
    record = record_of("figure1", [[0.0], [30.0], [60.0], [80.0]], shares=[1, 100], units=100)
    found = svg_words(tmp_path / "figure1", record)
    assert all(f">{word}<" in found for word in ("1", "100", "+ ELMo", "baseline (no ELMo)", "F1 on dev"))
    assert "intervals of the means over seeds and test examples" in found


def test_table_1_has_every_data_set_and_the_papers_gain_and_is_drawn_alike_twice(tmp_path, record_of):
    records = [record_of("table1", [[60.0, 61.0], [64.0, 65.0]]), record_of("table1", [[50.0], [49.0]])]
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        first, second = (draw_gains(records, tmp_path / name, (".svg",))[0].read_text() for name in ("a", "b"))
    assert first == second
    assert first.count(">tweets<") == first.count(">(named entities)<") == 2
    for word in ("+ ELMo", "baseline (no ELMo)", "the paper's gain, on its own data"):
        assert word in first


def test_table_7_has_a_row_for_each_text_and_the_papers_where_it_was_tuned(tmp_path):
    texts = (("snli", "SNLI", [28.0, 30.0]), ("coref", "OntoGUM", [88.0]))
    records = [
        {"text": text, "task": text, "name": name, "perplexity": {"before": 105.0, "after": after}}
        for text, name, after in texts
    ]
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        first, second = (draw_finetuned(records, tmp_path / name, (".svg",))[0].read_text() for name in ("a", "b"))
    assert first == second
    assert all(f">{word}<" in first for word in ("SNLI", "(coreference)", "the paper, on its own data"))


def tagged(encoder: str, layer: str, accuracy: float) -> dict[str, Any]:
    unmeasured = dict.fromkeys(("unseen", "ambiguous", "selectivity", "compression"))
    own = {"accuracy": accuracy, "interval": [accuracy - 1, accuracy + 1]}
    return {"encoder": encoder, "layer": layer, **own, **unmeasured}


def test_what_the_layers_know_has_a_row_for_each_system_of_any_record_and_the_papers_figures_once(tmp_path):
    lower, upper = tagged("biLM", "layer 1", 94.0), tagged("biLM", "layer 2", 93.0)
    rule = tagged("", "most frequent tag of the word", 80.0)
    english = {"analysis": "pos", "model": "small-en", "rows": [rule, lower, upper]}
    korean = {"analysis": "pos", "model": "small-ko", "rows": [rule, lower, tagged("new system", "", 50.0)]}
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        (file,) = draw_layers("table6", [english, korean], tmp_path / "table6", (".svg",))
    found = file.read_text()
    for word in ("biLM, layer 2", "new system", "small-en: accuracy, all words", "small-ko: accuracy, all words"):
        assert found.count(f">{word}<") == 1
    diamond = 'style="fill: none; stroke: #d62728"'
    assert found.count(diamond) == 2  # the paper's layers 1 and 2, beside English alone


def test_the_heat_map_has_every_mix_and_every_weight(tmp_path, record_of):
    one = {"placement": "input", "weights": [0.21, 0.32, 0.47], "gamma": 1.0}
    two = {"placement": "output", "weights": [0.41, 0.3, 0.29], "gamma": 2.0}
    found = svg_words(tmp_path / "figure2", record_of("figure2", [[1.0]] * 3, mixes=[[[one]], [[one, two]], [[two]]]))
    for word in ("input only", "input (of both)", "output (of both)", "output only", "token layer", "0.47", "0.41"):
        assert f">{word}<" in found
