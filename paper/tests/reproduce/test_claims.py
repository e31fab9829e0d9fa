"""The paper's claims, judged on scores whose answer is plain."""

import pytest

from elmo_paper.pages.tables import measured
from elmo_paper.reproduce.claims import findings

CLOSE = [-0.2, 0.0, 0.2]


def around(mean):
    return [mean + deviation for deviation in CLOSE]


def verdicts(found, data="dev"):
    return [one.verdict for one in found if one.measured_on == data]


def test_table1_asks_whether_elmo_beats_the_baseline(outcomes_of):
    (found,) = findings("table1", outcomes_of("table1", [around(80), around(84)]))
    assert (found.verdict, found.difference.mean) == ("agrees", pytest.approx(4))


def test_taglm_is_asked_whether_elmo_beats_it(outcomes_of):
    found = findings("taglm", outcomes_of("taglm", [around(80), around(83), around(84), around(86)]))
    assert [(one.claim, one.verdict) for one in found if one.verdict] == [
        ("TagLM beats the baseline", "agrees"),
        ("ELMo beats TagLM", "agrees"),
        ("the top layer between the layers beats the top layer at the input", "agrees"),
    ]


def test_bilms_are_asked_whether_they_beat_the_baseline_and_the_first(outcomes_of):
    scores = [around(80), around(84), around(84.1), around(88)]
    found = findings("bilms", outcomes_of("bilms", scores, bilms=["small-en", "runs/film", "runs/news"]))
    assert [(one.claim, one.verdict) for one in found if one.verdict] == [
        ("ELMo of small-en beats the baseline", "agrees"),
        ("ELMo of film beats the baseline", "agrees"),
        ("ELMo of news beats the baseline", "agrees"),
        ("ELMo of film beats ELMo of small-en", "not decided"),
        ("ELMo of news beats ELMo of small-en", "agrees"),
    ]


def test_elmo_is_asked_whether_it_beats_what_other_encoders_do_in_its_place(outcomes_of):
    models = ["small-en", "film", "cove=runs/translator", "mssg=senses.txt"]
    scores = [around(80), around(84), around(84), around(82), around(86)]
    found = findings("bilms", outcomes_of("bilms", scores, bilms=models))
    assert [(one.claim, one.verdict) for one in found if one.verdict][2:] == [
        ("CoVe of translator beats the baseline", "agrees"),
        ("MSSG of senses.txt beats the baseline", "agrees"),
        ("ELMo of film beats ELMo of small-en", "not decided"),
        ("ELMo of small-en beats CoVe of translator", "agrees"),
        ("ELMo of small-en beats MSSG of senses.txt", "does not agree"),
    ]


def test_gamma_asks_what_it_brings_and_whether_elmo_hurts_without_it(outcomes_of):
    found = findings("gamma", outcomes_of("gamma", [around(80), around(84), around(79), around(84), around(84.1)]))
    assert verdicts(found) == ["agrees", "not decided", "agrees"]


def test_table2_where_all_is_as_in_the_paper(outcomes_of):
    found = findings("table2", outcomes_of("table2", [around(80), around(84), around(86), around(89)]))
    assert verdicts(found) == ["agrees"] * 5
    assert found[0].difference.mean == pytest.approx(9)
    assert dict(found[0].paper) == {"SQuAD": 4.4, "SNLI": 1.4, "SRL": 3.2}


def test_table2_where_some_of_it_is_not_and_some_not_decided(outcomes_of):
    found = findings("table2", outcomes_of("table2", [around(80), around(84), around(84.1), around(82)]))
    assert verdicts(found) == ["agrees", "agrees", "not decided", "does not agree", "does not agree"]


def test_test_data_decide_and_dev_data_are_shown(outcomes_of):
    scores = [around(80), around(84), around(84.1), around(82)]
    found = findings("table2", outcomes_of("table2", scores, test=list(reversed(scores))))
    assert verdicts(found) == [None] * 5
    assert verdicts(found, "test") == ["does not agree", "agrees", "not decided", "does not agree", "does not agree"]


