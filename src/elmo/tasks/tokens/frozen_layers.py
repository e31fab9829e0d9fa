"""FrozenLayers: the layers an encoder gives for sentences, computed once and read from disk afterwards.

Encoders have names: a biLM (`Embedder`) is "elmo"; a package adds others by an entry point of the group
`elmo.encoders`, whose object is an `EncoderFactory`, and `--encoder package.module:function` names one without it.
What an encoder is, `elmo.embed.encoder` says.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float

from elmo.embed.embedder import Embedder
from elmo.embed.encoder import Encoder, Sentence
from elmo.embed.windows import windows
from elmo.errors import ConfigError, Interrupted, TextWarning
from elmo.model.bilm import BiLM, BiLMOutput, BiLMState
from elmo.process.named_object import find_object
from elmo.process.progress.report import Count, Progress, following
from elmo.process.stop_flag import StopFlag, StopRequested
from elmo.tasks.settings import TokenSettings
from elmo.tasks.tokens.layer_store import LayerStore, StoredType
from elmo.text.first_look.language import Language
from elmo.text.first_look.sample import LINES_LOOKED_AT, OTHER_MODEL, foreign_warning

ELMO, NONE = "elmo", "none"
GROUP = "elmo.encoders"


@runtime_checkable
class EncoderFactory(Protocol):
    """The function that makes an encoder."""

    def __call__(self, model: str, *, device: str) -> Encoder:
        """The encoder; `model` and `device` are the settings of these names."""
        ...


def find_encoder(name: str, model: str, *, device: str, dtype: str = "float32") -> Encoder:
    """The encoder of that name: "elmo", an installed one, or package.module:function.

    `model`: which weights; for "elmo" a name, folder, file or hub id, "" for the default; others get it as it is.
    `dtype`: for "elmo", see `Embedder`. Raises ConfigError if there is no such encoder, WeightFileError for its model.
    """
    if name == ELMO:
        return Embedder.from_pretrained(model or None, device=device, dtype=dtype, keep_boundaries=True)
    factory = cast(EncoderFactory, find_object(name, "encoder", {}, GROUP, others=(NONE, ELMO)))
    return factory(model, device=device)


# Tokens that go to the disk together: work that is lost when a run is killed.
_PART_TOKENS = 100_000


class FrozenLayers:
    """An encoder that isn't trained, whose vectors are remembered in `cache` if there is one. Models may share it."""

    def __init__(self, encoder: Encoder | BiLM, *, cache: Path | None = None, dtype: StoredType = "float32") -> None:
        """`encoder`: a biLM is wrapped as `Embedder(bilm, keep_boundaries=True)` and frozen.

        `dtype`: how layers are stored; float16 halves the files and is exact to about 1 part in 2,000.
        """
        if isinstance(encoder, BiLM):
            encoder = Embedder(encoder.requires_grad_(False), keep_boundaries=True)
        if cache is not None and isinstance(encoder, Embedder):
            _require_the_models_own_layers(encoder)
        self.encoder = encoder
        self.model_hash = encoder.model_hash
        self.store = None if cache is None else LayerStore(cache, encoder, dtype)

    @classmethod
    def of(
        cls, settings: TokenSettings, *, device: str, cache: Path, dtype: StoredType = "float32"
    ) -> "FrozenLayers | None":
        """The layers of the encoder that the settings name, remembered unless it is trained; None without one."""
        if settings.encoder == NONE:
            return None
        encoder = find_encoder(settings.encoder, settings.model, device=device)
        return cls(encoder, cache=None if settings.train_bilm else cache, dtype=dtype)

    @property
    def bilm(self) -> BiLM:
        """The biLM of an ELMo encoder."""
        assert isinstance(self.encoder, Embedder), "only the encoder 'elmo' has a biLM"
        return self.encoder.bilm

    def warn_of_language(self, sentences: Iterable[Sentence], name: str, other_model: str = OTHER_MODEL) -> None:
        """A TextWarning if sentences are in a language that the biLM hasn't read: their scores are low for a reason
        that they don't show. `name`: of the file; `other_model`: how to use another biLM."""
        if not isinstance(self.encoder, Embedder):
            return
        first = [list(sentence) for sentence in islice(sentences, LINES_LOOKED_AT)]
        if warning := foreign_warning(first, Language(self.encoder.vocabulary), name, other_model):
            warnings.warn(warning, TextWarning, stacklevel=3)

    def remember(
        self, sentences: Iterable[Sentence], *, progress: Progress | bool = False, flag: StopFlag | None = None
    ) -> int:
        """Computes and stores what the store doesn't have yet; the number of such sentences. Without a store: nothing.

        `progress`: receives the tokens whose layers are computed; True: bars on stderr. `flag`: when it is raised,
        Interrupted is; the parts that are finished stay.
        """
        if self.store is None:
            return 0
        poll = (flag or StopFlag()).check
        self.store.refresh()
        missing = self.store.missing(sentences)
        if missing:
            with following(progress) as reported:
                count = Count(reported, "biLM layers, once", sum(map(len, missing)), "tokens").add
                try:
                    for part in windows(missing, len(missing), _PART_TOKENS):
                        self.store.add(part, self.encoder.embed_iter(part), on_stored=count, poll=poll)
                except StopRequested:
                    raise Interrupted(
                        "stopped while the biLM's layers were computed; the parts that were finished are kept. "
                        "Continue with the same command and --resume."
                    ) from None
        return len(missing)

    def batch(self, sentences: Sequence[Sentence], device: torch.device | str = "cpu") -> BiLMOutput:
        """All layers of a batch as `BiLM.contextualize` gives them: padded, with boundaries if the encoder has them."""
        arrays, boundaries = self._arrays(sentences), 2 * self.encoder.keep_boundaries
        lengths = [len(sentence) + boundaries for sentence in sentences]
        positions = max(lengths, default=boundaries)
        layers = np.zeros((self.encoder.num_layers, len(sentences), positions, self.encoder.layer_dim), np.float32)
        for row, (array, length) in enumerate(zip(arrays, lengths, strict=True)):
            layers[:, row, :length] = array
        mask = torch.arange(positions)[None, :] < torch.tensor(lengths, dtype=torch.int64)[:, None]
        nothing = torch.zeros(0, 0, 0)
        return BiLMOutput(torch.from_numpy(layers).to(device), mask.to(device), BiLMState(nothing, nothing))

    def _arrays(self, sentences: Sequence[Sentence]) -> Iterator[Float[np.ndarray, "layers positions dim"]]:
        """Of each sentence, from the store where it has them."""
        stored = [None if self.store is None else self.store.read(sentence) for sentence in sentences]
        unknown = (sentence for sentence, array in zip(sentences, stored, strict=True) if array is None)
        computed = iter(self.encoder.embed_iter(unknown))
        return (next(computed) if array is None else array.transpose(1, 0, 2) for array in stored)


def _require_the_models_own_layers(embedder: Embedder) -> None:
    """ConfigError unless a sentence's layers follow from the weights alone, whose hash is all that names a cache."""
    if (embedder.dtype, embedder.state) != ("float32", "zero"):
        raise ConfigError(
            f"the Embedder has dtype {embedder.dtype!r} and state {embedder.state!r}, but a cache holds exact layers "
            "that start from zeros only. Leave them out, or the cache."
        )
