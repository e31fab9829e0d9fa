"""Document: a text in sentences, its speakers, and which spans corefer."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, pairwise
from typing import Annotated, Literal

import numpy as np

from elmo.setting_checks import Chance, Must, NotNegative, NotNegativeInt, require_setting
from elmo.tasks.settings import (
    LARGEST_SIZE,
    FileSettings,
    FitSettings,
    Size,
    SizeOrNone,
    Sizes,
    TaskSettings,
    TokenSettings,
)

# As many as the widest mention has tokens: no more begin at a token.
_PerToken = Annotated[float, Must(f"above 0, to {LARGEST_SIZE}", lambda value: 0 < value <= LARGEST_SIZE)]


@dataclass(frozen=True)
class ResolverSettings(FileSettings):
    """Data and network of the coreference model."""

    genre_pattern: str = r"(?:GUM_)?([a-z]+)[/_]"
    """Regular expression that matches the beginning of a document's name; its first group is the genre ("nw/...",
    "GUM_news_"). Names without a match share one genre. Empty: the genre is not used as a feature."""
    text_tokenizer: Literal["unicode", "whitespace"] = "unicode"
    """How raw text is split into tokens if the command line doesn't say."""
    speakers: bool = True
    """Whether the model has a feature for two spans having the same speaker."""
    max_width: Size = 10
    """Maximum length of a mention in tokens."""
    spans_per_token: _PerToken = 0.25
    """Number of candidate spans to keep, per token of the document."""
    max_antecedents: Size = 100
    """Maximum number of preceding kept spans that are considered as a span's antecedent."""
    hidden_size: Size = 100
    """Hidden units of the LSTM in each direction."""
    span_hidden_sizes: Sizes = (100, 100)
    """Hidden units of each layer of the networks that score spans and pairs."""
    feature_size: Size = 20
    """Dimensions of the vectors of width, speaker, genre and distance."""
    lexical_dropout: Chance = 0.5
    """Dropout on the input of the LSTM and of the span heads."""
    lstm_dropout: Chance = 0.2
    """Dropout on the LSTM's previous state and on its output."""
    span_dropout: Chance = 0.2
    """Dropout on the features and hidden layers of the scorers."""
    character_filters: SizeOrNone = 30
    """Number of filters of each width in the char CNN; 0: no char CNN."""
    character_widths: Sizes = (3, 4, 5)
    """Widths of the filters in characters."""
    character_vector: Size = 8
    """Dimensions of a character's vector."""
    normalize_static: bool = True
    """Whether each static vector is divided by its length."""
    window_sentences: NotNegativeInt = 40
    """Maximum number of consecutive sentences of a document to train on in one step; the window is drawn anew in each
    step. 0: all."""
    window_tokens: NotNegativeInt = 2000
    """Maximum number of tokens of a document to train on in one step, but at least one sentence. 0: no limit."""
    mention_loss: NotNegative = 0.0
    """Weight of a loss that teaches which candidate spans are mentions. If above 0, spans that look like mentions but
    are linked to no other are written as clusters of one, for data such as LitBank, which annotate them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        has_group = not self.genre_pattern
        with suppress(re.error):
            has_group = has_group or re.compile(self.genre_pattern).groups > 0
        expected = "a regular expression with a group in round brackets, or empty"
        require_setting(has_group, "genre_pattern", self.genre_pattern, expected)

    def genre_of(self, name: str) -> str:
        """The genre of a document of that name; "" if it has none."""
        match = re.match(self.genre_pattern, name) if self.genre_pattern else None
        return match[1] or "" if match else ""


@dataclass(frozen=True)
class CorefSettings(TaskSettings):
    """All settings of `elmo task train coref`."""

    tokens: TokenSettings = field(default_factory=lambda: TokenSettings(mix_penalty=0.0, elmo_dropout=0.0))
    fit: FitSettings = field(default_factory=lambda: FitSettings(epochs=15, patience=4, batch_size=1))
    resolver: ResolverSettings = field(default_factory=ResolverSettings)


NO_HEADS = (
    "the coreference model would have nothing to describe the heads of spans with: there are no static vectors and no "
    "char CNN. Give it one of them, for instance --character-filters 30."
)


Mention = tuple[int, int]
"""(first, last) token of a document, both inclusive."""
Cluster = tuple[Mention, ...]
NO_SPEAKER = "-"
Layout = Literal["conll", "jsonlines", "text"]


@dataclass(frozen=True)
class WindowLimits:
    """How much of a document is trained on at a time. 0: any number."""

    sentences: int
    tokens: int


@dataclass(frozen=True)
class SourceLines:
    """The lines of a CoNLL file that a document was read from, to be written again with another last column."""

    lines: tuple[str, ...]
    """All of them, comments and blank lines included."""
    rows: tuple[int, ...]
    """Index in `lines` of each token's."""


