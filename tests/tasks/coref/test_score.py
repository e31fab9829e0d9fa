"""MUC, B3 and CEAF-phi4 equal the CoNLL reference scorer's figures, to the printed digit."""

import json
import random
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.errors import TextError
from elmo.tasks.coref.assignment import best_assignment
from elmo.tasks.coref.score import coreference_scores, score_files

# The scorer's names and ours.
_METRICS = {"muc": "muc", "bcub": "b3", "ceafe": "ceaf_phi4", "mentions": "mentions"}
_ILL_DEFINED = "key mention in two clusters (ill defined)"


def cases(golden_folder, name):
    path = golden_folder / "tasks" / "coref_metric" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def scored(case, folder):
    for name in ("key", "response"):
        (folder / f"{name}.conll").write_text(case[name], encoding="utf-8")
    return score_files(folder / "key.conll", folder / "response.conll")


def require_equal(found, expected):
    for theirs, ours in _METRICS.items():
        figures = expected[theirs]
        for name in ("recall", "precision"):
            assert found[ours][f"{name}_numerator"] == pytest.approx(figures[f"{name}_num"], abs=1e-6)
            assert found[ours][f"{name}_denominator"] == pytest.approx(figures[f"{name}_den"], abs=1e-6)
        for name in ("recall", "precision", "f1"):
            assert f"{found[ours][name]:.2f}" == f"{figures[name]:.2f}"
    assert found["printed_average_f1"] == pytest.approx(expected["average_f1"], abs=1e-5)
    assert found["average_f1"] == pytest.approx(expected["average_f1"], abs=0.011)


@pytest.mark.parametrize("name", ["files_0", "files_1", "files_2"])
def test_every_file_scores_as_in_the_reference_scorer(name, golden_folder, tmp_path):
    found = cases(golden_folder, name)
    assert found
    for case in found:
        require_equal(scored(case, tmp_path), case["expected"])


def test_edge_cases_score_as_in_the_reference_scorer(golden_folder, tmp_path):
    found = [case for case in cases(golden_folder, "edge_cases") if case["name"] != _ILL_DEFINED]
    assert len(found) == 11
    for case in found:
        if "average_f1" in case["expected"]:
            require_equal(scored(case, tmp_path), case["expected"])
        else:
            with pytest.raises(TextError, match="response.conll:1: has 12 mentions .*refuses"):
                scored(case, tmp_path)


def test_other_words_are_refused(golden_folder, tmp_path):
    case = cases(golden_folder, "files_0")[0]
    with pytest.raises(TextError, match="'TINDLE' at 1, but in the key .* it is 'tindle'"):
        scored({**case, "response": case["response"].replace("tindle", "TINDLE")}, tmp_path)
    with pytest.raises(TextError, match="has 6 words, but in the key .* it has 7"):
        scored(
            {**case, "response": case["response"].replace("nw/inv00\t0\t2\t:\tX\t*\t-\t-\t-\tann\t*\t-\n", "")},
            tmp_path,
        )


def test_figures_without_singletons_stand_beside():
    key = [[(0, 0), (2, 2)], [(4, 4)]]
    scores = coreference_scores([(key, [[(0, 0), (2, 2)]])])
    assert scores["b3"]["recall"] == 66.66
    assert scores["without_singletons"]["b3"]["recall"] == 100.0
    assert "without_singletons" not in coreference_scores([(key[:1], key)])


def test_nothing_divided_by_nothing_is_0():
    assert coreference_scores([])["average_f1"] == 0
    assert coreference_scores([([], [])])["average_f1"] == 0


@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 10_000))
def test_the_assignment_equals_brute_force(rows, columns, seed):
    chance = random.Random(seed)
    gains = [[chance.choice([0.0, 0.25, chance.random()]) for _ in range(columns)] for _ in range(rows)]
    found = best_assignment(gains)
    assert len(found) == min(rows, columns) == len({row for row, _ in found}) == len({column for _, column in found})
    few, many = (range(rows), range(columns)) if rows <= columns else (range(columns), range(rows))
    best = max(
        sum(gains[a][b] if rows <= columns else gains[b][a] for a, b in zip(few, order, strict=True))
        for order in permutations(many, len(few))
    )
    assert sum(gains[row][column] for row, column in found) == pytest.approx(best)


def test_a_large_assignment_is_solved():
    chance = random.Random(0)
    order = list(range(200))
    chance.shuffle(order)
    gains = [[1.0 if order[row] == column else 0.5 * chance.random() for column in range(200)] for row in range(200)]
    assert best_assignment(gains) == list(enumerate(order))
