"""The paper's claims, judged on scores whose answer is plain."""

import pytest

from elmo_paper.pages.tables import measured
from elmo_paper.reproduce.claims import findings

CLOSE = [-0.2, 0.0, 0.2]


def around(mean):
    return [mean + deviation for deviation in CLOSE]


def verdicts(found, data="dev"):
    return [one.verdict for one in found if one.measured_on == data]


YES, NO, OPEN = "agrees", "does not agree", "not decided"


@pytest.mark.parametrize(
    ("experiment", "means", "bilms", "expected"),
    [
        ("table1", [80, 84], [], [("ELMo beats the baseline", YES)]),
        (
            "taglm",
            [80, 83, 84, 86],
            [],
            [
                ("TagLM beats the baseline", YES),
                ("ELMo beats TagLM", YES),
                ("the top layer between the layers beats the top layer at the input", YES),
            ],
        ),
        (
            "bilms",
            [80, 84, 84.1, 88, 82, 86],
            ["small-en", "runs/film", "runs/news", "cove=runs/translator", "mssg=senses.txt"],
            [
                ("ELMo of small-en beats the baseline", YES),
                ("ELMo of film beats the baseline", YES),
                ("ELMo of news beats the baseline", YES),
                ("CoVe of translator beats the baseline", YES),
                ("MSSG of senses.txt beats the baseline", YES),
                ("ELMo of film beats ELMo of small-en", OPEN),
                ("ELMo of news beats ELMo of small-en", YES),
                ("ELMo of small-en beats CoVe of translator", YES),
                ("ELMo of small-en beats MSSG of senses.txt", NO),
            ],
        ),
    ],
)
def test_each_experiment_asks_what_the_paper_says(outcomes_of, experiment, means, bilms, expected):
    found = findings(experiment, outcomes_of(experiment, [around(mean) for mean in means], bilms=bilms))
    assert [(one.claim, one.verdict) for one in found if one.verdict] == expected


@pytest.mark.parametrize(
    ("experiment", "means", "expected"),
    [
        ("gamma", [80, 84, 79, 84, 84.1], [YES, OPEN, YES]),
        ("table2", [80, 84, 86, 89], [YES] * 5),
        ("table2", [80, 84, 84.1, 82], [YES, YES, OPEN, NO, NO]),
        # Which of the paper's tasks ours is like.
        ("table3", [84, 87, 70], [YES, "agrees with SQuAD, SNLI", YES]),
        ("table3", [84, 80, 70], [YES, "agrees with SRL", YES]),
        ("table3", [84, 84, 70], [YES, OPEN, YES]),
    ],
)
def test_verdicts_follow_from_the_means(outcomes_of, experiment, means, expected):
    assert verdicts(findings(experiment, outcomes_of(experiment, [around(mean) for mean in means]))) == expected
    one_seed = findings(experiment, outcomes_of(experiment, [[mean] for mean in means]))
    assert verdicts(one_seed) == [OPEN] * len(expected)


def test_a_claim_has_our_difference_and_the_papers(outcomes_of):
    first = findings("table2", outcomes_of("table2", [around(80), around(84), around(86), around(89)]))[0]
    assert first.difference.mean == pytest.approx(9)
    assert dict(first.paper) == {"SQuAD": 4.4, "SNLI": 1.4, "SRL": 3.2}


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
