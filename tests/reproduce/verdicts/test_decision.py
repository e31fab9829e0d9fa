"""Holm's correction and the three outcomes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.reproduce.verdicts.decision import decide, holm
from elmo.reproduce.verdicts.difference import Difference


def test_holms_own_steps():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_corrected_values_keep_the_order_and_lie_between_the_p_value_and_bonferroni(p_values):
    found = holm(p_values)
    for p, corrected in zip(p_values, found, strict=True):
        assert p <= corrected <= min(1.0, len(p_values) * p + 1e-12)
    by_p = [corrected for _, corrected in sorted(zip(p_values, found, strict=True))]
    assert by_p == sorted(by_p)


def test_each_claim_agrees_disagrees_or_is_not_decided():
    found = decide([Difference(3.0, 0.1, 4), Difference(-3.0, 0.1, 4), Difference(0.3, 0.1, 4), Difference(9.0, None)])
    assert [one.verdict for one in found] == ["agrees", "does not agree", "agrees", "not decided"]
    assert found[3].corrected_p is None


def test_what_is_enough_for_one_claim_is_not_enough_for_one_of_two():
    claim = Difference(0.3, 0.1, 4)
    assert claim.p_value == pytest.approx(0.0399, abs=1e-4)
    assert decide([claim])[0].verdict == "agrees"
    assert [one.verdict for one in decide([claim, claim])] == ["not decided", "not decided"]


def test_a_claim_of_being_as_good_is_decided_against_its_threshold():
    just_below = Difference(-0.5, 0.1, 4, threshold=-1.0)
    far_below = Difference(-1.5, 0.1, 4, threshold=-1.0)
    assert [one.verdict for one in decide([just_below, far_below])] == ["agrees", "does not agree"]
