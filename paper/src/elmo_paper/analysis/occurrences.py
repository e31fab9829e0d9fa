"""Annotated occurrences of words of which one form has several parts of speech or senses."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from elmo.errors import TextError
from elmo.setting_checks import PositiveInt, Seed, Settings
from elmo_paper.analysis.senses.raganato import AnnotatedSentence

Criterion = Literal["part of speech", "sense"]
"""What a neighbor has to agree in."""


@dataclass(frozen=True)
class Occurrence:
    """One annotated word or expression of a corpus."""

    sentence: int
    start: int
    end: int
    document: str
    form: str
    """As it is written: with capitals, words of an expression joined by blanks."""
    lemma: str
    pos: str
    senses: frozenset[str]

    def group(self, question: Criterion) -> tuple[str, ...]:
        """What its neighbors are looked for among: occurrences of the same form; for senses also of the same lemma and
        part of speech."""
        return (self.form,) if question == "part of speech" else (self.form, self.lemma, self.pos)


@dataclass(frozen=True)
class PrecisionLimits(Settings):
    """How many occurrences are compared."""

    least_candidates: PositiveInt = 10
    """Occurrences in other documents that a query needs."""
    occurrences: PositiveInt = 500
    """Of one form at most; drawn at random."""
    queries: PositiveInt = 20
    """Of one form at most; drawn at random."""
    seed: Seed = 0


LIMITS = PrecisionLimits()


def annotated(sentences: Iterable[AnnotatedSentence], keys: Mapping[str, tuple[str, ...]]) -> Iterator[Occurrence]:
    """All instances, each of which has keys."""
    for number, sentence in enumerate(sentences):
        for one in sentence.instances:
            form = " ".join(sentence.tokens[one.start : one.end])
            senses = frozenset(keys[one.id])
            yield Occurrence(number, one.start, one.end, sentence.document, form, one.lemma, one.pos, senses)


def by_form(occurrences: Iterable[Occurrence], limits: PrecisionLimits = LIMITS) -> list[list[Occurrence]]:
    """The occurrences of each form that has several parts of speech or senses, in the order of the text.

    Raises TextError if there is no such form.
    """
    forms: dict[str, list[Occurrence]] = {}
    for one in occurrences:
        forms.setdefault(one.form, []).append(one)
    random = np.random.default_rng(limits.seed)
    found = [_drawn(group, limits.occurrences, random) for group in forms.values() if _is_ambiguous(group, limits)]
    if not found:
        raise TextError(
            f"the corpus has no word of several senses with more than {limits.least_candidates} occurrences, so there "
            "is nothing to compare. Name a larger corpus."
        )
    return found


def _is_ambiguous(group: Sequence[Occurrence], limits: PrecisionLimits) -> bool:
    senses = {sense for one in group for sense in one.senses}
    return len(group) > limits.least_candidates and len(senses) > 1


def _drawn(group: list[Occurrence], most: int, random: np.random.Generator) -> list[Occurrence]:
    places = np.sort(random.permutation(len(group))[:most])
    return [group[place] for place in places]
