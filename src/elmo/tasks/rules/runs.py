"""Runs: neighbors that all have a property."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter


def longest_runs(wanted: Iterable[bool], first: int = 0) -> Iterator[tuple[int, int]]:
    """The first and last place of each run of True that can't be longer. `first`: the place of the first value."""
    for is_wanted, run in groupby(enumerate(wanted, first), key=itemgetter(1)):
        if is_wanted:
            places = [place for place, _ in run]
            yield places[0], places[-1]
