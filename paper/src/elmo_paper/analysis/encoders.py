"""The encoders that an analysis compares: a biLM, and controls that have learned nothing from context."""

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import tyro

from elmo.embed.encoder import Encoder
from elmo.errors import ConfigError, TextWarning
from elmo.process.device import Device, require_torch
from elmo.setting_checks import require_setting
from elmo.shapes import Float
from elmo.static.vectors import StaticVectors, read_static_vectors
from elmo.text.first_look.sample import LINES_LOOKED_AT, look_at
from elmo.text.reading.settings import Reading
from elmo.weights.fingerprint import fingerprint
from elmo.weights.hub import DEFAULT_MODEL, MODEL_VARIABLE
from elmo_paper.systems import TITLES

if TYPE_CHECKING:
    from elmo.embed.embedder import Embedder

BILM, FORWARD, RANDOM, AGAINST = "biLM", "forward LM", "random biLM", "other biLM"
STATIC, CONTEXT = "static", "context average"


class StaticEncoder:
    """One layer: the static vector of each token; zeros for unknown words."""

    num_layers, keep_boundaries = 1, False

    def __init__(self, static: StaticVectors, *, source: str = "the static vectors") -> None:
        """`source`: what messages call them."""
        self.static = static
        self.source = source

    @property
    def layer_dim(self) -> int:
        """Dimensions of a vector."""
        return self.static.dim

    @property
    def model_hash(self) -> str:
        """SHA-256 over the vectors and their words."""
        return fingerprint({"vectors": self.static.vectors}, self.static.words)

    def embed_iter(self, sentences: Iterable[Sequence[str]]) -> Iterator[Float[np.ndarray, "1 tokens dim"]]:
        """Looks the tokens up."""
        return (self.static.lookup(sentence)[None] for sentence in sentences)


class ContextAverage(StaticEncoder):
    """One layer: the mean of the static vectors of the words around a token, without its own.

    The control for "any context helps": it knows the words around a token, but neither their order nor more.
    """

    def __init__(self, static: StaticVectors, window: int = 10, *, source: str = "the static vectors") -> None:
        super().__init__(static, source=source)
        self.window = window

    @property
    def model_hash(self) -> str:
        """SHA-256 over the vectors, their words and the window."""
        return fingerprint({"vectors": self.static.vectors, "window": np.array(self.window)}, self.static.words)

    def embed_iter(self, sentences: Iterable[Sequence[str]]) -> Iterator[Float[np.ndarray, "1 tokens dim"]]:
        """`window` words to each side, fewer at the ends; zeros where no word around is known."""
        return (self._around(sentence)[None] for sentence in sentences)

    def _around(self, sentence: Sequence[str]) -> Float[np.ndarray, "tokens dim"]:
        vectors = self.static.lookup(sentence)
        known = (self.static.rows(sentence) >= 0).astype(np.float32)[:, None]
        sums, counts = (_window_sums(array, self.window) - array for array in (vectors, known))
        return np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0.5)


class _Derived:
    """An encoder made of another one, whose layers it changes."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.num_layers = encoder.num_layers
        self.layer_dim = encoder.layer_dim
        self.keep_boundaries = encoder.keep_boundaries
        self.model_hash = encoder.model_hash


class ForwardHalf(_Derived):
    """The forward half of a biLM's layers: what a language model knows that reads from left to right alone.

    The two directions never meet inside a biLM, so its forward half is such a model, whose token layer and softmax
    were trained together with those of the backward LM. In layer 0 both halves are the same vector.
    """

    def __init__(self, embedder: "Embedder") -> None:
        """Raises ConfigError for a model of one direction."""
        if len(embedder.config.directions) < 2:
            raise ConfigError("the model has one direction only, so it has no forward half. Leave out --forward.")
        super().__init__(embedder)
        self.layer_dim = embedder.layer_dim // 2

    def embed_iter(self, sentences: Iterable[Sequence[str]]) -> Iterator[Float[np.ndarray, "layers tokens dim"]]:
        """The layers of the whole model, the first half of their dimensions."""
        return (layers[:, :, : self.layer_dim] for layers in self.encoder.embed_iter(sentences))


class WithAverage(_Derived):
    """Another encoder's layers, and their mean as one more layer, the last one."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__(encoder)
        self.num_layers = encoder.num_layers + 1

    def embed_iter(self, sentences: Iterable[Sequence[str]]) -> Iterator[Float[np.ndarray, "layers tokens dim"]]:
        """The mean comes last."""
        for layers in self.encoder.embed_iter(sentences):
            yield np.concatenate([layers, layers.mean(axis=0, keepdims=True)])


class _Looking(WithAverage):
    """The biLM's layers and their mean; warns of a text that the biLM won't understand, by its first sentences."""

    def __init__(self, embedder: "Embedder") -> None:
        super().__init__(embedder)
        self._vocabulary = embedder.vocabulary
        self._has_looked = False

    def embed_iter(self, sentences: Iterable[Sequence[str]]) -> Iterator[Float[np.ndarray, "layers tokens dim"]]:
        if not self._has_looked:
            self._has_looked = True
            rest = iter(sentences)
            first = [list(sentence) for sentence in islice(rest, LINES_LOOKED_AT)]
            look = look_at(first, Reading(plain_quotes=False))
            for warning in look.warnings(self._vocabulary):
                warnings.warn(warning, TextWarning, stacklevel=2)
            sentences = chain(first, rest)
        return super().embed_iter(sentences)


