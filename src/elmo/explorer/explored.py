"""Explored: a model with the text that is searched, its index, and the model's figures."""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from elmo.analysis.neighbors.context_index import ContextIndex
from elmo.disk.bounded import read_bytes
from elmo.errors import ConfigError
from elmo.explorer.texts import Example, ExploredText, bundled_examples, bundled_text, own_example
from elmo.process.progress.report import Progress
from elmo.serve.models import ServedModel
from elmo.weights import hub
from elmo.weights.catalogue import known_models

_CODES = {"English": "en", "Korean": "ko"}
_QUALITY_FILE = "quality.json"
_QUALITY_BYTES, _SCORES_BYTES = 1 << 16, 1 << 26


class ModelInfo(msgspec.Struct):
    """The facts of a model that the page shows."""

    name: str
    language: str
    """"en", "ko", ...; empty: not known."""
    model_hash: str
    layers: int
    dim: int
    has_softmax: bool
    has_computation: bool
    """Whether the page can follow how its vectors are computed: it reads bytes and nothing else."""
    text: str | None
    """The name of its text; null: without a text there are neither neighbors nor a map."""
    is_bundled_text: bool
    examples: list[Example]
    quality: Mapping[str, Any] | None


class Mix(msgspec.Struct):
    """A weight for each layer, and the name of the run that learned it."""

    name: str
    weights: list[float]


@dataclass
class Explored:
    """A model as the page shows it. All methods may be called from any thread."""

    model: ServedModel
    text: ExploredText | None = None
    language: str = ""
    quality: Mapping[str, Any] | None = None
    """What `runs/quality/model_quality.py` measured of these weights."""
    folder: Path | None = None
    """Of the model's files; None: it wasn't read from a folder."""
    _index: ContextIndex | None = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @classmethod
    def load(
        cls, model: str | None = None, *, text: ExploredText | None = None, device: str = "auto", dtype: str = "float32"
    ) -> "Explored":
        """A model by name, path or hub id, with its figures; `text` (default: the bundled one of its language)."""
        served = ServedModel.load(model, device=device, dtype=dtype)
        known = known_models().get(served.name)
        language = _CODES.get(known.languages[0], "") if known and known.bundled else ""
        files = hub.resolve(model)
        folder = Path(files[0].parent if isinstance(files, tuple) else files)
        quality = _quality_of(folder, served.embedder.model_hash)
        return cls(served, text or bundled_text(language or "en"), language, quality, folder)

    def index(self, progress: Progress | bool = False) -> ContextIndex:
        """The index of its text, made or opened at the first call. Raises ConfigError if it has no text.

        `progress`: as for `build_index`.
        """
        if self.text is None:
            raise ConfigError(f"{self.model.name} has no text to search for neighbors. Pass one: Explored(..., text)")
        with self._lock:
            if self._index is None:
                self._index = self.text.index(self.model.embedder, progress)
            return self._index

    def info(self) -> ModelInfo:
        """The facts that the page shows."""
        embedder = self.model.embedder
        reads_bytes_alone = embedder.config.characters == "bytes" and not embedder.config.has_words
        return ModelInfo(
            name=self.model.name,
            language=self.language,
            model_hash=embedder.model_hash,
            layers=embedder.num_layers,
            dim=embedder.layer_dim,
            has_softmax=self.model.substitutes is not None,
            has_computation=reads_bytes_alone and embedder.state == "zero",
            text=self.text.name if self.text else None,
            is_bundled_text=self.has_bundled_text,
            examples=self._examples(),
            quality=self.quality,
        )

    @property
    def has_bundled_text(self) -> bool:
        """Whether its text is the bundled one of its language."""
        return self.text is not None and self.text == bundled_text(self.language or "en")

    def _examples(self) -> list[Example]:
        if self.has_bundled_text or self.text is None:
            return bundled_examples(self.language or "en")
        own = own_example(self.index())
        return [own] if own else bundled_examples(self.language or "en")


def learned_mixes(run: Path) -> list[Mix]:
    """The mixes of layers of every seed in the folder of a run of `elmo task train`. ConfigError if there are none."""
    found: list[Mix] = []
    for path in sorted(run.glob("seed-*/scores.json")):
        try:
            mixes = json.loads(read_bytes(path, limit=_SCORES_BYTES)).get("mix_weights", [])
            for number, mix in enumerate(mixes, start=1):
                place = f", mix {number}" if len(mixes) > 1 else ""
                weights = [round(weight, 4) for weight in mix["weights"]]
                found.append(Mix(f"{run.name}, {path.parent.name}{place}", weights))
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise ConfigError(f"{path}: is not the outcome of a seed ({error}). Name another run folder.") from None
    if not found:
        raise ConfigError(
            f"{run}: has no learned mixes of layers (seed-*/scores.json with mix_weights). Name the folder that "
            "'elmo task train ... -o RUN' made, of a model with ELMo."
        )
    return found


def _quality_of(folder: Path, model_hash: str) -> Mapping[str, Any] | None:
    """The figures in a model's folder, if there are any for these weights."""
    try:
        found = json.loads(read_bytes(folder / _QUALITY_FILE, limit=_QUALITY_BYTES))
    except (OSError, ValueError):  # no figures are better than wrong ones
        return None
    return found if isinstance(found, dict) and found.get("model_hash") == model_hash else None
