"""The paper's claims about tables 4 to 6: what the paper has, what a record has, and the verdict of its interval."""

from typing import Any

import pytest

from elmo_paper.reproduce import layer_claims as claims


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        ((1.0, 0.2, 1.8), "agrees"),
        ((-1.0, -1.8, -0.2), "does not agree"),
        ((1.0, -0.1, 2.1), "not decided"),
        ((1.0, 0.0, 2.0), "not decided"),
        (None, None),
    ],
)
def test_a_claim_is_decided_if_its_interval_excludes_0(ours, verdict):
    assert claims.LayerClaim("a is better than b", "+1.0", ours).verdict == verdict


def sense(encoder: str, layer: str, over_first: tuple[float, float, float], below: object = None) -> dict[str, Any]:
    return {"encoder": encoder, "layer": layer, "minus_first_sense": over_first, "over_layer_below": below}


def test_word_senses_have_the_papers_differences():
    rows = [sense("biLM", "layer 1", (1, 0, 2)), sense("biLM", "layer 2", (3.0, 2.0, 4.0), (2.0, 1.5, 2.5))]
    found = claims.layer_claims("table5", {"systems": rows})
    assert [(one.claim, one.paper, one.ours) for one in found] == [
        ("layer 2 is better than layer 1", "+1.6", (2.0, 1.5, 2.5)),
        ("layer 2 is better than the first sense", "+3.1", (3.0, 2.0, 4.0)),
        ("layer 2 is better than CoVe", "+4.3", None),
    ]


def tagged(encoder: str, layer: str, accuracy: float, half: float, below: object = None) -> dict[str, Any]:
    interval = (accuracy - half, accuracy + half)
    return {"encoder": encoder, "layer": layer, "accuracy": accuracy, "interval": interval, "over_layer_below": below}


def test_of_parts_of_speech_the_lower_layer_is_the_better_one():
    rows = [tagged("biLM", "layer 1", 94.0, 0.5), tagged("biLM", "layer 2", 93.5, 0.5, (-0.5, -0.75, -0.25))]
    rows += [tagged("CoVe", "layer 1", 92.0, 1.0), tagged("CoVe", "layer 2", 91.0, 1.0)]
    lower, cove = claims.layer_claims("table6", {"rows": rows})
    assert (lower.claim, lower.paper, lower.ours) == ("layer 1 is better than layer 2", "+0.5", (0.5, 0.25, 0.75))
    # With CoVe's better layer; the interval excludes 0 because 93.5 is above 93.0.
    assert (cove.paper, cove.ours, cove.verdict) == ("+4.0", (2.0, 0.5, 3.5), "agrees")


def test_intervals_that_overlap_decide_nothing():
    rows = [sense("biLM", "layer 2", (3.0, 1.0, 5.0), (2.0, 1.0, 3.0)), sense("CoVe", "layer 2", (0.0, -2.0, 2.0))]
    *_, cove = claims.layer_claims("table5", {"systems": rows})
    assert cove.ours == (3.0, -1.0, 7.0)
    assert cove.verdict == "not decided"


def test_the_nearest_occurrence_is_compared_with_chance():
    def row(encoder: str, layer: str, mean: float) -> dict[str, Any]:
        return {"encoder": encoder, "layer": layer, "precision": {"sense": {"1": (mean, (mean - 1, mean + 1))}}}

    rows = [row("", "chance", 50.0), row("biLM", "layer 1", 58.0), row("biLM", "layer 2", 60.0)]
    (found,) = claims.layer_claims("table4", {"rows": rows, "words": {"sense": 7}})
    assert found.claim == "layer 2 finds the same sense more often than chance does"
    assert (found.ours, found.verdict) == ((10.0, 8.0, 12.0), "agrees")


def test_a_record_without_a_second_lstm_layer_makes_no_claim():
    assert claims.layer_claims("table5", {"systems": [sense("static", "", (0, -1, 1))]}) == []
