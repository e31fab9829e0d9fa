"""Tokenizers: a string -> tokens, for text that doesn't come tokenized.

"whitespace" is the model's own contract: it was trained on text with its tokens apart.

"auto" is "unicode" unless the text itself shows that its tokens are apart already (see `text.punctuation`). It looks at
one text at a time, so that the tokens of a sentence never depend on other sentences.

"unicode" is a small rule tokenizer in the manner of the Penn Treebank, which the published English corpora follow. It
changes no character: its tokens, joined, are the text without its spaces and without invisible marks (U+200B, ...).
From the left, a token is the first of these that fits:
1. a web address (http://, https://, www.), without the mark that ends its sentence; a mail address;
2. an abbreviation with its dot ("Mr.", "etc.", "No." before a number), letters with dots ("U.S.", "e.g."), an initial
   ("J." before another word);
3. a contraction by itself ("'s", "'ll"), "'90s";
4. a word: letters, digits, underscores and combining marks of any script, joined by hyphens, middle dots, apostrophes
   between letters, ".", ",", ":", "/" between digits ("1,100.50", "10:30"), dots before small letters and digits
   ("usa.gov"); a sign before a number belongs to it ("-5") unless something precedes the sign. Korean words
   (eojeols) stay whole, with their particles: "밥을"; in a Korean text also with "%", "&", "+" and "/" between letters
   or digits, and with Hanja: "3.5%가", "R&D를", "經濟는";
5. an ideograph, by itself: Chinese, and Kanji in Japanese, have no spaces; Hiragana, Katakana, Thai, Khmer and the like
   stay in one piece: give a function of your own for them;
6. two or more dots or hyphens ("...", "--"), a face like "^^" or "^_^", a flag, a whole emoji with its modifiers;
7. any other mark or symbol, by itself: "!!" is two tokens.
From a word's end "n't", "'s", "'re", "'ve", "'ll", "'d" and "'m" are then taken off ("don't" is "do n't").
"""

import hashlib
import inspect
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from typing import cast

from elmo.errors import ConfigError
from elmo.process.named_object import named_object
from elmo.text.punctuation import as_example, shows_tokens
from elmo.text.reading.spans import INVISIBLE
from elmo.text.word_list import require_characters

# The next four are alternatives of regular expressions. Before a name: a dot here never ends a sentence.
_TITLES = (
    "Mr|Mrs|Ms|Messrs|Mme|Mlle|Dr|Prof|Rev|Hon|St|Gen|Col|Maj|Capt|Lt|Cmdr|Sgt|Adm|Sen|Rep|Gov|Pres|Supt|Fr|Sra?|"
    "Srta|Hr|Figs?|Eq|[Vv]ol|pp|cf|vs|viz|approx|ca"
)
# A dot here may end a sentence too.
_ABBREVIATIONS = (
    r"etc|al|Jr|Inc|Ltd|Co|Corp|Bros|Dept|Univ|Assn|Ave|Blvd|Rd|Mt|Ft|Ph\.D|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|"
    "Dec|Mon|Tue|Wed|Thu|Fri|Sat|usw|bzw"
)
# Before a number: a dot here never ends a sentence.
_NUMBERED = "Nos?"
# Capitalized after an abbreviation, these show that a sentence begins.
_STARTERS = (
    "The|An?|This|That|These|Those|He|She|It|We|You|They|I|His|Her|Its|Our|Their|My|Your|In|On|At|For|From|With|As|By|"
    "But|And|Or|So|If|When|While|Although|However|There|Here|What|Who|Why|How|Then|After|Before"
)
_ALPHABET = "A-Za-zÀ-ɏͰ-ӿ"
# Of scripts with spaces: in others a zero-width space (U+200B) is one.
_SPACED = f"{_ALPHABET}0-9\uac00-\ud7a3"
_CAPITAL = "A-ZÀ-ÖØ-ÞΑ-ΩА-Я"
_IDEOGRAPHS = "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Where Unicode has combining marks, without the planes of ideographs, of private use and of nothing: a look at all
# 1.1 million code points takes 65 ms.
_PLACES_OF_MARKS = (range(0x300, 0x3400), range(0xA000, 0xAC00), range(0xF900, 0x20000), range(0xE0000, 0xE1000))
_CLITIC = re.compile(r"(?<=[A-Za-zÀ-ÿ])(?:n['’]t|['’](?:s|re|ve|ll|d|m))$", re.IGNORECASE)

