"""Tables 4 to 6 beside the paper's rows, from small records."""

import json

import pytest

from elmo.errors import TextError
from elmo_paper.pages.layer_page import as_text, read_record
from elmo_paper.places import ANALYSES
from elmo_paper.reproduce.layer_tables import rows

BEGINNING = {"model": "tiny", "data": {"train": {"file": "train.xml"}, "test": [{"file": "a.xml"}, {"file": "b.xml"}]}}


def system(encoder: str, layer: str, f1: float, over=None) -> dict:
    own = {"encoder": encoder, "layer": layer, "sets": {"a": {"f1": 0}, "all": {"f1": f1}}, "over_layer_below": over}
    return {**own, "minus_first_sense": [f1 - 64.2, f1 - 66, f1 - 62]}


def wsd(over) -> dict:
    systems = [system("", "first sense", 64.2), system("biLM", "layer 1", 59.1), system("biLM", "layer 2", 60.5, over)]
    return {**BEGINNING, "analysis": "wsd", "systems": systems}


def test_rows_of_both_sides_are_joined_by_name():
    found = {row.name: (row.paper, row.ours) for row in rows("table5", wsd((1, 0, 2)))}
    assert found["first sense"] == (65.9, 64.2) and found["biLM, layer 2"] == (69.0, 60.5)
    assert found["CoVe, layer 2"] == (64.7, None)


@pytest.mark.parametrize(
    ("over", "row"),
    [
        ((1.4, 0.3, 2.5), "| +1.6      | +1.4 [+0.3, +2.5]    | **agrees**"),
        ((-1.4, -2.5, -0.3), "| +1.6      | -1.4 [-2.5, -0.3]    | **does not agree**"),
        ((0.4, -0.3, 1.1), "| +1.6      | +0.4 [-0.3, +1.1]    | **not decided**"),
        (None, "| +1.6      |                      | not measured yet"),
    ],
)
def test_a_claim_is_decided_by_its_interval(over, row):
    page = as_text("table5", wsd(over))
    assert f"layer 2 is better than layer 1         {row}" in page
    assert "tiny: train.xml, a.xml, b.xml." in page and page.startswith("Table 5: ")


def test_counted_precision_is_shown_for_each_question():
    depths = {k: [50.0, [40.0, 60.0]] for k in ("1", "5", "10")}
    row = {"encoder": "biLM", "layer": "layer 1", "precision": {"sense": depths}}
    counts = {"words": {"sense": 1234}, "queries": {"sense": 5678}}
    page = as_text("table4", {**BEGINNING, **counts, "analysis": "precision", "rows": [row]})
    assert "| vectors | same sense, nearest 1 | same sense, nearest 10 |" in page
    assert "| tiny, layer 1 | 50.0 (40.0 to 60.0) |" in page


def test_a_question_without_queries_has_no_figures():
    row = {"encoder": "biLM", "layer": "layer 2", "precision": {}, "over_layer_below": None}
    counts = {"words": {"part of speech": 0}, "queries": {"part of speech": 0}}
    chance = row | {"encoder": "", "layer": "chance"}
    page = as_text("table4", {**BEGINNING, **counts, "analysis": "precision", "rows": [chance, row]})
    assert "| tiny, layer 2 |  |  |" in page


MEASURED = [50.0, [40.0, 60.0]]
PRECISION = {"encoder": "", "layer": "chance", "precision": {"sense": {"1": MEASURED}}, "over_layer_below": None}
QUERY = {"sentence": ["a"], "place": 0, "static": [["b"]], "layers": []}


@pytest.mark.parametrize(
    ("table", "record", "fault"),
    [
        ("table5", {"analysis": "wsd"}, "KeyError.'model'"),
        ("table5", {**wsd(None), "systems": None}, "TypeError"),
        ("table5", {**wsd(None), "systems": [{**system("", "x", 1), "sets": {}}]}, "KeyError.'all'"),
        ("table5", {**wsd(None), "systems": []}, "it has no rows"),
        ("table5", wsd((1,)), "ValueError"),
        ("table5", {**wsd(None), "data": {"train": "x"}}, "TypeError"),
        ("table6", {**wsd(None), "analysis": "pos", "rows": [system("", "x", 1)]}, "KeyError.'accuracy'"),
        ("table4", {**BEGINNING, "analysis": "precision", "rows": [PRECISION]}, "KeyError.'words'"),
        ("table4", {**BEGINNING, "analysis": "neighbors", "queries": [QUERY]}, "ValueError"),
    ],
)
def test_a_record_that_lacks_what_the_table_shows_is_refused_with_what_it_lacks(tmp_path, table, record, fault):
    (tmp_path / "r.json").write_text(json.dumps(record))
    with pytest.raises(TextError, match=rf"r.json: is not a complete record of '\w+': .*{fault}"):
        read_record(tmp_path / "r.json", table)


@pytest.mark.parametrize("text", ["[" * 100_000, "3", '"analysis"', "{}", '{"analysis": "wsd", "systems": [NaN]}'])
def test_what_is_no_record_is_refused(tmp_path, text):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(TextError, match=r"r.json: is not a record of an analysis"):
        read_record(tmp_path / "r.json", "table5")


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("table4", "neighbors-small-en"),
        ("table4", "precision-small-en"),
        ("table5", "wsd-small-en"),
        ("table6", "pos-small-en"),
        ("table6", "pos-small-ko"),
    ],
)
def test_the_records_of_the_bundled_models_stand_beside_the_papers_rows(table, name):
    path = ANALYSES / f"{name}.json"
    page = as_text(table, read_record(path, table))
    assert page.startswith(f"Table {table[-1]}: ") and "small-" in page and "The paper: Peters et al. 2018" in page
