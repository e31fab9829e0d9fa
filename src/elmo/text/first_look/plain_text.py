"""Plain text: a measure of how much in some lines is neither a word nor a mark of a sentence.

Tags, markup, printed objects, tables and vectors have much of it, prose hardly any: in 14,400 windows of 50 lines of
novels, news, speeches, reviews, guides and chat in English, Korean and German at most 21% of the tokens. The number or
date that a line begins with doesn't count: verses, items of lists and diaries have one.
In JavaScript it is explorer/local/plain_text.js.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice

from elmo.text.tokenizer import combining_marks

_OF_SENTENCES = frozenset('.,;:!?…。，、！？：；（）؟؛،।–—-"“”„«»‘’「」『』《》〈〉')
_NUMBER = re.compile(r"[\d.,:/-]+")
# Of a verse, an item of a list, a date: what lines of prose begin with.
_NUMBERING = re.compile(r"\(?\d[\d.,:/()\s-]*")
_LINES_MEASURED = 200
# One match gives other threads no turn, however long it is.
_LENGTH_MEASURED = 10_000
_LINES = {
    "have tabs between words": re.compile(r"\t"),
    "are strings as programs write them": re.compile(r"""^(?:\w+(['"]).*\1,?|(['"]).*\2,)$"""),
    # Sequences and alignments of them; not the ends of web addresses.
    "have words of 40 letters or more": re.compile(r"(?<![\w/-])[A-Za-z][A-Za-z-]{39}"),
}
"""What most lines of prose never have."""
# Fewer may look so by chance.
_FEWEST_TOKENS = 20
_FEWEST_LINES = 4
_MOST_ODD = 0.3
_MOST_LINES = 0.5
_LONGEST_EXAMPLE = 40
# Fewer lines may have one word each by chance.
_FEWEST_ALONE = 20


def why_not_plain(texts: Iterable[str]) -> str | None:
    """What shows that the texts hold more than sentences, with its share and an example; None: nothing does."""
    filled = (line.strip()[:_LENGTH_MEASURED] for text in texts for line in text.split("\n"))
    lines = list(islice(filter(None, filled), _LINES_MEASURED))
    numbered = (line[match.end() :] or line if (match := _NUMBERING.match(line)) else line for line in lines)
    tokens = [match.group() for line in numbered for match in _token().finditer(line)]
    if len(tokens) < _FEWEST_TOKENS:
        return None
    odd = [token for token in tokens if _is_odd(token)]
    if len(odd) >= _MOST_ODD * len(tokens):
        example = " ".join(token for token, _ in Counter(odd).most_common(3))
        return _told(len(odd), len(tokens), "tokens are neither words nor marks of sentences", example)
    for what, pattern in _LINES.items():
        found = list(filter(pattern.search, lines))
        if len(found) > max(_FEWEST_LINES, _MOST_LINES * len(lines)):
            return _told(len(found), len(lines), f"lines {what}", found[0])
    return None


def other_form(texts: Sequence[str], sentences: Sequence[Sequence[str]], name: str, *, are_lines: bool) -> str | None:
    """The warning about texts that hold more than words, or less than sentences; None: nothing shows that they do.

    `sentences`: tokens; `name`: of the text; `are_lines`: whether the texts are the lines or rows of a file.
    """
    if why := why_not_plain(texts):
        return (
            f"{name} is read as text, but {why}. ELMo reads tags, marks and numbers as words. If it is a table or has "
            "columns, name its form, such as --format tsv --field 2; else write its text into a file of its own "
            "(docs/text-files.md)."
        )
    filled = [text for text in texts if text.strip()]
    if are_lines and len(filled) >= _FEWEST_ALONE and max(map(len, sentences)) == 1:
        return (
            f"{name} has one word in each line or row, which is read as a sentence of its own, without context. If "
            "they are the words of sentences, write a sentence per line, or use --format conll."
        )
    return None


def _is_odd(token: str) -> bool:
    """Whether it is a number, or a mark that sentences seldom have."""
    if any(map(str.isalnum, token)):
        return _NUMBER.fullmatch(token) is not None
    return token[0] not in _OF_SENTENCES


def _told(count: int, total: int, what: str, example: str) -> str:
    return f"{count / total:.0%} of its {what} ({example[:_LONGEST_EXAMPLE]!r})"


@cache
def _token() -> re.Pattern[str]:
    """A word or number, or a mark, once or several times."""
    letter = rf"(?:[^\W_]|[{combining_marks()}])"
    return re.compile(rf"{letter}+(?:(?:['’.,·&-]|(?<=\d)[:/](?=\d)){letter}+)*|([^\w\s{combining_marks()}]|_)\1*")
