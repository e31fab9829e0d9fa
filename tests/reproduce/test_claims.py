"""The paper's claims, judged on scores whose answer is plain."""

import pytest

from elmo.reproduce.claims import judge


def verdicts(judged, data="dev"):
    return [one.verdict for one in judged if one.measured == data]


def test_table2_where_all_is_as_in_the_paper(outcomes_of):
    scores = [[80.0, 81.0], [84.0, 85.0], [86.0, 87.0], [89.0, 90.0]]
    judged = judge("table2", outcomes_of("table2", scores))
    assert verdicts(judged) == ["agrees"] * 5
    first = judged[0]
    assert (first.difference.mean, first.difference.spread) == (9.0, pytest.approx(1.0))  # two variances of 0.5
    assert first.claim.endswith("(paper: SQuAD +4.4, SNLI +1.4, SRL +3.2)")


def test_table2_where_some_of_it_is_not(outcomes_of):
    scores = [[80.0, 81.0], [84.0, 85.0], [84.2, 85.0], [82.0, 82.2]]
    judged = judge("table2", outcomes_of("table2", scores, test=list(reversed(scores))))
    assert verdicts(judged) == ["agrees", "agrees", "within the spread", "does not agree", "does not agree"]
    assert verdicts(judged, "test") == [
        "does not agree",
        "agrees",
        "within the spread",
        "does not agree",
        "does not agree",
    ]


@pytest.mark.parametrize(
    ("both", "verdict"),
    [([87.0, 88.0], "agrees with SQuAD, SNLI"), ([80.0, 81.0], "agrees with SRL"), ([84.0, 85.0], "within the spread")],
)
def test_table3_says_which_of_the_papers_tasks_ours_is_like(outcomes_of, both, verdict):
    judged = judge("table3", outcomes_of("table3", [[84.0, 85.0], both, [70.0, 71.0]]))
    assert verdicts(judged) == ["agrees", verdict, "agrees"]


def test_figure1_judges_every_share_and_the_gain(outcomes_of):
    shares = [1, 10, 100]
    scores = [[10.0, 11.0], [30.0, 31.0], [30.5, 31.5], [40.0, 41.0], [60.0, 61.0], [60.2, 61.2]]
    curves = [[[value] for value in seeds] for seeds in scores[:4]]
    curves += [[[20, 50, 60], [61, 5, 5]], [[60.2, 50], [4, 61.2]]]
    judged = judge("figure1", outcomes_of("figure1", scores, shares=shares, epochs=curves))
    expected = ["agrees", "agrees", "within the spread", "agrees", "agrees"]
    assert verdicts(judged) == expected
    gain = judged[3].difference
    assert (gain.mean, gain.spread) == (pytest.approx(19.8), pytest.approx(2**0.5))
    # Epochs: 3 - 1 with the first seed, 1 - 2 with the second.
    (epochs,) = [one for one in judged if one.measured == "epochs"]
    assert (epochs.difference.mean, epochs.difference.spread) == (0.5, pytest.approx(4.5**0.5))
    assert epochs.verdict == "within the spread"


def test_a_score_that_is_never_passed_counts_as_later_than_all_epochs(outcomes_of):
    curves = [[[10, 60], [60, 10]], [[1, 2, 3], [1, 2, 3]]]
    judged = judge("figure1", outcomes_of("figure1", [[60.0, 60.0], [3.0, 3.0]], shares=[100], epochs=curves))
    assert judged[-1].difference.mean == -2.5  # 2 - 4 and 1 - 4
    assert judged[-1].verdict == "does not agree"


def mix(placement, *weights):
    return {"placement": placement, "weights": list(weights), "gamma": 1.0}


def test_figure2_judges_the_weights_of_every_mix(outcomes_of):
    below, above = mix("input", 0.2, 0.6, 0.2), mix("output", 0.4, 0.35, 0.25)
    steep = mix("output", 0.05, 0.05, 0.9)
    mixes = [[[below]] * 2, [[below, above]] * 2, [[steep], [steep]]]
    judged = judge("figure2", outcomes_of("figure2", [[1.0, 1.0]] * 3, mixes=mixes))
    assert verdicts(judged, "weights") == ["agrees", "agrees", "agrees", "agrees", "does not agree", "does not agree"]
    assert judged[0].difference.mean == pytest.approx(0.4)
    assert judged[2].difference.mean == pytest.approx(1 / 6 - 0.25 / 3)
    assert judged[3].difference.mean == pytest.approx(0.125)