@dataclass(frozen=True)
class Document:
    """A document; tokens are counted from 0 over all of its sentences."""

    key: tuple[str, str]
    """Name and part: what a scorer knows it by."""
    sentences: tuple[tuple[str, ...], ...]
    speakers: tuple[str, ...] = ()
    """Of each token; empty: unknown."""
    clusters: tuple[Cluster, ...] = ()
    """Gold clusters as in the file; empty: unknown, or none."""
    ids: tuple[str, ...] = ()
    """The cluster's names in the file."""
    source: str = ""
    """The file's name, and the line the document begins in."""
    conll: SourceLines | None = field(default=None, repr=False)
    """None: it was not read from CoNLL columns."""
    layout: Layout = "conll"
    """Of the file that it is from; predictions are written likewise."""
    limits: WindowLimits | None = None
    """How much of it a training step sees; None: all."""

    @property
    def num_tokens(self) -> int:
        """Of all sentences."""
        return sum(map(len, self.sentences))

    @property
    def tokens(self) -> list[str]:
        """Of all sentences."""
        return list(chain.from_iterable(self.sentences))

    @property
    def name(self) -> str:
        """Name and part as one word."""
        return "_".join(part for part in self.key if part)

    def without_clusters(self) -> "Document":
        """The same without its clusters."""
        return replace(self, clusters=(), ids=())

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """Of each sentence its first token, and the one after its last."""
        return list(pairwise(accumulate(map(len, self.sentences), initial=0)))

    def window(self, first: int, count: int) -> "Document":
        """`count` sentences from `first` on; mentions outside are lost, and clusters that lose all of theirs."""
        inside = self.ranges[first : first + count]
        return self._part(self.sentences[first : first + count], inside[0][0], inside[-1][1])

    def beginning(self, num_tokens: int) -> "Document":
        """So many tokens of its first sentence, likewise."""
        return self._part((self.sentences[0][:num_tokens],), 0, num_tokens)

    def _part(self, sentences: tuple[tuple[str, ...], ...], begin: int, end: int) -> "Document":
        inside = (
            tuple((a - begin, b - begin) for a, b in cluster if begin <= a and b < end) for cluster in self.clusters
        )
        clusters = tuple(cluster for cluster in inside if cluster)
        return Document(self.key, sentences, self.speakers[begin:end], clusters, source=self.source)


@dataclass(frozen=True)
class Resolved:
    """What was found in a document."""

    clusters: list[list[Mention]]
    """In the order of their first mentions."""
    kept: list[Mention] = field(default_factory=list)
    """The spans that could have been mentions; a gold mention that isn't among them was lost by the pruning."""


def disjoint(clusters: Iterable[Sequence[Mention]]) -> list[list[Mention]]:
    """Clusters that share a mention become one, in the order of their first mentions; no mention occurs twice."""
    found: list[list[Mention]] = []
    place: dict[Mention, int] = {}
    for cluster in clusters:
        joined = sorted({place[mention] for mention in cluster if mention in place})
        merged = list(dict.fromkeys(chain(*(found[number] for number in joined), cluster)))
        for number in joined:
            found[number] = []
        found.append(merged)
        place.update(dict.fromkeys(merged, len(found) - 1))
    return sorted((sorted(cluster) for cluster in found if cluster), key=lambda cluster: cluster[0])


def key_of(document: Document) -> tuple[tuple[str, str], str]:
    """The document's name and part, by which it is scored, and where it is from."""
    return document.key, document.source


def random_window(document: Document, limits: WindowLimits, random: np.random.Generator) -> Document:
    """Sentences in a row within the limits, or the whole document if it has no more.

    A sentence that is longer than the limit by itself is cut to its beginning. Source: Lee et al. 2017, section 6.
    """
    num_sentences = len(document.sentences)
    most_sentences, most_tokens = limits.sentences or num_sentences, limits.tokens or document.num_tokens
    if num_sentences <= most_sentences and document.num_tokens <= most_tokens:
        return document
    count = min(most_sentences, num_sentences)
    window = document.window(int(random.integers(num_sentences - count + 1)), count)
    # Sentences are dropped at either end, so that those at the document's ends are not seen less often.
    while window.num_tokens > most_tokens and len(window.sentences) > 1:
        window = window.window(int(random.integers(2)), len(window.sentences) - 1)
    return window if window.num_tokens <= most_tokens else window.beginning(most_tokens)
