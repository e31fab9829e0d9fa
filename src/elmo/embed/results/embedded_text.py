"""EmbeddedText: a raw text as tokens, with the place and the vectors of each."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elmo.embed.results.output import by_token, column_of_words, objects, require_pandas
from elmo.embed.results.pooling import Pool, pooled
from elmo.errors import ConfigError
from elmo.process.text_table import shortened
from elmo.setting_checks import require_value
from elmo.shapes import Float32, Int
from elmo.text.first_look.sample import ModelReader
from elmo.text.reading.placed import PlacedSentence, placed_in
from elmo.text.reading.settings import Reading
from elmo.text.reading.spans import NOWHERE
from elmo.text.sentence_checks import require_ordered, rows_of
from elmo.text.sentences import Tokenize

if TYPE_CHECKING:
    import pandas

_SHOWN = 40


@dataclass(frozen=True, repr=False, eq=False)
class EmbeddedText:
    """The tokens of a text in their order, with places and vectors. Iterating gives (token, (start, end), vector)."""

    text: str
    tokens: list[str]
    """As the model reads them."""
    spans: Int[np.ndarray, "tokens 2"]
    """Where each token begins and ends in `text`, in characters from 0: `text[start:end]` is the token, or what it is
    written as there (“ for "). (-1, -1) for one that a tokenizer changed, and for boundaries that are kept."""
    sentences: Int[np.ndarray, " tokens"]
    """Number of each token's sentence, from 0. The vectors of a sentence depend on that sentence alone."""
    vectors: Float32[np.ndarray, "*layers tokens dim"]

    def __len__(self) -> int:
        return len(self.tokens)

    def __iter__(self) -> Iterator[tuple[str, tuple[int, int], Float32[np.ndarray, "*layers dim"]]]:
        spans = ((start, end) for start, end in self.spans.tolist())
        return zip(self.tokens, spans, by_token(self.vectors), strict=True)

    def __repr__(self) -> str:
        counts = f"{len(self)} tokens in {self.num_sentences} sentences"
        return f"EmbeddedText({shortened(self.text, _SHOWN)!r}: {counts}, vectors {self.vectors.shape})"

    @property
    def num_sentences(self) -> int:
        """How many sentences it has; blank lines are none."""
        return int(self.sentences[-1]) + 1 if len(self) else 0

    def pooled(self, pool: Pool = "mean") -> Float32[np.ndarray, "sentences *layers dim"]:
        """One vector for each sentence; see `elmo.embed.results.pooling`."""
        require_value("pool", pool, Pool)
        ends = np.searchsorted(self.sentences, np.arange(self.num_sentences + 1))
        found = [pooled(self.vectors[..., ends[it] : ends[it + 1], :], pool) for it in range(self.num_sentences)]
        empty = (0, *self.vectors.shape[:-2], self.vectors.shape[-1])
        return np.stack(found) if found else np.zeros(empty, np.float32)

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each token: `sentence`, `token`, `start`, `end`, `vector` (an array).

        Raises MissingExtraError without pandas.
        """
        return require_pandas("to_pandas()").DataFrame(
            {
                "sentence": self.sentences,
                "token": column_of_words(self.tokens),
                "start": self.spans[:, 0],
                "end": self.spans[:, 1],
                "vector": objects(by_token(self.vectors)),
            }
        )


@dataclass(frozen=True)
class RawTexts:
    """Raw texts, as they were taken apart."""

    texts: list[str]
    places: list[list[PlacedSentence]]
    """The sentences of each text."""

    @classmethod
    def read(cls, texts: object, reading: Reading, tokenize: Tokenize | None, reader: ModelReader) -> "RawTexts":
        """Takes texts apart. `tokenize`: a function of the caller's, instead of the tokenizer of `reading`.

        Warns of what the model doesn't know. ConfigError for what is no text.
        """
        checked = _checked(texts)
        reading.check()
        marks = reader.marks(reading.plain_quotes)
        found = cls(checked, [list(placed_in(it, reading, tokenize, marks)) for it in checked])
        if tokenize is None:
            reader.look(checked, found.sentences, reading)
        return found

    @property
    def sentences(self) -> list[list[str]]:
        """The tokens of all sentences."""
        return [place.tokens for places in self.places for place in places]

    def embedded(
        self,
        arrays: Iterable[Float32[np.ndarray, "..."]],
        boundaries: tuple[str, str] | None,
        empty: Float32[np.ndarray, "*layers 0 dim"],
    ) -> list[EmbeddedText]:
        """Each text with its vectors. `boundaries`: the tokens around each sentence that have vectors too; `empty`: the
        vectors of no token."""
        rest = iter(arrays)
        return [
            _joined(text, places, [empty, *(next(rest) for _ in places)], boundaries)
            for text, places in zip(self.texts, self.places, strict=True)
        ]


def _checked(texts: object) -> list[str]:
    """Several texts. ConfigError for what is none, and for one that isn't a string, with its place."""
    listed = list(require_ordered(rows_of(texts), "text", "a string, or a list of strings"))
    for place, it in enumerate(listed):
        if not isinstance(it, str):
            raise ConfigError(
                f"text[{place}] is {type(it).__name__}, but embed_text takes strings; embed takes lists of tokens. "
                "Drop missing values, or fill them with ''."
            )
    return listed


def _joined(
    text: str,
    places: list[PlacedSentence],
    arrays: list[Float32[np.ndarray, "..."]],
    boundaries: tuple[str, str] | None,
) -> EmbeddedText:
    tokens, spans = [place.tokens for place in places], [place.spans for place in places]
    if boundaries is not None:
        tokens = [[boundaries[0], *row, boundaries[1]] for row in tokens]
        spans = [np.concatenate([[NOWHERE], row, [NOWHERE]]) for row in spans]
    return EmbeddedText(
        text,
        [token for row in tokens for token in row],
        np.concatenate([np.empty((0, 2), np.int64), *spans]),
        np.repeat(np.arange(len(places)), [len(row) for row in tokens]),
        np.concatenate(arrays, axis=-2),
    )
