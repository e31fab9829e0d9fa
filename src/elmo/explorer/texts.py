"""The texts that the page searches, bundled or the user's own, each with its index in the cache; and their examples:
the pairs of sentences, in which a word means different things, that the page opens on."""

import hashlib
import json
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from elmo.analysis.neighbors import index_files
from elmo.analysis.neighbors.build import DEFAULT_TOKENS, build_index
from elmo.analysis.neighbors.context_index import ContextIndex
from elmo.disk.bounded import file_hash
from elmo.disk.cache import cache_folder, unusable
from elmo.errors import TextError, TextWarning
from elmo.process.progress.report import Progress
from elmo.text.first_look.sample import first_look
from elmo.text.reading.placed import placed_sentences
from elmo.text.reading.settings import Reading, TextForm
from elmo.text.tokenizer import marked, tokenizer_code

if TYPE_CHECKING:
    from elmo.embed.embedder import Embedder

_FOLDER = Path(__file__).parent / "bundled_texts"
SOURCES_FILE = _FOLDER / "SOURCES.tsv"
"""Sources and licences of the sentences of the bundled texts."""
_EXAMPLES_FILE = _FOLDER / "examples.json"
MOST_TOKENS = 200
"""Tokens of a sentence that the page shows."""
_LEAST_OCCURRENCES = 5
_MOST_COMPARED = 200


@dataclass(frozen=True)
class ExploredText:
    """A text of one sentence per line."""

    path: Path
    name: str
    """Its name on the page."""
    split: str = "whitespace"
    """The tokenizer."""
    max_tokens: int = DEFAULT_TOKENS
    sample: bool = False
    form: TextForm = field(default_factory=TextForm)

    def index(self, embedder: "Embedder", progress: Progress | bool = False) -> ContextIndex:
        """Its index by this model, from the cache, or made now. `progress`: as for `build_index`.

        Raises TextError for a text that can't be read.
        """
        folder = cache_folder() / "explorer" / self._key(embedder)
        try:
            index = ContextIndex(folder)
            index.check_layers()
            return index
        except TextError:  # not made yet, or damaged
            reading = Reading(**vars(self.form), tokenizer=self.split)
            look = first_look([self.path], reading, self.name)
            for message in look.warnings(embedder.vocabulary):
                warnings.warn(message, TextWarning, stacklevel=2)
            places = placed_sentences([self.path], look.reading, marks=embedder.reader.marks())
            sentences = (place.tokens for place in places)
            try:
                folder.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise unusable(folder.parent, error) from None
            build_index(
                sentences,
                embedder,
                folder,
                source=self.name,
                max_tokens=self.max_tokens,
                sample=self.sample,
                force=True,
                progress=progress,
            )
            return ContextIndex(folder)

    def _key(self, embedder: "Embedder") -> str:
        facts = [
            index_files.SCHEMA,
            file_hash(self.path),
            embedder.model_hash,
            embedder.dtype,
            embedder.state_hash,
            self.split,
            tokenizer_code(self.split),
            self.max_tokens,
            self.sample,
            self.form,
        ]
        return hashlib.sha256(repr(facts).encode()).hexdigest()[:24]


def bundled_text(language: str) -> ExploredText | None:
    """The bundled text of a language ("en", "ko"), if there is one."""
    path = _FOLDER / f"senses-{language}.txt"
    return ExploredText(path, f"senses-{language}") if path.is_file() else None


class Example(msgspec.Struct):
    """Two sentences, and the place of a token in each."""

    sentences: list[list[str]]
    places: list[int]
    works: bool = True
    """Whether the model distinguishes the two; the page marks an example that it doesn't."""
    noun: str | None = None
    """Korean: the noun of both tokens, which are the noun with particles."""
    why: dict[str, str] | None = None
    """Why the model distinguishes them, or fails to, by the language of the page ("en", "ko")."""


def bundled_examples(language: str) -> list[Example]:
    """Of a language's bundled text; the page opens on the first."""
    pairs = json.loads(_EXAMPLES_FILE.read_text(encoding="utf-8")).get(language, [])
    found = []
    for pair in pairs:
        marks = [marked(sentence) for sentence in pair.pop("sentences")]
        found.append(Example([tokens for tokens, _ in marks], [place for _, place in marks], **pair))
    return found


def own_example(index: ContextIndex) -> Example | None:
    """From a user's text: the two most different uses, by the top layer, of one of its frequent words.

    None if no word with three letters or more is five times in sentences that the page shows.
    """
    shown = (sentence for sentence in index.sentences if len(sentence) <= MOST_TOKENS)
    counts = Counter(word for sentence in shown for word in sentence if len(word) > 2 and word.isalpha())
    frequent = [word for word, count in counts.most_common(100) if count >= _LEAST_OCCURRENCES]
    if not frequent:
        return None
    word = frequent[-1]  # the most frequent ones are words like "the"
    tokens = index.occurrences(word)
    is_shown = [len(index.sentences[index.place(int(token))[0]]) <= MOST_TOKENS for token in tokens]
    tokens = tokens[is_shown][:_MOST_COMPARED]
    vectors = index.vectors(tokens, -1)
    pair = np.unravel_index(np.argmin(vectors @ vectors.T), (len(tokens), len(tokens)))
    places = [index.place(int(tokens[row])) for row in pair]
    return Example([list(index.sentences[sentence]) for sentence, _ in places], [position for _, position in places])
