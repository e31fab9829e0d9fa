"""The page: our numbers and the paper's side by side, and a sentence for each claim."""

import re

import pytest

from elmo.reproduce.claims import judge
from elmo.reproduce.report import aligned, markdown, reductions


def rows(page: str) -> list[list[str]]:
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_table2_stands_beside_the_papers_numbers(outcomes_of):
    outcomes = outcomes_of("table2", [[40.0, 42.0], [50.0, 52.0], [51.0, 53.0], [52.0, 54.0]])
    page = markdown("table2", outcomes, judge("table2", outcomes), ["a fact"])
    assert rows(page)[0] == ["layers", "dev f1", "paper: SQuAD dev", "paper: SNLI dev", "paper: SRL dev"]
    assert rows(page)[1] == ["baseline (no ELMo)", "41.00 ± 1.41", "80.8", "88.1", "81.6"]
    assert rows(page)[4] == ["all layers, lambda 0.001", "53.00 ± 1.41", "85.2", "89.5", "84.8"]
    # 12 of the baseline's 59 points of error.
    assert "- all layers, lambda 0.001: dev +20.3 %" in page
    assert "92.22 ± 0.10" in page
    assert "beats the baseline (paper: SQuAD +4.4, SNLI +1.4, SRL +3.2): dev **agrees** (+12.00, spread 2.00)." in page
    assert "- a fact\n" in page


def test_table3_has_no_baseline_and_so_no_error_reduction(outcomes_of):
    outcomes = outcomes_of("table3", [[40.0], [50.0], [51.0]], test=[[39.0], [49.0], [50.0]])
    page = markdown("table3", outcomes, judge("table3", outcomes), [])
    assert rows(page)[2][:3] == ["input & output", "50.00", "49.00"]
    assert "One seed: 1." in page
    assert "error reduction" not in page
    assert re.search(r"beats ELMo at the output .*: dev \*\*does not agree by one seed\*\* .*; test \*\*", page)


def test_figure1_has_a_line_for_each_share(outcomes_of):
    outcomes = outcomes_of("figure1", [[0.0, 20.0], [30.0, 30.0], [60.0, 60.0], [80.0, 80.0]], shares=[1, 100])
    page = markdown("figure1", outcomes, judge("figure1", outcomes), [])
    assert rows(page)[1:] == [["1 %", "10.00 ± 14.14", "30.00 ± 0.00"], ["100 %", "60.00 ± 0.00", "80.00 ± 0.00"]]
    assert [line["dev"] for line in reductions(outcomes)] == [pytest.approx(100 * 20 / 90), 50.0]
    assert "- + ELMo, 100 % of the data: dev +50.0 %" in page


def test_figure2_has_a_line_for_each_mix(outcomes_of):
    one = {"placement": "input", "weights": [0.2, 0.3, 0.5], "gamma": 1.0}
    two = {"placement": "output", "weights": [0.4, 0.3, 0.3], "gamma": 2.0}
    mixes = [[[one], [one | {"weights": [0.4, 0.3, 0.3]}]], [[one, two]] * 2, [[two]] * 2]
    outcomes = outcomes_of("figure2", [[1.0, 3.0]] * 3, mixes=mixes)
    page = markdown("figure2", outcomes, judge("figure2", outcomes), [])
    assert rows(page)[0][1:6] == ["mix at the", "token layer", "LSTM layer 1", "LSTM layer 2", "gamma"]
    assert rows(page)[1][1:4] == ["input", "0.300 ± 0.141", "0.300 ± 0.000"]
    assert [row[:2] for row in rows(page)[2:]] == [
        ["input & output", "input"], ["input & output", "output"], ["output only", "output"],
    ]  # fmt: skip


def test_a_table_is_aligned():
    assert aligned([["a", "long"], ["longer", "b"]]) == ["| a      | long |", "|--------|------|", "| longer | b    |"]
