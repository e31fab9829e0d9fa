"""Korean nouns with their particles: which words of a text are one noun?

A token of Korean text is an eojeol, mostly a noun with particles ("배가", "배를", "배에서도"), so occurrences of
one noun are many different words. Some particles have two forms, by whether the syllable before them ends in a
consonant. Source: Sohn 1999, The Korean Language, on nominal particles. A noun is not told from another one that is
written alike, nor from a verb's stem: "나는" can be "I" with its topic particle or "flying".
"""

from collections.abc import Iterable

_TO_AFTER_CONSONANT, _TO = ("으로", "으로서", "으로써"), ("로", "로서", "로써")
_AFTER_CONSONANT = ("이", "을", "은", "과", "이랑", "이나", "이라도", "이든지", "이야말로")
_AFTER_VOWEL = ("가", "를", "는", "와", "랑", "나", "라도", "든지", "야말로")
_AFTER_ALL = (
    *("의", "에", "에서", "에게", "에게서", "께", "께서", "한테", "한테서", "하고", "보다", "처럼", "만큼"),
    *("도", "만", "까지", "부터", "조차", "마저", "밖에", "마다", "대로", "뿐"),
)
_FIRST, _LAST, _FINALS, _RIEUL = 0xAC00, 0xD7A3, 28, 8


def forms_of(noun: str, words: Iterable[str]) -> list[str]:
    """The words that are this noun alone or with one or more particles, in their order."""
    return [word for word in words if word.startswith(noun) and _are_particles(word[len(noun) :], noun[-1:])]


def _are_particles(rest: str, before: str) -> bool:
    """Whether `rest` is a sequence of particles that can follow the syllable `before`."""
    return not rest or any(
        rest.startswith(particle) and _are_particles(rest[len(particle) :], particle[-1])
        for particle in _following(before)
    )


def _following(syllable: str) -> tuple[str, ...]:
    final = (ord(syllable) - _FIRST) % _FINALS if syllable and _FIRST <= ord(syllable) <= _LAST else None
    if final is None:  # not Hangul: how it is read isn't known
        return (*_AFTER_ALL, *_AFTER_CONSONANT, *_TO_AFTER_CONSONANT, *_AFTER_VOWEL, *_TO)
    to = _TO if final in (0, _RIEUL) else _TO_AFTER_CONSONANT
    return (*_AFTER_ALL, *to, *(_AFTER_CONSONANT if final else _AFTER_VOWEL))
