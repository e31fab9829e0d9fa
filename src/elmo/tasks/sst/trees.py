"""Labelled trees, one a line: `(3 (2 It) (4 (2 's) (4 good)))` -> tokens, and the label of every phrase.

Source: Socher et al. 2013, the Stanford Sentiment Treebank: labels 0 (very negative) to 4 (very positive).
"""

import re
from dataclasses import dataclass

from elmo.errors import TextError

LABELS = ("0", "1", "2", "3", "4")

_PARTS = re.compile(r"[()]|[^()\s]+")
# The treebank writes marks that its own notation needs, or once needed, in other ways.
_ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


@dataclass(frozen=True)
class Phrase:
    """A node of a tree: tokens `start` to before `end`."""

    label: str
    start: int
    end: int


def parse_tree(line: str, place: str) -> tuple[list[str], list[Phrase]]:
    """The tokens of a tree, and all its phrases, inner ones first, the whole sentence last.

    `place`: FILE:LINE for messages. Raises TextError, with the column, where the line is no such tree.
    """
    tokens: list[str] = []
    phrases: list[Phrase] = []
    # Of each open bracket its label, None before it is read, and where its phrase begins.
    is_open: list[tuple[str | None, int]] = []
    for part in _PARTS.finditer(line):
        text, where = part[0], f"{place}: column {part.start() + 1}"
        if phrases and not is_open:
            raise _wrong(where, f"{text!r} follows the end of the tree, but a line can have only one tree")
        if text == "(":
            if is_open and is_open[-1][0] is None:
                raise _wrong(where, "a bracket opens where the label of the one before it belongs")
            is_open.append((None, len(tokens)))
        elif not is_open:
            raise _wrong(where, f"{text!r} is outside all brackets")
        elif text == ")":
            phrases.append(_closed(*is_open.pop(), len(tokens), where))
        elif is_open[-1][0] is None:
            is_open[-1] = (_checked(text, where), len(tokens))
        else:
            tokens.append(_unescaped(text))
    if is_open or not phrases:
        raise _wrong(f"{place}: column {len(line) + 1}", f"the line ends with {len(is_open)} brackets still open")
    return tokens, phrases


def _closed(label: str | None, start: int, end: int, where: str) -> Phrase:
    if label is None or start == end:
        raise _wrong(where, "a bracket closes a phrase without " + ("a label" if label is None else "a word"))
    return Phrase(label, start, end)


def _checked(label: str, where: str) -> str:
    if label not in LABELS:
        raise _wrong(where, f"the label is {label!r}, but must be one of {', '.join(LABELS)}")
    return label


def _unescaped(token: str) -> str:
    return _ESCAPES.get(token) or token.replace("\\/", "/").replace("\\*", "*")


def _wrong(where: str, what: str) -> TextError:
    return TextError(
        f"{where}: {what}. Each line must be a tree like (3 (2 It) (4 works)); fix the line, or read other files with "
        "--layout tsv."
    )
