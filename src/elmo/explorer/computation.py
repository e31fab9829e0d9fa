"""How the vectors of one token are computed: the numbers of every step, from its bytes to its layers.

The steps and equations are those of `elmo.reference`, and so are the numbers. Beside them are some that explain them.
Of the features the largest are shown, of other long vectors the first numbers. Numbers keep four significant digits.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from elmo import reference
from elmo.config import BiLMConfig
from elmo.errors import ConfigError
from elmo.reference import Tensors
from elmo.shapes import Float, Int
from elmo.text.characters import BEGIN_SENTENCE, END_SENTENCE, CharacterMap

if TYPE_CHECKING:
    from elmo.explorer.views import Marked
    from elmo.weights.checkpoint import Checkpoint

SHOWN = 32
"""Numbers of a vector that are shown, unless all are."""
MOST_READ = 24
"""Tokens of each direction that are shown, the token itself among them: the nearest."""
CUTS = (0, 1, 2, 3, 4, 6, 8)
"""How many tokens before it a sentence is cut to."""
_BEST = 3


class Letter(msgspec.Struct):
    """What the model reads of a letter: the ids of its bytes."""

    text: str | None
    """None: a mark, the begin or end of the token."""
    ids: list[int]


class Filter(msgspec.Struct):
    """A filter of the char CNN, whose maximum lies on the bytes from `start` on."""

    index: int
    start: int
    value: float
    profile: list[float]
    """Its output at each position, up to the first of padding alone; before the bias and the activation."""
    bias: float


class Filters(msgspec.Struct):
    """All filters of a width, and those with the largest values."""

    width: int
    number: int
    positive: int
    best: list[Filter]


class Highway(msgspec.Struct):
    """A highway layer. Vectors: the shown features."""

    gate_mean: float
    histogram: list[int]
    """How many gates are in each tenth from 0 to 1."""
    before: list[float]
    gate: list[float]
    transformed: list[float]
    after: list[float]


class Read(msgspec.Struct):
    """An LSTM layer has read a token. Gates: their means over the cells."""

    input: float
    forget: float
    output: float
    share: float
    """The part of the cells' memory at the selected token that was written here, 0 to 1."""
    state: list[float]
    """The first numbers of its output, without the skip connection."""


class Cell(msgspec.Struct):
    """One cell at the selected token: one that keeps, writes and shows much."""

    index: int
    forget: float
    before: float
    input: float
    candidate: float
    after: float
    output: float


class LayerRead(msgspec.Struct):
    """What one LSTM layer reads, in its order; the selected token is the last."""

    reads: list[Read]
    earlier: float
    """The share of the tokens that are not shown."""
    cell: Cell
    incoming: list[float]
    """The first numbers of its input at the selected token, which the skip connection adds to its output."""


class Cut(msgspec.Struct):
    """The cosine, in each LSTM layer, of the output at the token with the one in a sentence that begins `words` tokens
    before it; read backward, that ends so many after it."""

    words: int
    cosines: list[float]


class Reading(msgspec.Struct):
    """One direction."""

    direction: str
    tokens: int
    """All that it reads up to the selected token: boundary and token included."""
    layers: list[LayerRead]
    cuts: list[Cut]


class Sizes(msgspec.Struct):
    """Of the model."""

    characters: int
    character_dim: int
    features: int
    projection: int
    cells: int
    words: int | None
    """Of the vocabulary; null: the model predicts none."""
    skips: bool
    activation: str
    forget_bias: float
    cell_clip: float | None
    projection_clip: float | None


class Computation(msgspec.Struct):
    """All steps of one token."""

    sizes: Sizes
    letters: list[Letter]
    cut: int
    """Bytes that are not read, since the token has too many."""
    characters: list[list[float]]
    """The vector of each byte and mark, and of the padding after them, if there is any."""
    filters: list[Filters]
    covered: list[int]
    """For each byte and mark, on how many positive filters' maxima it is."""
    shown: list[int]
    """The features that were largest after the char CNN, in their order."""
    features: list[float]
    """What the char CNN gave for those."""
    highways: list[Highway]
    readings: list[Reading]
    layers: list[list[float]]
    """All layers of the token, whole."""


def can_follow(config: BiLMConfig, state: str) -> bool:
    """Whether a model reads bytes and nothing else, from a zero state."""
    return config.characters == "bytes" and not config.has_words and state == "zero"


