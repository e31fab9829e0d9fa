"""What the page opens on: pairs of sentences in which a word means different things."""

import json
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np

from elmo.analysis.neighbors.context_index import ContextIndex
from elmo.text.tokenizer import marked

_FILE = Path(__file__).parent / "bundled_texts" / "examples.json"
_LEAST_OCCURRENCES = 5
_MOST_COMPARED = 200


class Example(msgspec.Struct):
    """Two sentences, and the place of a token in each."""

    sentences: list[list[str]]
    places: list[int]
    works: bool = True
    """Whether the model tells the two apart; one that it doesn't is shown as such."""
    noun: str | None = None
    """Korean: the noun that both tokens are, with their particles."""


def bundled_examples(language: str) -> list[Example]:
    """For a language's bundled text; the first is what the page opens on."""
    pairs = json.loads(_FILE.read_text(encoding="utf-8")).get(language, [])
    return [_example(*pair["sentences"], works=pair.get("works", True), noun=pair.get("noun")) for pair in pairs]


def own_example(index: ContextIndex) -> Example | None:
    """From a user's text: the two most different uses, by the top layer, of one of its frequent words.

    None if no word with three letters or more is there five times.
    """
    counts = Counter(word for sentence in index.sentences for word in sentence if len(word) > 2 and word.isalpha())
    frequent = [word for word, count in counts.most_common(100) if count >= _LEAST_OCCURRENCES]
    if not frequent:
        return None
    word = frequent[-1]  # the most frequent ones are words like "the"
    tokens = index.occurrences(word)[:_MOST_COMPARED]
    vectors = index.vectors(tokens, -1)
    pair = np.unravel_index(np.argmin(vectors @ vectors.T), (len(tokens), len(tokens)))
    places = [index.place(int(tokens[row])) for row in pair]
    return Example([list(index.sentences[sentence]) for sentence, _ in places], [position for _, position in places])


def _example(*sentences: str, works: bool, noun: str | None) -> Example:
    found = [marked(sentence) for sentence in sentences]
    return Example([tokens for tokens, _ in found], [place for _, place in found], works, noun)