_LONGEST_CLITIC = 3
# Of a mail address before its @, as in RFC 5321. Without a limit, a run of letters and dots is read from each of them.
_LONGEST_MAIL_NAME = 64

# Korean on the web often has no space after the end of a sentence; a dot alone may separate a list there ("한.미").
_HANGUL = "\uac00-\ud7a3"
_LATIN_PER_HANGUL = 3  # in text about technology
_IS_HANGUL, _IS_LATIN = re.compile(f"[{_HANGUL}]"), re.compile("[A-Za-z]")
_END = re.compile(
    # A run of marks is read from its first one alone, so that a long one takes no time for each.
    r"(?:(?<![.!?…؟۔።])[.!?…؟۔።]++[\"'”’»)\]}]*+(?=\s)|[。！？｡।॥។]+[”’」』）\"']*|"
    rf"(?<=[{_HANGUL}])[!?]+(?=[{_HANGUL}])|(?<=[다요죠까])\.+(?=[{_HANGUL}]))\s*"
)
# Characters after a dot that decide whether it ends the sentence.
_LOOK_AHEAD = 64
# Who said a Korean quotation comes after it: '"밥은 먹었니?" 하고 물었다.', '"안녕." 그녀가 말했다.'
_LONGEST_QUOTATION = 256
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』"}
_SAID = re.compile(
    rf"\s*(?:(?:이?라(?:고|며|면서|는|던)|하고|하며|하면서|하는|하자|하니|했다|한다)[{_HANGUL}]{{0,3}}|고|며|면서)(?![{_HANGUL}])"
    r"|[^.!?…\"“”]{0,60}?(?:말(?:한|하|했|씀)|물[었어으]|묻[는고]|대답[한하했]|답[하했]|외[쳤치]|소리[쳤치]|속삭|중얼|되물|반문|덧붙"
    r"|설명[하했]|이야기[하했]|얘기[하했]|부탁[하했]|명령[하했]|인사[하했를]|주장[하했]"
    r"|밝혔|전했|강조했|고 [하했])"
)
_PARAGRAPH = re.compile(r"\n\s*\n")


def tokenizer(name: str) -> Callable[[str], list[str]]:
    """The tokenizer called "auto", "whitespace" or "unicode", or a function of your own as "module:function".

    The module may be in the current folder. The function takes a text without a line end and returns a list of strings.
    Raises ConfigError if it isn't found.
    """
    known: dict[str, Callable[[str], list[str]]] = {
        "auto": _auto_tokens,
        "whitespace": str.split,
        "unicode": _unicode_tokens,
    }
    if name in known:
        return known[name]
    found = named_object(name, "tokenizer", list(known))
    return cast(Callable[[str], list[str]], found)  # what it returns is checked in use


def tokenizer_name(tokenize: Callable[[str], list[str]]) -> str:
    """Of a function or another callable, as metadata and messages tell it."""
    return getattr(tokenize, "__qualname__", type(tokenize).__qualname__)


def tokenizer_code(tokenize: str | Callable[[str], list[str]]) -> str | None:
    """A hash of the file that a tokenizer is written in, and of its place there; None if it isn't written in Python."""
    function = tokenizer(tokenize) if isinstance(tokenize, str) else tokenize
    try:
        return hashlib.sha256(repr(inspect.findsource(function)).encode()).hexdigest()[:16]
    except (OSError, TypeError):
        return None