def require_followed(config: BiLMConfig, state: str) -> None:
    """Raises ConfigError for a model that `can_follow` doesn't accept."""
    if not can_follow(config, state):
        raise ConfigError(
            f"the model reads {config.characters!r} and {config.num_words} words, from the state {state!r}, but this "
            "view follows the bytes of a token through a model that reads nothing else, from a zero state. Choose such "
            "a model, for instance small-en."
        )


def computation(checkpoint: "Checkpoint", marked: "Marked", words: int | None = None) -> Computation:
    """All steps of a token, of a model that `can_follow` accepts. `words`: of the vocabulary, if there is one."""
    config, tensors = checkpoint.config, checkpoint.tensors
    tokens, place = marked
    letters, cut = _letters(tokens[place], config.max_characters_per_token)
    found = Computation(_sizes(config, words), letters, cut, [], [], [], [], [], [], [], [])
    _encode(found, config, tensors, reference.character_ids(tokens[place], config.max_characters_per_token))
    _contextualize(found, config, tensors, tokens, place)
    return found


def _sizes(config: BiLMConfig, words: int | None) -> Sizes:
    return Sizes(
        characters=config.max_characters_per_token,
        character_dim=config.character_dim,
        features=config.num_filters,
        projection=config.projection_size,
        cells=config.cell_size,
        words=words,
        skips=config.skip_connections,
        activation=config.activation,
        forget_bias=config.forget_bias,
        cell_clip=config.cell_clip,
        projection_clip=config.projection_clip,
    )


def _letters(token: str, most: int) -> tuple[list[Letter], int]:
    """The letters with the ids of their bytes between the two marks, and how many bytes are left out."""
    ids = reference.character_ids(token, most).tolist()
    ids = ids[: ids.index(CharacterMap.for_bytes(most).end_word) + 1]
    letters, at = [Letter(None, ids[:1])], 1
    # A boundary has one id, whatever its spelling.
    for letter in [token] if token in (BEGIN_SENTENCE, END_SENTENCE) else token:
        of_letter = ids[at : min(len(ids) - 1, at + len(letter.encode("utf-8", errors="ignore")))]
        letters += [Letter(letter, of_letter)] if of_letter else []
        at += len(of_letter)
    bytes_of_token = 1 if token in (BEGIN_SENTENCE, END_SENTENCE) else len(token.encode("utf-8", errors="ignore"))
    return [*letters, Letter(None, ids[-1:])], bytes_of_token - (len(ids) - 2)


def _encode(found: Computation, config: BiLMConfig, tensors: Tensors, ids: Int[np.ndarray, " characters"]) -> None:
    """Characters, char CNN and highway layers."""
    used = sum(len(letter.ids) for letter in found.letters)
    e = tensors["token_encoder.character_embedding"][ids]
    found.characters = _rows(e[: used + 1])
    covered, features = np.zeros(used, np.int64), []
    for number, (width, count) in enumerate(config.filters):
        W, b = (tensors[f"token_encoder.convolutions.{number}.{part}"] for part in ("weight", "bias"))
        # All windows from `used` on are equal: padding.
        windows = np.lib.stride_tricks.sliding_window_view(e, width, axis=0)[: used + 1]
        outputs = np.tensordot(windows, W, axes=((1, 2), (1, 2)))
        starts = outputs.argmax(axis=0)
        y = b + outputs.max(axis=0)
        y = np.maximum(y, 0) if config.activation == "relu" else np.tanh(y)
        for start in starts[y > 0]:
            covered[start : start + width] += 1
        best = [
            Filter(i, int(starts[i]), _short(y[i]), _row(outputs[:, i]), _short(float(b[i])))
            for i in np.argsort(-y, kind="stable")[:_BEST].tolist()
        ]
        found.filters.append(Filters(width, count, int((y > 0).sum()), best))
        features.append(y)
    found.covered = covered.tolist()
    x = np.concatenate(features)
    found.shown = sorted(np.argsort(-x, kind="stable")[:SHOWN].tolist())
    found.features = _row(x[found.shown])
    for number in range(config.num_highway):
        gate, transform = (f"token_encoder.highways.{number}.{part}." for part in ("gate", "transform"))
        T = reference.sigmoid(tensors[gate + "weight"] @ x + tensors[gate + "bias"])
        H = np.maximum(tensors[transform + "weight"] @ x + tensors[transform + "bias"], 0)
        y = T * H + (1 - T) * x
        counts, _ = np.histogram(T, bins=10, range=(0, 1))
        found.highways.append(
            Highway(_short(T.mean()), counts.tolist(), *(_row(vector[found.shown]) for vector in (x, T, H, y)))
        )
        x = y


