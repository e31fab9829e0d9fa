"""The record: all that pages and pictures show."""

import json

import pytest


def test_it_is_plain_and_has_the_scores_of_every_seed_by_label(record_of):
    record = record_of("table2", [[40.0, 42.0], [50.0, 52.0], [51.0, 53.0], [52.0, 54.0]])
    assert json.loads(json.dumps(record)) == record
    first = record["systems"][0]
    assert first["per_seed"][1] == {"seed": 2, "dev": {"f1": 42.0, "per_label": {"PER": {"f1": 42.0}}}}
    assert first["dev"]["scores"] == [40.0, 42.0]
    assert (record["bootstrap"], record["decided_on"]) == (None, "dev")
    assert {claim["varies"] for claim in record["claims"]} == {"seeds"}


def test_gains_are_over_the_baseline_of_the_same_share(record_of):
    scores = [[0.0, 20.0], [30.0, 31.0], [60.0, 61.0], [80.0, 80.0]]
    record = record_of("figure1", scores, shares=[1, 100], test=scores)
    assert [(gain["share"], gain["test"]["difference"]) for gain in record["gains"]] == [(1, 20.5), (100, 19.5)]
    assert record["gains"][1]["dev"]["error_reduction"] == pytest.approx(100 * 19.5 / 39.5)
    low, high = record["gains"][1]["dev"]["interval"]
    assert low < 19.5 < high
    assert record["decided_on"] == "test"


def test_table3_has_no_baseline_and_so_no_gains(record_of):
    assert record_of("table3", [[40.0], [50.0], [51.0]])["gains"] == []


def test_with_resamples_it_says_how_they_were_drawn_and_that_claims_cover_them(record_of):
    record = record_of("table1", [[40.0, 42.0], [50.0, 52.0]], units=300)
    assert record["bootstrap"] == {"draws": 10_000, "seed": 0, "units": {"dev": 300}}
    assert record["claims"][0]["varies"] == "seeds and examples"
    # All systems move alike with the examples here: the mean alone is uncertain, the difference isn't.
    assert record["systems"][0]["dev"]["interval"][1] > 47


def test_one_seed_leaves_spreads_and_intervals_empty(record_of):
    record = record_of("table1", [[40.0], [50.0]])
    assert record["systems"][0]["dev"]["standard_deviation"] is record["systems"][0]["dev"]["interval"] is None
    assert record["claims"][0]["verdict"] == "not decided"


def test_the_papers_line_of_table1_is_that_of_the_task(record_of):
    assert record_of("table1", [[1.0], [2.0]], task="coref")["paper"]["table1"]["elmo"] == 70.4
    assert record_of("table1", [[1.0], [2.0]], task="mine")["paper"]["table1"] is None


def test_second_test_data_have_claims_of_their_own_beside_those_of_the_first(record_of):
    dev, test = [[60.0] * 3, [60.0] * 3], [[50.0, 54.0, 52.0], [51.0, 55.0, 50.0]]
    second = [[70.0, 70.5, 69.5], [75.0, 75.5, 74.5]]
    record = record_of("table1", dev, test=test, second_test=second, units=500)
    assert record["decided_on"] == "test"
    claims = {(claim["claim"], claim["measured_on"]): claim for claim in record["claims"]}
    assert [(name, data, claims[name, data]["verdict"]) for name, data in claims] == [
        ("ELMo beats the baseline", "dev", None),
        ("ELMo beats the baseline", "test", "not decided"),
        ("ELMo beats the baseline, on the second test data", "second_test", "agrees"),
    ]
    # Holm's correction counts both looks.
    decided = claims["ELMo beats the baseline, on the second test data", "second_test"]
    assert decided["corrected_p_value"] == pytest.approx(2 * decided["p_value"])
    assert record["gains"][0]["second_test"]["difference"] == 5.0
    assert record["bootstrap"]["units"] == {"dev": 500, "test": 500, "second_test": 500}
