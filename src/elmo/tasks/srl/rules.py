"""What labels roles without learning: all before the predicate is its first argument, all after it the second."""

from collections import Counter
from collections.abc import Iterable, Sequence

from elmo.tasks.rules.rule import Rule
from elmo.tasks.srl.data import PREDICATE, Proposition, Roles, RoleSentence
from elmo.tasks.tags import Span


def rules_of(examples: Sequence[RoleSentence]) -> list[Rule[RoleSentence, Roles]]:
    """The labels are the most frequent ones that stand before and after the predicates of the training data."""
    before, after = _most_frequent_sides(one for example in examples for one in example.propositions)

    def predict(sentences: Sequence[RoleSentence]) -> list[Roles]:
        return [
            [
                Proposition(one.predicate, sides(one.predicate, len(own.tokens), before, after))
                for one in own.propositions
            ]
            for own in sentences
        ]

    label = f"rule: all before the predicate is {before or 'nothing'}, all after it {after or 'nothing'}"
    return [Rule("before-and-after", label, predict)]


def sides(predicate: tuple[int, int], length: int, before: str, after: str) -> list[Span]:
    """The predicate and what is on both sides of it; the last token, mostly a full stop, belongs to nothing."""
    start, end = predicate
    spans = [(0, start, before), (start, end, PREDICATE), (end, length - 1, after)]
    return [span for span in spans if span[0] < span[1] and span[2]]


def _most_frequent_sides(propositions: Iterable[Proposition]) -> tuple[str, str]:
    before, after = Counter[str](), Counter[str]()
    for proposition in propositions:
        for start, _, label in proposition.spans:
            if label != PREDICATE:
                (before if start < proposition.predicate[0] else after)[label] += 1
    return _most_frequent(before), _most_frequent(after)


def _most_frequent(found: Counter[str]) -> str:
    return min(found, key=lambda label: (-found[label], label), default="")
