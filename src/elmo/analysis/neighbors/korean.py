"""Korean words with their particles and endings: which words of a text are one noun, or one verb?

Nouns: a token of Korean text is an eojeol, mostly a noun with particles ("배가", "배를", "배에서도"), so occurrences of
one noun are many different words. Some particles have two forms, by whether the syllable before them ends in a
consonant. A noun is not distinguished from another one that is written alike, nor from a verb's stem: "나는" can be "I"
with its topic particle or "flying".

Verbs and adjectives: a stem with endings, some of which change the stem: 쓰다 is "쓰고", "쓴다", "썼다". Stems are
compared letter by letter, in three forms: as it is before consonants, with 으 where it ends in a consonant, and with
아 or 어. The class can't be seen, so a stem's irregular forms count beside its regular ones: of 묻다, "묻어서" (bury)
and "물어서" (ask). The list of endings is not complete, and what follows an ending isn't looked at ("썼다고는").

Source: Sohn 1999, The Korean Language, on nominal particles, and on predicates and their irregular classes.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from elmo.text.reading.as_trained import composed

# Words and patterns as letters: conjoining jamo, of which a final consonant is another one than an initial one.
_NIEUN, _DIGEUT, _RIEUL, _MIEUM, _BIEUP, _SIOT, _SSANGSIOT = "\u11ab\u11ae\u11af\u11b7\u11b8\u11ba\u11bb"
_INITIAL_RIEUL = "\u1105"
_A, _AE, _YA, _EO, _E, _YEO, _O = "\u1161", "\u1162", "\u1163", "\u1165", "\u1166", "\u1167", "\u1169"
_WA, _WAE, _OE, _U, _WEO, _EU, _I = "\u116a", "\u116b", "\u116c", "\u116e", "\u116f", "\u1173", "\u1175"
_MERGED = {_O: _WA, _U: _WEO, _I: _YEO, _OE: _WAE}
_FINALS = "\u11a8-\u11c2"
_VERB = rf"(?:[\u1100-\u1112][\u1161-\u1175][{_FINALS}]?)+\u1103\u1161"

_N = f"{_NIEUN}(?=다|데|지|가|들|$)"
_L = f"{_RIEUL}(?=까|게|수록|지|래|걸|텐|라|$)"
_M = f"{_MIEUM}(?=을|이|은|에|과|도|$)"
_B = f"{_BIEUP}(?=니|시)"
_HONORIFIC = "시|신|실|셨|십|세"
_BEFORE_CONSONANTS = (
    "고|지|게|기|는|던|더|네|겠|거(?=나|니|든|라)|든|도록|느|습|자(?=고|마자|$)|냐|다(?=가|고|는|면|$)|죠|(?:나|니|소)$"
)
_AFTER_EU = f"{_N}|{_L}|{_M}|{_B}|면|니|며|려|러|므로|{_HONORIFIC}|나$"
_AFTER_A = f"{_SSANGSIOT}|서|도|야|요|라|지|져|졌|진|질|주|준|줬|버|보|본|봤|있|$"
_WITH_RIEUL = f"{_MIEUM}|면|며|려|러|므로"
_WITHOUT_RIEUL = f"{_N}|{_L}|{_B}|는|네|느|니|{_HONORIFIC}|(?:나|소)$"


def verb_forms_of(verb: str, words: Iterable[str]) -> list[str]:
    """The words that are this verb or adjective with endings, in their order.

    `verb`: as a dictionary has it, ending in 다; anything else has no forms.
    """
    letters = _letters(verb)
    if not re.fullmatch(_VERB, letters):
        return []
    forms = "|".join(f"{base}(?:{endings})" for base, endings in _bases(letters[:-2]))
    # No ending is the beginning of another syllable.
    pattern = re.compile(f"(?:{_letters(forms)})(?![{_FINALS}])")
    return [word for word in words if pattern.match(_letters(word))]


def _letters(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def _bases(stem: str) -> Iterator[tuple[str, str]]:
    """Each form of the stem, with a pattern of what can follow it."""
    yield stem, _BEFORE_CONSONANTS
    body, final = stem[:-1], stem[-1]
    if not re.match(f"[{_FINALS}]", final):
        yield stem, _AFTER_EU
        yield from ((base, _AFTER_A) for base in _infinitives(stem))
        return
    open_vowel = "아" if body[-1] in (_A, _O, _YA) else "어"
    yield stem + open_vowel, _AFTER_A
    if final == _RIEUL:  # 만들다: 만드는, 만든, 만들면
        yield stem, _WITH_RIEUL
        yield body, _WITHOUT_RIEUL
        return
    yield stem + "으", _AFTER_EU
    if final == _DIGEUT:  # 묻다: 물어, 물으면
        yield body + _RIEUL + "으", _AFTER_EU
        yield body + _RIEUL + open_vowel, _AFTER_A
    elif final == _BIEUP:  # 줍다: 주우면, 주워; 돕다: 도와
        yield body + "우", _AFTER_EU
        yield from ((body + base, _AFTER_A) for base in ("워", "와"))
    elif final == _SIOT:  # 낫다: 나으면, 나아
        yield body + "으", _AFTER_EU
        yield body + open_vowel, _AFTER_A


def _infinitives(stem: str) -> Iterator[str]:
    """A stem that ends in a vowel, with 아 or 어."""
    body, vowel = stem[:-1], stem[-1]
    if vowel == _EU:  # 쓰다: 써; 모으다: 모아; 부르다: 불러
        vowels = re.findall("[\u1161-\u1175]", body)
        end = _A if vowels and vowels[-1] in (_A, _O, _YA) else _EO
        yield body + end
        if vowels and body.endswith(_INITIAL_RIEUL):
            yield body[:-1] + _RIEUL + _INITIAL_RIEUL + end
    elif stem.endswith(_letters("하")):  # 해, 하여
        yield from (body + _AE, stem + "여")
    else:
        yield stem + ("아" if vowel in (_A, _O, _YA) else "어")
        if vowel in (_A, _EO, _YEO, _AE, _E):
            yield stem
        elif vowel in _MERGED:
            yield body + _MERGED[vowel]


_TO_AFTER_CONSONANT, _TO = ("으로", "으로서", "으로써"), ("로", "로서", "로써")
_AFTER_CONSONANT = ("이", "을", "은", "과", "이랑", "이나", "이라도", "이든지", "이야말로")
_AFTER_VOWEL = ("가", "를", "는", "와", "랑", "나", "라도", "든지", "야말로")
_AFTER_ALL = (
    *("의", "에", "에서", "에게", "에게서", "께", "께서", "한테", "한테서", "하고", "보다", "처럼", "만큼"),
    *("도", "만", "까지", "부터", "조차", "마저", "밖에", "마다", "대로", "뿐"),
)
_FIRST, _LAST, _NUM_FINALS, _FINAL_RIEUL = 0xAC00, 0xD7A3, 28, 8


def forms_of(noun: str, words: Iterable[str]) -> list[str]:
    """The words that are this noun alone or with one or more particles, in their order."""
    noun = composed(noun)[0]
    return [word for word in words if word.startswith(noun) and _are_particles(word[len(noun) :], noun[-1:])]


def _are_particles(rest: str, before: str) -> bool:
    """Whether `rest` is a sequence of particles that can follow the syllable `before`."""
    return not rest or any(
        rest.startswith(particle) and _are_particles(rest[len(particle) :], particle[-1])
        for particle in _following(before)
    )


def _following(syllable: str) -> tuple[str, ...]:
    final = (ord(syllable) - _FIRST) % _NUM_FINALS if syllable and _FIRST <= ord(syllable) <= _LAST else None
    if final is None:  # not Hangul: its pronunciation isn't known
        return (*_AFTER_ALL, *_AFTER_CONSONANT, *_TO_AFTER_CONSONANT, *_AFTER_VOWEL, *_TO)
    to = _TO if final in (0, _FINAL_RIEUL) else _TO_AFTER_CONSONANT
    return (*_AFTER_ALL, *to, *(_AFTER_CONSONANT if final else _AFTER_VOWEL))