def layer_name(encoder: Encoder, layer: int) -> str:
    """What tables call it; nothing if it is the only one."""
    if encoder.num_layers == 1:
        return ""
    is_mean = isinstance(encoder, WithAverage) and layer == encoder.num_layers - 1
    return "mean of layers" if is_mean else f"layer {layer + getattr(encoder, 'lowest_layer', 0)}"


def random_embedder(embedder: "Embedder") -> "Embedder":
    """An embedder of the same architecture whose weights are the initial ones, always the same: what an untrained
    network gives.

    A char CNN with random weights already distinguishes words, and random LSTMs already mix a sentence; only what a
    trained model has above this one was learned.
    """
    require_torch("an embedder with random weights")
    import torch

    from elmo.embed.embedder import Embedder
    from elmo.model.bilm import BiLM

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        untrained = BiLM(embedder.bilm.config, embedder.bilm.token_map)
    untrained = untrained.to(embedder.bilm.device).requires_grad_(False)
    return Embedder(untrained, dtype=embedder.dtype, keep_boundaries=embedder.keep_boundaries)


def _window_sums(vectors: Float[np.ndarray, "tokens dim"], window: int) -> Float[np.ndarray, "tokens dim"]:
    """For each token the sum over up to `window` tokens to each side, its own among them."""
    before = np.concatenate([np.zeros((1, vectors.shape[1])), np.cumsum(vectors, axis=0, dtype=np.float64)])
    places = np.arange(len(vectors))
    ends = np.minimum(places + window + 1, len(vectors))
    return (before[ends] - before[np.maximum(places - window, 0)]).astype(np.float32)


@dataclass(frozen=True)
class EncoderChoice:
    """A biLM, and what it is compared with."""

    model: Annotated[str | None, tyro.conf.arg(aliases=["-m"], metavar="MODEL")] = None
    """A name, a folder or file, or a hub id (default: $ELMO_MODEL, or the bundled model)."""
    static: Annotated[Path | None, tyro.conf.arg(metavar="VECTORS")] = None
    """Static vectors as controls: the word's own, and the mean of the ten words to each side of it."""
    static_errors: Literal["strict", "skip"] = "strict"
    """What to do with a row of the static vectors that can't be used. strict: stop; skip: leave it out, and report how
    many."""
    encoder: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME[=FILES]")] = ()
    """Other encoders to compare with: context2vec=FOLDER, cove=FOLDER, mssg=FILE, or one of your own
    (docs/your-own-task.md). Layer 0 of MSSG is the vector of the sense that the context chooses; layer 1 the context,
    the mean of the words around."""
    forward: bool = False
    """Also analyze the forward half of the biLM's layers alone: a language model that has read nothing to the right."""
    random: bool = False
    """Also analyze the model's architecture with random weights: what an untrained network gives."""
    dtype: Literal["float32", "bfloat16", "int8", "auto"] = "auto"
    """Precision of the biLM's matrix products."""
    device: Device = "auto"
    """Where to compute."""


def encoders_of(choice: EncoderChoice, *, against: str | None = None) -> dict[str, Encoder]:
    """By name: the biLM's layers and their mean; another model's `against` it; with `forward` the forward half of its
    layers; with `random` the same architecture with random weights; with a file of `static` vectors the word's own and
    the mean of the words around it; and each other `encoder`."""
    from elmo.embed.embedder import Embedder  # here: `EncoderChoice` is read for every --help
    from elmo.tasks.tokens.frozen_layers import find_encoder

    embedder = Embedder.from_pretrained(choice.model, device=choice.device, dtype=choice.dtype)
    found: dict[str, Encoder] = {BILM: _Looking(embedder)}
    if against is not None:
        found[AGAINST] = Embedder.from_pretrained(against, device=choice.device, dtype=choice.dtype)
    if choice.forward:
        found[FORWARD] = ForwardHalf(embedder)
    if choice.random:
        found[RANDOM] = random_embedder(embedder)
    if choice.static is not None:
        static = read_static_vectors(choice.static, errors=choice.static_errors)
        found[STATIC] = StaticEncoder(static, source=str(choice.static))
        found[CONTEXT] = ContextAverage(static, source=str(choice.static))
    for name, files in _others(choice.encoder):
        found[TITLES.get(name, name)] = find_encoder(name, files, device=choice.device)
    return found


def _others(named: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The names of encoders, and their files. ConfigError for a name that comes twice."""
    split = [(name, files) for name, _, files in (text.partition("=") for text in named)]
    names = [name for name, _ in split]
    require_setting(len(set(names)) == len(names), "encoder", named, "NAME=FILES, each name once")
    yield from split


def described(choice: EncoderChoice, encoders: Mapping[str, Encoder]) -> dict[str, Any]:
    """The encoders as a record names them: the model, the file of static vectors, and each encoder's hash and sizes."""
    name = Path(choice.model or os.environ.get(MODEL_VARIABLE) or DEFAULT_MODEL).name
    bilm = encoders[BILM]
    embedder = bilm.encoder if isinstance(bilm, WithAverage) else bilm
    return {
        "model": name,
        "model_hash": bilm.model_hash,
        "dtype": getattr(embedder, "dtype", None),
        "static": choice.static and choice.static.name,
        **{name: Path(files).name for name, files in _others(choice.encoder)},
        "encoders": {
            name: {"hash": one.model_hash, "num_layers": one.num_layers, "dim": one.layer_dim}
            for name, one in encoders.items()
        },
    }