def split_sentences(text: str) -> list[str]:
    """The sentences of raw text, each on one line; empty lines always end one, a mere line end doesn't.

    A dot ends a sentence unless it follows a title, an initial or the number of a list, or a small letter follows.
    """
    return [" ".join(text[start:stop].split()) for start, stop in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where each sentence of `split_sentences` begins and ends in `text`, in characters, without spaces around it."""
    found = []
    for begin, stop in _paragraphs(text):
        paragraph, start = text[begin:stop], 0
        for end in _END.finditer(paragraph):
            after = paragraph[end.end() : end.end() + _LOOK_AHEAD]
            before = paragraph[max(start, end.start() - _LONGEST_QUOTATION) : end.start()]
            if _ends_sentence(before, end.group(), after) and not _is_said_by_someone(
                before + end.group()[:_LONGEST_QUOTATION], paragraph[end.end() : end.end() + _LONGEST_QUOTATION]
            ):
                found.append((begin + start, begin + end.end()))
                start = end.end()
        found.append((begin + start, stop))
    return [_stripped(text, start, stop) for start, stop in found if text[start:stop].strip()]


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for gap in _PARAGRAPH.finditer(text):
        yield start, gap.start()
        start = gap.end()
    yield start, len(text)


def _stripped(text: str, start: int, stop: int) -> tuple[int, int]:
    part = text[start:stop]
    return start + len(part) - len(part.lstrip()), stop - (len(part) - len(part.rstrip()))


def _ends_sentence(before: str, mark: str, after: str) -> bool:
    if not mark.rstrip().startswith(".") or not after:
        return not after[:1].islower() or mark[0] in "。！？｡।॥។"
    words = before.split()
    last = words[-1].lstrip("\"'“‘«([{") if words else ""
    following = re.match(r"[\"'“‘«(\[{]*(\w*)", after)
    first = following.group(1) if following else ""
    if after[:1].islower() or re.fullmatch(_TITLES, last) or (last.isdecimal() and len(words) == 1):
        return False
    if re.fullmatch(_NUMBERED, last) and after[:1].isdecimal():
        return False
    if mark.rstrip() == "." and (re.fullmatch(_ABBREVIATIONS, last) or "." in last or _is_initial(last)):
        return re.fullmatch(_STARTERS, first) is not None
    return True


def _is_said_by_someone(before: str, after: str) -> bool:
    """Whether what ends between the two is a Korean quotation, or a part of one, whose sentence continues after it."""
    if _IS_HANGUL.search(after) is None:
        return False
    if before.rstrip()[-1:] in _QUOTES.values() and _SAID.match(after):
        return True
    for opening, closing in _QUOTES.items():
        is_open = before.count(opening) % 2 if opening == closing else before.count(opening) > before.count(closing)
        if is_open and (end := after.find(closing)) >= 0 and _SAID.match(after, end + 1):
            return True
    return False


def _is_initial(word: str) -> bool:
    return word != "I" and re.fullmatch(f"[{_CAPITAL}]", word) is not None


def _unicode_tokens(text: str) -> list[str]:
    found = _token_pattern(_is_korean(text)).finditer(text)
    return [part for match in found if (word := match[1]) for part in _without_clitics(word)]


def _auto_tokens(text: str) -> list[str]:
    tokens = _unicode_tokens(text)
    return text.split() if shows_tokens(text, tokens) else tokens


def _is_korean(text: str) -> bool:
    """Whether it is Korean, though it may hold names and terms in Latin letters."""
    return _IS_HANGUL.search(text) is not None and _LATIN_PER_HANGUL * len(_IS_HANGUL.findall(text)) > len(
        _IS_LATIN.findall(text)
    )


def _without_clitics(word: str) -> Iterator[str]:
    """ "couldn't've" -> "could", "n't", "'ve"."""
    ends: list[str] = []
    # Only the last characters are looked at, so that a very long word takes no longer for each of its clitics.
    end = len(word)
    while match := _CLITIC.search(word, max(0, end - _LONGEST_CLITIC), end):
        ends.append(match.group())
        end = match.start()
    yield word[:end]
    yield from reversed(ends)


@cache
def _token_pattern(is_korean: bool) -> re.Pattern[str]:
    """The first alternative that fits, from the left, is group 1.

    What stands between tokens is taken as a whole: one match gives other threads no turn, whatever it tries in it.
    """
    mark = f"[{combining_marks()}\u200c\u200d\u00ad]"
    letter = rf"(?:\w{mark}*)" if is_korean else rf"(?:(?![{_IDEOGRAPHS}])\w{mark}*)"
    apostrophe = rf"(?<=[{_ALPHABET}0-9])['’](?=[{_ALPHABET}])"
    unseen = rf"(?<=[{_SPACED}])\u200b(?=[{_SPACED}])"
    joiner = (
        rf"(?:[·\-\u2010\u2011\u2060\ufeff]|{unseen}|{apostrophe}|(?<=\d)[.,:/](?=\d)|(?<=[A-Za-z0-9])\.(?=[a-z0-9]))"
    )
    if is_korean:
        joiner = rf"(?:{joiner}|[&+/・•․‧－]|(?<=\d)%|(?<=[A-Z])\.(?=[A-Z]))"
    word = rf"{letter}+(?:{joiner}{letter}+)*" + (r"(?:(?<=\d)%)?" if is_korean else "")
    symbol = rf"[^\w\s{INVISIBLE}]"
    alternatives = (
        r"(?:https?://|www\.)[^\s<>\"]*[^\s<>\"'’”.,;:!?)\]}]",
        rf"[\w.+-]{{1,{_LONGEST_MAIL_NAME}}}@\w[\w-]*(?:\.\w[\w-]*)+",
        rf"(?<!\w)(?:(?:{_TITLES}|{_ABBREVIATIONS})\.(?![.\w])|(?:{_NUMBERED})\.(?=\s*\d))",
        rf"(?<!\w)(?:(?:[{_ALPHABET}]\.)+[{_ALPHABET}](?![\w.'’])|(?:[{_ALPHABET}]\.){{2,}})",
        rf"(?<!\w)(?!I\.)[{_CAPITAL}]\.(?=\s+\S)",
        r"(?<!\S)['’](?:s|re|ve|ll|d|m|em|cause)(?![\w'’])",
        rf"['’]\d0s\b|(?<![^\s(\[{{])[-+−]?(?=\d){word}|{word}",
        rf"[{_IDEOGRAPHS}]{mark}*",
        r"\.{2,}|-{2,}|\^[_\-oO0]?\^",
        r"[\U0001f1e6-\U0001f1ff]{2}",
        rf"(?:{symbol}|{mark})[\U0001f3fb-\U0001f3ff]?{mark}*(?:(?<=\u200d){symbol}[\U0001f3fb-\U0001f3ff]?{mark}*)*",
    )
    return re.compile(rf"[\s{INVISIBLE}]+|({'|'.join(alternatives)})")


@cache
def combining_marks() -> str:
    """All combining marks, as ranges for a character class: without them, as in \\w, Hindi words would fall apart."""
    codes = [code for place in _PLACES_OF_MARKS for code in place if unicodedata.category(chr(code))[0] == "M"]
    starts = [code for code, before in zip(codes, [-1, *codes], strict=False) if code != before + 1]
    ends = [code for code, after in zip(codes, [*codes[1:], -1], strict=True) if code != after - 1]
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))


# Brackets around a token or around nothing; not beside others, where the token itself may be a bracket.
_MARK = re.compile(r"(?<!\[)\[([^\[\]\s]*)\](?!\])")


def marked(text: str) -> tuple[list[str], int]:
    """Tokens of "The [bank] was steep." and the place of the marked one, from 0; "[]" marks a gap.

    A bracket with something in it is a token of its own; the text around it is split by the tokenizer "auto". Raises
    ConfigError unless exactly one place is marked, and for a text in another encoding than the terminal's.
    """
    require_characters(text)
    marks = list(_MARK.finditer(text))
    if len(marks) != 1:
        raise ConfigError(
            f"{as_example(text)!r} has {len(marks)} tokens in brackets, but exactly one place must be marked. "
            "Separate tokens by spaces and mark one: 'The [bank] was steep .'"
        )
    around = text[: marks[0].start()], text[marks[0].end() :]
    plain = marks[0][1].join(around)
    split = str.split if tokenizer("auto")(plain) == plain.split() else tokenizer("unicode")
    before, after = map(split, around)
    return [*before, marks[0][1], *after], len(before)
