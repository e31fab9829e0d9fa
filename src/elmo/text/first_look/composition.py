"""Composition: whether letters are written as one character each, as models know them, or taken apart.

Unicode has two spellings of "é" and "한": one character (NFC), or the letter and its parts (NFD). They look alike, but
a model that reads bytes knows only the one it was trained on. Of "나는 어제 학교에서 친구를 만났다", taken apart, the
words have vectors in small-ko whose cosines with those of the same words in NFC are -0.11 to 0.10.
"""

from collections.abc import Iterable

from elmo.text.reading.as_trained import composed


def decomposed_words(words: Iterable[str]) -> list[str]:
    """The words that have fewer characters in NFC."""
    return [word for word in words if composed(word)[1] is not None]
