"""elmo.js gives a token the character ids that Python gives it."""

import random

import numpy as np
import pytest

from elmo.text.characters import CharacterMap

PIECES = [
    *("a", "Z", "9", " ", "\t", "\x00", "é", "ß", "한", "글", "ᄒ", "ᅡ", "中", "、", "…", "\u200d", "\ufeff"),
    *("\ufffd", "\uffff"),
    *("👍", "👍🏽", "👩‍👩‍👧", "🇰🇷", "𠀀", "\U0010ffff", "<S>", "</S>", "<s>", "\udfff\ud800", "\udc00a", "b\ud800"),
]  # fmt: skip


def without_joined_halves(token: str) -> str:
    """Two halves side by side are one character in JavaScript: no token that a program reads has them apart."""
    return token.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if is_joined(token) else token


def is_joined(token: str) -> bool:
    return any("\ud800" <= a <= "\udbff" and "\udc00" <= b <= "\udfff" for a, b in zip(token, token[1:], strict=False))


def tokens() -> list[str]:
    chance = random.Random(11)
    made = ["", "<S>", "</S>", "<S> ", "x" * 60, "x" * 47 + "é", "x" * 46 + "한", "x" * 45 + "👍", "한" * 20, "👍" * 15]
    made += ["\ud800", "\udfff" * 60, "\udc00" * 3 + "x" * 60, "x" * 48 + "\ud800", "x" * 47 + "\ud83d"]
    while len(made) < 10_000:
        made.append(without_joined_halves("".join(chance.choices(PIECES, k=chance.choice([1, 2, 3, 5, 9, 40])))))
    return made


@pytest.mark.parametrize("most", [50, 12, 3])
def test_ids_are_those_of_python(most, javascript):
    code = """
    const { characterIds } = await module("characters.js");
    return floats(new Float32Array(characterIds(given.tokens, given.most)));
    """
    found = javascript(code, tokens=tokens(), most=most).reshape(-1, most)
    np.testing.assert_array_equal(found, CharacterMap.for_bytes(most).ids(tokens()))