def _contextualize(found: Computation, config: BiLMConfig, tensors: Tensors, tokens: Sequence[str], place: int) -> None:
    """Both directions' LSTMs."""
    characters = {token: reference.character_ids(token, config.max_characters_per_token) for token in tokens}
    boundaries = [
        reference.character_ids(token, config.max_characters_per_token) for token in (BEGIN_SENTENCE, END_SENTENCE)
    ]
    vectors = {token: reference.token_vector(config, tensors, ids) for token, ids in characters.items()}
    begin, end = (reference.token_vector(config, tensors, ids) for ids in boundaries)
    halves = []
    for direction in config.directions:
        turned = direction == "backward"
        before = tokens[place + 1 :][::-1] if turned else tokens[:place]
        x = np.stack([end if turned else begin, *(vectors[token] for token in [*before, tokens[place]])])
        read, outputs = _read(config, tensors, direction, x)
        halves.append([x[-1], *outputs])
        cuts = []
        for words in CUTS:
            if words < len(before):
                _, cut = _read(config, tensors, direction, np.concatenate([x[:1], x[-1 - words :]]))
                cuts.append(Cut(words, [_cosine(*pair) for pair in zip(cut, outputs, strict=True)]))
        found.readings.append(Reading(direction, len(x), read, cuts))
    found.layers = _rows(np.concatenate(halves, axis=1))


def _read(
    config: BiLMConfig, tensors: Tensors, direction: str, x: Float[np.ndarray, "tokens projection"]
) -> tuple[list[LayerRead], list[Float[np.ndarray, " projection"]]]:
    """What every layer reads, and its output at the last token, the skip connection included."""
    layers, outputs = [], []
    for layer in range(config.num_layers):
        name = f"{direction}_lstm.layers.{layer}."
        W_x, W_h, b = (tensors[name + part] for part in ("input_weight", "recurrent_weight", "bias"))
        W_P = tensors.get(name + "projection_weight")
        h, c = np.zeros(config.projection_size, x.dtype), np.zeros(config.cell_size, x.dtype)
        # c is the sum over all tokens of what each has written and the forget gates have kept since.
        written, reads, y = np.zeros((len(x), config.cell_size), x.dtype), [], np.zeros_like(x)
        cell = Cell(0, 0, 0, 0, 0, 0, 0)
        for k, vector in enumerate(x):
            i, f, o, j = reference.lstm_gates(vector, h, W_x, W_h, b, config.forget_bias)
            written[:k] *= f
            written[k] = i * j
            unclipped = f * c + i * j
            new = reference.clip(unclipped, config.cell_clip)
            written[: k + 1] *= np.divide(new, unclipped, out=np.ones_like(new), where=unclipped != 0)
            if k == len(x) - 1:
                at = int((o * np.minimum(abs(f * c), abs(i * j))).argmax())
                cell = Cell(at, *map(_short, (f[at], c[at], i[at], j[at], new[at], o[at])))
            c = new
            m = o * np.tanh(c)
            h = m if W_P is None else reference.clip(W_P @ m, config.projection_clip)
            y[k] = h + vector if layer > 0 and config.skip_connections else h
            input_, forget, output = (_short(gate.mean()) for gate in (i, f, o))
            reads.append(Read(input_, forget, output, 0, _row(h[:SHOWN])))
        shares = abs(written).sum(axis=1) / max(float(abs(written).sum()), 1e-30)
        for read, share in zip(reads, shares, strict=True):
            read.share = _short(share)
        earlier = _short(shares[:-MOST_READ].sum())
        layers.append(LayerRead(reads[-MOST_READ:], earlier, cell, _row(x[-1, :SHOWN])))
        outputs.append(y[-1])
        x = y
    return layers, outputs


def _cosine(a: Float[np.ndarray, " dim"], b: Float[np.ndarray, " dim"]) -> float:
    return _short(float(a @ b) / max(float(np.linalg.norm(a) * np.linalg.norm(b)), 1e-30))


def _rows(table: Float[np.ndarray, "rows columns"]) -> list[list[float]]:
    return [_row(row) for row in table]


def _row(values: Float[np.ndarray, " values"]) -> list[float]:
    return [_short(value) for value in values.tolist()]


def _short(value: float) -> float:
    """With four significant digits."""
    return float(f"{value:.4g}")
