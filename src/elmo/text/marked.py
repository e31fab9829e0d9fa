"""A sentence with a marked token, as people write it: "The [bank] was steep ."."""

import re

from elmo.errors import ConfigError
from elmo.text.tokenizer import tokenizer

# Brackets around a token or around nothing.
_MARK = re.compile(r"\[([^\[\]\s]*)\]")


def marked(text: str) -> tuple[list[str], int]:
    """Tokens of "The [bank] was steep." and the place of the marked one, from 0; "[]" marks a gap.

    A bracket with something in it is a token of its own; what stands around it becomes tokens as by the tokenizer
    "auto". Raises ConfigError unless exactly one place is marked.
    """
    marks = list(_MARK.finditer(text))
    if len(marks) != 1:
        raise ConfigError(
            f"{text!r} has {len(marks)} tokens in brackets, but exactly one place must be marked. Separate tokens by "
            "spaces and mark one: 'The [bank] was steep .'"
        )
    around = text[: marks[0].start()], text[marks[0].end() :]
    plain = marks[0][1].join(around)
    split = str.split if tokenizer("auto")(plain) == plain.split() else tokenizer("unicode")
    before, after = map(split, around)
    return [*before, marks[0][1], *after], len(before)
