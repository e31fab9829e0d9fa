"""A sentence with a marked token, as people write it: "The [bank] was steep ."."""

import re

from elmo.errors import ConfigError

# Brackets around a token or around nothing.
_MARK = re.compile(r"\[([^\[\]\s]*)\]")


def marked(text: str) -> tuple[list[str], int]:
    """Tokens of "The [bank] was steep." and the place of the marked one, from 0; "[]" marks a gap.

    Tokens are separated by spaces, and a bracket with something in it is a token of its own: what stands before or
    after it without a space, like a full stop, becomes another token. Raises ConfigError unless exactly one place is
    marked.
    """
    marks = list(_MARK.finditer(text))
    if len(marks) != 1:
        raise ConfigError(
            f"{text!r} has {len(marks)} tokens in brackets, but exactly one place must be marked. Separate tokens by "
            "spaces and mark one: 'The [bank] was steep .'"
        )
    before, after = text[: marks[0].start()].split(), text[marks[0].end() :].split()
    return [*before, marks[0][1], *after], len(before)