def test_a_table_with_more_claims_asks_more_of_each(outcomes_of):
    # By itself p = 0.025; as one of five it is not enough.
    scores = [[80.0, 81.0, 82.0], [80.5, 81.5, 82.5], [81.0, 82.0, 83.0], [82.8, 83.8, 84.8]]
    first = findings("table2", outcomes_of("table2", scores))[0]
    assert first.difference.p_value == pytest.approx(0.0265, abs=1e-3)
    assert (first.decision.corrected_p, first.verdict) == (pytest.approx(5 * first.difference.p_value), "not decided")


@pytest.mark.parametrize(
    ("both", "verdict"), [(87, "agrees with SQuAD, SNLI"), (80, "agrees with SRL"), (84, "not decided")]
)
def test_table3_says_which_of_the_papers_tasks_ours_is_like(outcomes_of, both, verdict):
    found = findings("table3", outcomes_of("table3", [around(84), around(both), around(70)]))
    assert verdicts(found) == ["agrees", verdict, "agrees"]


def test_one_seed_decides_nothing(outcomes_of):
    found = findings("table3", outcomes_of("table3", [[84.0], [80.0], [70.0]]))
    assert verdicts(found) == ["not decided"] * 3


def test_figure1_judges_every_share_and_the_gain(outcomes_of):
    shares = [1, 10, 100]
    scores = [around(10), around(30), around(30.5), around(40), around(60), around(60.1)]
    curves = [[[value] for value in seeds] for seeds in scores[:4]]
    curves += [[[20, 50, 60], [61, 5, 5], [61, 5, 5]], [[60.2, 50], [4, 61.2], [4, 61.2]]]
    found = findings("figure1", outcomes_of("figure1", scores, shares=shares, epochs=curves))
    assert verdicts(found) == ["agrees", "agrees", "not decided", "agrees", "not decided"]
    assert found[3].difference.mean == pytest.approx(19.9)
    as_good = found[4]
    assert (as_good.difference.threshold, as_good.difference.mean) == (-1, pytest.approx(-0.5))
    # Epochs: 3 - 1 with the first seed, 1 - 2 with the others.
    (epochs,) = [one for one in found if one.measured_on == "epochs"]
    assert (epochs.difference.mean, epochs.verdict) == (0, "not decided")


def test_hundreds_of_epochs_have_an_interval_and_impossible_scores_have_none():
    claim = {"measured_on": "epochs", "difference": 476.0, "interval": (470.0, 482.0)}
    assert measured(claim) == "+476.0 [+470.0, +482.0]"
    assert measured({**claim, "measured_on": "test"}) == "+476.00 [too little data for an interval]"


def test_a_score_that_is_never_passed_counts_as_later_than_all_epochs(outcomes_of):
    curves = [[[10, 60], [60, 10]], [[1, 2, 3], [1, 2, 3]]]
    found = findings("figure1", outcomes_of("figure1", [[60.0, 60.0], [3.0, 3.0]], shares=[100], epochs=curves))
    assert found[-1].difference.mean == -2.5  # 2 - 4 and 1 - 4


def mix(placement, *weights):
    return {"placement": placement, "weights": list(weights), "gamma": 1.0}


def test_figure2_judges_the_weights_of_every_mix(outcomes_of):
    def mixes(*weights):
        """Two seeds, which differ a little."""
        return [[mix(place, a + shift, b, c - shift) for place, a, b, c in weights] for shift in (0, 0.001)]

    below, above, steep = ("input", 0.2, 0.6, 0.2), ("output", 0.4, 0.35, 0.25), ("output", 0.05, 0.05, 0.9)
    outcomes = outcomes_of("figure2", [[1.0, 1.0]] * 3, mixes=[mixes(below), mixes(below, above), mixes(steep)])
    found = findings("figure2", outcomes)
    assert verdicts(found, "weights") == ["agrees", "agrees", "agrees", "agrees", "does not agree", "does not agree"]
    assert found[0].difference.mean == pytest.approx(0.4, abs=0.001)
    assert found[2].difference.mean == pytest.approx(1 / 6 - 0.25 / 3, abs=0.001)
    assert found[3].difference.mean == pytest.approx(0.125, abs=0.001)
