"""The geometry of a layer's vectors: how alike are tokens, occurrences of one word, the words of one sentence?

Words and tokens are sampled once from the text alone, so that every encoder is measured on the same ones. The text is
streamed: a sentence's vectors are added up and forgotten. The formulas are in `measures`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from jaxtyping import Float, Int

from elmo.embed.encoder import Encoder, token_layers
from elmo.errors import TextError
from elmo.process.progress.report import Count, Progress, following
from elmo.setting_checks import PositiveInt, Seed, Settings
from elmo.static.vectors import require_known_words
from elmo_paper.analysis.encoders import layer_name
from elmo_paper.analysis.measures import (
    Measured,
    anisotropy,
    cka,
    explained_variance,
    intra_sentence_similarity,
    known,
    mean_and_interval,
    mean_pair_cosine,
    unit,
)


@dataclass(frozen=True)
class Sample:
    """What is measured of a text."""

    sentences: Sequence[tuple[str, ...]]
    words: dict[str, int]
    """Words in enough different sentences -> their rows."""
    token_of: Int[np.ndarray, " sentences"]
    """A token of each sentence, drawn at random."""
    kept: frozenset[int]
    """The sentences whose drawn token's vector is kept, for what sums can't give."""
    explained: frozenset[str]
    """The words whose occurrences' vectors are kept."""


@dataclass(frozen=True)
class SampleSettings(Settings):
    """How much is measured."""

    least_sentences: PositiveInt = 5
    """A word is measured if at least this many different sentences have it."""
    tokens: PositiveInt = 10_000
    """Tokens of different sentences for anisotropy, norms and CKA."""
    words: PositiveInt = 500
    """Words for the maximum explainable variance."""
    occurrences: PositiveInt = 50
    """Occurrences of each of these words at most: the first ones."""
    seed: Seed = 0


DEFAULTS = SampleSettings()


def drawn(sentences: Sequence[tuple[str, ...]], settings: SampleSettings = DEFAULTS) -> Sample:
    """The sample. Equal sentences are measured once; raises TextError if fewer than two different ones have tokens."""
    different = list(dict.fromkeys(one for one in sentences if one))
    if len(different) < 2:
        raise TextError(
            "the text has fewer than two different sentences with tokens, so there are no pairs to compare. Name a "
            "longer text."
        )
    random = np.random.default_rng(settings.seed)
    token_of = np.array([random.integers(len(one)) for one in different])
    kept = random.permutation(len(different))[: settings.tokens]
    counts = Counter(word for one in different for word in dict.fromkeys(one))
    words = [word for word, count in counts.items() if count >= settings.least_sentences]
    explained = random.permutation(len(words))[: settings.words]
    return Sample(
        different,
        {word: row for row, word in enumerate(words)},
        token_of,
        frozenset(map(int, kept)),
        frozenset(words[place] for place in explained),
    )


