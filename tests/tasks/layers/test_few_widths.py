"""Few different widths, none smaller than the batch."""

import pytest

from elmo.tasks.layers.few_widths import padded_width


@pytest.mark.parametrize(("tokens", "width"), [(0, 0), (1, 1), (15, 15), (16, 16), (17, 18), (33, 36), (255, 256)])
def test_the_next_of_eight_widths_per_doubling(tokens, width):
    assert padded_width(tokens) == width


def test_at_most_an_eighth_more_and_few_of_them():
    widths = [padded_width(tokens) for tokens in range(1, 4097)]
    assert all(tokens <= width < tokens * 1.125 for tokens, width in enumerate(widths, start=1))
    assert len(set(widths[16 - 1 :])) == 8 * 8 + 1
