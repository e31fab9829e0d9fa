"""Roles as a person reads them: the sentence, and below it a line for each predicate with its arguments in brackets.

She asked him to leave
  asked: [ARG0 She] [V asked] [ARG2 him] [ARG1 to leave]
  leave: She asked [ARG0 him] to [V leave]
"""

from collections.abc import Iterator, Sequence

from elmo.tasks.srl.data import Proposition, Roles, RoleSentence
from elmo.tasks.tags import Span


def readable_roles(sentence: RoleSentence, roles: Roles) -> Iterator[str]:
    """The lines of a sentence, with a blank one after them."""
    yield " ".join(sentence.tokens)
    yield from (f"  {_name(sentence, one)}: {bracketed(sentence.tokens, one.spans)}" for one in roles)
    yield ""


def bracketed(tokens: Sequence[str], spans: Sequence[Span]) -> str:
    """The tokens, each span of them in brackets after its label."""
    opened = {start: label for start, _, label in spans}
    closed = {end - 1 for _, end, _ in spans}
    parts = (
        f"{f'[{opened[place]} ' if place in opened else ''}{token}{']' if place in closed else ''}"
        for place, token in enumerate(tokens)
    )
    return " ".join(parts)


def _name(sentence: RoleSentence, proposition: Proposition) -> str:
    start, end = proposition.predicate
    return " ".join(sentence.tokens[start:end])
