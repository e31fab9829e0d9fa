"""Student's t, against the printed tables and scipy."""

import math

import pytest

from elmo.reproduce.verdicts.student_t import two_sided_p, two_sided_quantile


@pytest.mark.parametrize(
    ("degrees_of_freedom", "quantile"),
    [(1, 12.7062), (2, 4.3027), (4, 2.7764), (10, 2.2281), (30, 2.0423), (1e6, 1.9600)],
)
def test_quantiles_are_those_of_the_printed_table(degrees_of_freedom, quantile):
    assert two_sided_quantile(0.95, degrees_of_freedom) == pytest.approx(quantile, abs=2e-4)


def test_probabilities_of_the_cauchy_distribution_are_known():
    for t in (0.0, 0.5, 1.0, 30.0):
        assert two_sided_p(t, 1) == pytest.approx(1 - 2 * math.atan(t) / math.pi)
        assert two_sided_p(-t, 1) == two_sided_p(t, 1)


@pytest.mark.parametrize("degrees_of_freedom", [1.0, 1.7, 2.5, 4.0, 17.0, 300.0, 9000.0])
def test_any_degrees_of_freedom_and_far_tails_are_as_in_scipy(degrees_of_freedom):
    stats = pytest.importorskip("scipy.stats")
    for t in (0.0, 0.1, 1.0, 3.0, 8.0, 40.0):
        expected = 2 * stats.t.sf(t, degrees_of_freedom)
        assert two_sided_p(t, degrees_of_freedom) == pytest.approx(expected, rel=1e-6, abs=1e-12)