@dataclass(frozen=True)
class LayerGeometry:
    """One layer; cosines as they are, before the anisotropy is subtracted. None: there was nothing to measure."""

    encoder: str
    layer: str
    anisotropy: Measured | None
    """Mean cosine of tokens of different sentences; the interval over sentences."""
    self_similarity: Measured | None
    """Mean cosine of one word's occurrences in different sentences, over words."""
    intra_sentence: Measured | None
    """Mean cosine of tokens to their sentence's mean vector, over sentences of two tokens with vectors or more."""
    explained: Measured | None
    """Maximum explainable variance of a word's occurrences, over words of which two have vectors or more."""
    explained_of_tokens: float | None
    """The same of tokens of different sentences, which is what it is compared with."""
    norm: float | None
    norm_deviation: float | None

    def record(self) -> dict[str, object]:
        """As plain values for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Geometry:
    """All layers, and how alike they are."""

    layers: tuple[LayerGeometry, ...]
    cka: Float[np.ndarray, "layers layers"]
    num_sentences: int
    num_tokens: int
    num_words: int
    """Words that stand in enough sentences; an encoder is measured on those of them for which it has two vectors."""

    def record(self) -> dict[str, object]:
        """As plain values for JSON."""
        counts = {"sentences": self.num_sentences, "tokens": self.num_tokens, "words": self.num_words}
        return {**counts, "layers": [one.record() for one in self.layers], "cka": self.cka.round(4).tolist()}


def geometry(
    sentences: Sequence[tuple[str, ...]],
    encoders: Mapping[str, Encoder],
    settings: SampleSettings = DEFAULTS,
    *,
    progress: Progress | bool = False,
) -> Geometry:
    """Measures all encoders on the different sentences of a text. Tokens whose vectors are zeros are left out.

    `progress`: receives the sentences that are embedded with each encoder; True: bars on stderr.
    Raises TextError for a text of fewer than two different sentences, and for static vectors that have none of its
    words.
    """
    sample = drawn(sentences, settings)
    require_known_words(encoders.values(), (word for sentence in sample.sentences for word in sentence))
    layers, tokens = [], []
    with following(progress) as reported:
        for name, encoder in encoders.items():
            sums = _Sums(sample, encoder, settings)
            embedded = Count(reported, f"{name}: embedding", len(sample.sentences), "sentences")
            for number, vectors in enumerate(embedded.each(token_layers(encoder, sample.sentences))):
                sums.add(number, vectors)
            layers += sums.measured(name)
            tokens += list(sums.tokens())
    alike = np.array([[cka(first, second) for second in tokens] for first in tokens])
    num_tokens = sum(map(len, sample.sentences))
    return Geometry(tuple(layers), alike, len(sample.sentences), num_tokens, len(sample.words))


class _Sums:
    """Sums and samples of one encoder's vectors, added up sentence by sentence."""

    def __init__(self, sample: Sample, encoder: Encoder, settings: SampleSettings) -> None:
        self._sample, self._encoder, self._settings = sample, encoder, settings
        shape = (len(sample.words), encoder.num_layers)
        self._sums = np.zeros((*shape, encoder.layer_dim))
        self._counts = np.zeros(shape, dtype=np.int64)
        self._tokens: list[np.ndarray] = []
        self._occurrences: dict[str, list[np.ndarray]] = {word: [] for word in sample.explained}
        self._intra: list[np.ndarray] = []

    def add(self, number: int, layers: Float[np.ndarray, "layers tokens dim"]) -> None:
        """The vectors of sentence `number`. Of a word that it has twice, the first occurrence counts."""
        tokens = self._sample.sentences[number]
        if len(tokens) > 1:
            self._intra.append(intra_sentence_similarity(layers))
        if number in self._sample.kept:
            self._tokens.append(layers[:, self._sample.token_of[number]].copy())
        places = {token: place for place, token in reversed(list(enumerate(tokens))) if token in self._sample.words}
        rows = [self._sample.words[word] for word in places]
        units = unit(layers[:, list(places.values())]).swapaxes(0, 1)
        self._sums[rows] += units
        self._counts[rows] += known(units)
        for word, place in places.items():
            found = self._occurrences.get(word)
            if found is not None and len(found) < self._settings.occurrences:
                found.append(layers[:, place].copy())

    def tokens(self) -> Float[np.ndarray, "layers tokens dim"]:
        """One token of each kept sentence."""
        return np.stack(self._tokens, axis=1)

    def measured(self, name: str) -> Iterator[LayerGeometry]:
        """The measures of every layer of the encoder called `name`."""
        tokens = self.tokens()
        for layer in range(self._encoder.num_layers):
            with_vector = tokens[layer][known(tokens[layer])]
            norms = np.linalg.norm(with_vector, axis=-1)
            yield LayerGeometry(
                name,
                layer_name(self._encoder, layer),
                anisotropy(with_vector, self._settings.seed),
                self._self_similarity(layer),
                self._intra_sentence(layer),
                self._explained(layer),
                explained_variance(with_vector[:1000]) if len(norms) else None,
                float(norms.mean()) if len(norms) else None,
                float(norms.std()) if len(norms) else None,
            )

    def _intra_sentence(self, layer: int) -> Measured | None:
        """Over sentences of two vectors or more."""
        measured = np.array([of_sentence[layer] for of_sentence in self._intra])
        measured = measured[~np.isnan(measured)]
        return mean_and_interval(measured, -1.0, 1.0) if len(measured) else None

    def _self_similarity(self, layer: int) -> Measured | None:
        measured = self._counts[:, layer] > 1
        if not measured.any():
            return None
        cosines = np.asarray(mean_pair_cosine(self._sums[measured, layer], self._counts[measured, layer]))
        return mean_and_interval(cosines, -1.0, 1.0)

    def _explained(self, layer: int) -> Measured | None:
        """Over words of two vectors or more: of a single one, the first direction explains all."""
        vectors = (np.stack(found)[:, layer] for found in self._occurrences.values() if found)
        shares = [explained_variance(of_word) for of_word in vectors if known(of_word).sum() > 1]
        return mean_and_interval(np.array(shares), 0.0, 1.0) if shares else None
