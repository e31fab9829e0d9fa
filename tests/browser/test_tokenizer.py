"""The tokenizer in JavaScript gives the tokens of the one in Python."""

import random
import re
import sys
import unicodedata
from functools import cache
from pathlib import Path

import pytest
from tests.browser.in_node import run
from tests.chromium import required

from elmo.explorer.texts import bundled_text
from elmo.text.tokenizer import tokenizer

CASES = [Path(__file__).parents[1] / "text" / name for name in ("test_tokenizer.py", "test_punctuation.py")]
# What rules are about, beside any character.
PIECES = (
    *"aZz9 .,:;!?'\"’‘“”()[]{}<>@+-_/%&^·・$#\u200b\u200d\u200c\u00ad\u2060\ufeff\u061c\u180e\u202b\u2063\u2069",
    *"\n\t\x1c\x1f\x85\xa0\u1680\u2003\u2028\u202f\u3000",
    *("n't", "'s", "’LL", "'ſ", "İ's", "ı'd", "ẞ've", "ǆ'm", "'90s", "-5", "3.5%"),
    *("Mr.", "No. 5", "U.S.", "e.g.", "I.", "J. K", "-LRB-", "[MASK]", "</s>", "word(s)"),
    *("밥을", "R&D를", "經濟는", "你好", "ひら", "हिन्दी", "می‌خواهم", "e\u0301", "\u1112\u1161\u11ab"),
    *("👍🏽", "👩‍👩‍👧", "🇰🇷", "❤️", "https://a.org/b?c=1", "www.x.de", "a.b@c.org", "--", "...", "^_^", "``", "''"),
    *("\ud800", "\udfff", "²", "Ⅷ", "٣", "①", "K", "Å", "𝒳", "𠀀", "\u0345"),
)


def in_javascript(texts: list[str]) -> list[list[str]]:
    code = "const { tokenize } = await module('tokenizer.js'); return given.texts.map((text) => tokenize(text))"
    return run(required("node"), code, {"texts": texts})


def require_equal(texts: list[str]) -> None:
    split = tokenizer("auto")
    for text, found in zip(texts, in_javascript(texts), strict=True):
        assert found == split(text), repr(text)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_bundled_texts_have_equal_tokens(language):
    text = bundled_text(language).path.read_text(encoding="utf-8")
    lines = text.splitlines()
    # As they are, and as raw text would have them.
    require_equal([*lines, *(re.sub(r" (?=[.,;:!?)\]’'])|(?<=[(\[]) ", "", line) for line in lines)])


def test_the_cases_of_the_tokenizer_have_equal_tokens():
    literals = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
    texts = [text for path in CASES for text in literals.findall(path.read_text(encoding="utf-8"))]
    assert len(texts) > 200
    require_equal([text[1:-1] for text in texts])


def test_thousands_of_odd_texts_have_equal_tokens():
    draw = random.Random(0)
    texts = ["".join(draw.choices(PIECES, k=draw.randrange(12))) for _ in range(6000)]
    texts += ["".join(draw.choices(known_characters(), k=draw.randrange(8))) for _ in range(3000)]
    texts += [" ".join(draw.choices(PIECES, k=draw.randrange(8))) for _ in range(3000)]
    # Two halves that Python keeps apart are one character in JavaScript, and in JSON.
    require_equal([re.sub("[\ud800-\udbff][\udc00-\udfff]", "", text) for text in texts])


def test_every_character_between_letters_has_equal_tokens():
    require_equal([f"a{character}b.{character} '{character}'s" for character in known_characters()[::3]])


@cache
def known_characters() -> list[str]:
    """Those that this Python's Unicode has: node's may be newer."""
    characters = map(chr, range(sys.maxunicode + 1))
    return [one for one in characters if unicodedata.category(one) not in ("Cn", "Co", "Cs")]
