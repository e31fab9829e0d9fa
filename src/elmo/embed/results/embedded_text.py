"""EmbeddedText: a raw text as tokens, with the place and the vectors of each."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elmo.embed.results.output import by_token, column_of_words, objects, require_pandas
from elmo.embed.results.pooling import Pool, pooled
from elmo.errors import ConfigError
from elmo.layer_choice import LayerChoice, Layers
from elmo.process.text_table import shortened
from elmo.setting_checks import require_value
from elmo.shapes import Float32, Int
from elmo.text.reading.placed import PlacedSentence, placed_in
from elmo.text.reading.settings import Reading, SentenceEnds
from elmo.text.reading.spans import NOWHERE
from elmo.text.sentence_checks import refuse_without_order, rows_of
from elmo.text.sentences import Tokenize

if TYPE_CHECKING:
    import pandas

    from elmo.embed.embedder import Embedder

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


def embed_text(
    embedder: "Embedder",
    text: str | Iterable[str],
    layers: Layers = "average",
    *,
    tokenizer: str | Tokenize = "auto",
    sentences: SentenceEnds = "within-lines",
    plain_quotes: bool = True,
    normalize: bool = False,
) -> EmbeddedText | list[EmbeddedText]:
    """The tokens of a raw text, their places in it, and their vectors.

    `text`: a string; or a list, a column of a table, an array or a generator of them, which gives a list with an
    `EmbeddedText` for each, exactly as one by one.
    `layers`: as in `Embedder.embed`; "all" gives vectors (layers, tokens, dim), the others (tokens, dim).
    `tokenizer`: "auto" takes each sentence apart by rules ("unicode"), unless its own marks show that it is tokenized
    ("whitespace"); or a function from a text to a list of tokens, or its name as "module:function".
    `sentences`: "within-lines": a line can hold several; "lines": each line is one; "across-lines": they continue over
    line ends, and only blank lines end a paragraph. `plain_quotes`: whether typographic quotes, apostrophes, dashes and
    ellipses that the model's vocabulary doesn't have are read as plain ones; the spans are those of the text in either
    case. `normalize`: divide each vector by its L2 norm.
    Warns with TextWarning, once for each embedder, of text that the model doesn't know as it is: untokenized, with
    typographic marks, taken apart (NFD), with special tokens of other models, or in another language.
    Raises ConfigError if text is not a string, and for settings that make no sense.
    """
    texts = [text] if isinstance(text, str) else _checked(text)
    reading = Reading(
        sentences=sentences,
        tokenizer=tokenizer if isinstance(tokenizer, str) else "whitespace",
        plain_quotes=plain_quotes,
    )
    reading.check()
    own = None if isinstance(tokenizer, str) else tokenizer
    marks = embedder.reader.marks(plain_quotes)
    places = [list(placed_in(it, reading, own, marks)) for it in texts]
    tokens = [place.tokens for its in places for place in its]
    if own is None:
        embedder.reader.look(texts, tokens, reading)
    arrays = iter(embedder.embed(tokens, layers, normalize=normalize))
    found = [
        _joined(embedder, it, its, [next(arrays) for _ in its], layers) for it, its in zip(texts, places, strict=True)
    ]
    return found[0] if isinstance(text, str) else found


def _checked(texts: object) -> list[str]:
    """Several texts. ConfigError for what is none, and for one that isn't a string, with its place."""
    if not isinstance(texts, Iterable) or isinstance(texts, bytes):
        raise ConfigError(f"text is {type(texts).__name__}, but embed_text takes a string, or a list of strings.")
    refuse_without_order(texts, "text", "a string, or a list of strings")
    listed = rows_of(texts)
    for place, it in enumerate(listed):
        if not isinstance(it, str):
            raise ConfigError(
                f"text[{place}] is {type(it).__name__}, but embed_text takes strings; embed takes lists of tokens. "
                "Drop missing values, or fill them with ''."
            )
    return listed


def _joined(
    embedder: "Embedder",
    text: str,
    places: list[PlacedSentence],
    arrays: list[Float32[np.ndarray, "*layers tokens dim"]],
    layers: Layers,
) -> EmbeddedText:
    # Not by embedding an empty sentence, which in carry mode would change the state.
    axes = [embedder.num_layers] if LayerChoice.of(layers, embedder.num_layers).keeps_all else []
    empty = np.zeros((*axes, 0, embedder.layer_dim), np.float32)
    tokens = [list(embedder.with_boundaries(place.tokens)) for place in places]
    return EmbeddedText(
        text,
        [token for row in tokens for token in row],
        np.concatenate([np.empty((0, 2), np.int64), *(_spans(embedder, place) for place in places)]),
        np.repeat(np.arange(len(places)), [len(row) for row in tokens]),
        np.concatenate([empty, *arrays], axis=-2),
    )


def _spans(embedder: "Embedder", place: PlacedSentence) -> Int[np.ndarray, "tokens 2"]:
    return np.concatenate([[NOWHERE], place.spans, [NOWHERE]]) if embedder.keep_boundaries else place.spans
