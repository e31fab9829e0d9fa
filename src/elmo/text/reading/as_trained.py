"""Text as a model's training text has it: letters composed, typographic marks plain, and letters that look plain, too.

Models read characters, and know each in the form that they were trained on. Web text has “ ” ’ — … where the training
text has " ' -- ...: in small-en the cosines of their vectors are .2 to .5, and those of the words beside them fall too.
Likewise "é" and "한" can be one character (NFC, which models know) or a letter and its parts (NFD), and some letters of
Bengali and Hindi are two characters in NFC and are typed as one. Full-width digits, ligatures and soft hyphens come
with text from PDF files and East Asian keyboards: nobody sees them, and in small-en they change a word's vector
altogether.

Tokens are replaced after the text was split, so their places in the text stay: one token for one token.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType

import numpy as np

from elmo.shapes import Int
from elmo.text.tokenizer import combining_marks

QUOTES = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
}
"""Typographic quotes and apostrophes, with what plain text has for them."""
DASHES = {**dict.fromkeys("\u2013\u2014\u2015", "--"), "\u2212": "-"}
"""Dashes and the minus sign, likewise."""
_OTHERS = {**dict.fromkeys("\u2010\u2011\u2012", "-"), "\u2026": "..."}

# In the names of characters that are never drawn but aren't called format characters.
_INVISIBLE = re.compile("VARIATION SELECTOR|JOINER|FILLER")
# That one letter is composed with: Python sorts them in quadratic time.
_MOST_MARKS = 64
_BROKEN = r"(\u00ad)\s+(?=\w)"

Marks = Mapping[int, str]
"""Code point -> what it is read as, for `str.translate`; what has no entry stays."""


class PlainForms(dict[int, str]):
    """Typographic marks with what they are read as; and, looked up when it is asked for, the compatibility form (NFKC)
    of each character that no word of a vocabulary has, if words have that form, or another character with that form:
    Korean letters alone are typed as two. Invisible ones are left out."""

    def __init__(self, marks: Mapping[int, str] = MappingProxyType({}), known: frozenset[str] = frozenset()) -> None:
        super().__init__(marks)
        self._known = known
        self._twins = {unicodedata.normalize("NFKC", one): one for one in sorted(known)}

    def __bool__(self) -> bool:
        return True

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if code < 128 or character in self._known:
            return character
        if unicodedata.category(character) == "Cf" or _INVISIBLE.search(unicodedata.name(character, "")):
            return ""
        form = unicodedata.normalize("NFKC", character)
        return form if self._known.issuperset(form) else self._twins.get(form, character)


@cache
def _composable() -> re.Pattern[str]:
    """A soft hyphen at a line end; and what NFC may change, each by itself: a character with its combining marks, and a
    Korean syllable in parts."""
    marks = combining_marks()
    return re.compile(
        f"{_BROKEN}|"
        f"[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|[\uac00-\ud7a3][\u11a8-\u11c2]|[^\\x00-\\x7f][{marks}]{{0,{_MOST_MARKS}}}|.[{marks}]{{1,{_MOST_MARKS}}}"
    )


def plain_marks(vocabulary: Sequence[str] | None) -> Marks:
    """The characters that a vocabulary has in no word, but whose plain form it has.

    `vocabulary`: the most frequent words first; of two plain forms of a mark the more frequent word is taken.
    """
    if not vocabulary:
        return {}
    characters = frozenset().union(*vocabulary)
    plain_forms = QUOTES | DASHES | _OTHERS
    missing = {
        mark: {form, "-"} if form == "--" else {form} for mark, form in plain_forms.items() if mark not in characters
    }
    wanted = {form for forms in missing.values() for form in forms}
    known = [word for word in vocabulary if word in wanted]
    found = {mark: next((word for word in known if word in forms), None) for mark, forms in missing.items()}
    return PlainForms({ord(mark): plain for mark, plain in found.items() if plain is not None}, characters)


def as_trained(tokens: list[str], marks: Marks | None = None) -> list[str]:
    """The tokens with composed letters and plain marks; the list itself if that changes nothing.

    `marks`: None: all stay as they are.
    """
    if all(map(str.isascii, tokens)):
        return tokens
    found = [composed(token)[0].translate(marks or {}) or token for token in tokens]
    return tokens if found == tokens else found


def composed_words(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a table's rows in NFC, as texts have them; one whose composed form has another row stays as it is.

    All of `words` are different, and so are the results.
    """
    taken, found = set(words), []
    for word in words:
        form = unicodedata.normalize("NFC", word)
        found.append(word if form in taken else form)
        taken.add(form)
    return tuple(found)


def composed(text: str) -> tuple[str, Int[np.ndarray, " characters"] | None]:
    """The text in Unicode's composed form (NFC), and where each of its characters begins in `text`.

    A word that a line end breaks at a soft hyphen, as in text from PDF files, is whole again.
    One place more than characters: the last is the end. None: nothing changed.
    """
    if text.isascii() or ("\u00ad" not in text and unicodedata.is_normalized("NFC", text)):
        return text, None
    parts: list[str] = []
    places: list[int] = []
    end = 0
    for match in _composable().finditer(text):
        letter = match[1] or unicodedata.normalize("NFC", match.group())
        if letter != match.group():
            start, stop = match.span()
            parts += [text[end:start], letter]
            # A letter that NFC takes apart, as some of Bengali, has one place for all its parts.
            places += [*range(end, start), *(min(place, stop - 1) for place in range(start, start + len(letter)))]
            end = stop
    if not parts:
        return text, None
    places += range(end, len(text) + 1)
    return "".join([*parts, text[end:]]), np.array(places)
