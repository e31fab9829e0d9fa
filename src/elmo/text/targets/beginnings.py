"""Choosing the beginnings that stand for the tokens a vocabulary doesn't list, by the training text's counts.

Longest first: a beginning is chosen if enough tokens have it and none of the longer ones chosen before. What is
"enough" is the lowest count that leaves room for all of them, so that frequent stems get long entries of their own and
everything else falls to a first syllable or letter.
"""

from collections import Counter
from collections.abc import Mapping

LONGEST_BEGINNING = 8
"""Characters. In Korean text the longest chosen have six; the bound keeps URLs and the like from costing time."""


def choose_beginnings(counts: Mapping[str, int], room: int) -> dict[str, int]:
    """At most `room` beginnings of the words in `counts`, each with the number of tokens it then stands for.

    `counts`: occurrences of the words that have no entry of their own. A beginning is shorter than its word, and
    has at most eight characters.
    """
    if room < 1 or not counts:
        return {}
    too_many, fits = 0, 1
    while len(_frequent(counts, fits)) > room:
        too_many, fits = fits, 2 * fits
    while fits - too_many > 1:
        middle = (too_many + fits) // 2
        if len(_frequent(counts, middle)) > room:
            too_many = middle
        else:
            fits = middle
    return _frequent(counts, fits)


def _frequent(counts: Mapping[str, int], least: int) -> dict[str, int]:
    """The beginnings that `least` tokens or more have, beside those that have a longer one."""
    chosen: dict[str, int] = {}
    rest = list(counts.items())
    for length in range(LONGEST_BEGINNING, 0, -1):
        found: Counter[str] = Counter()
        for word, count in rest:
            if len(word) > length:
                found[word[:length]] += count
        new = {beginning: count for beginning, count in found.items() if count >= least}
        chosen |= new
        rest = [(word, count) for word, count in rest if len(word) <= length or word[:length] not in new]
    return chosen
