"""Explored: a served model with the text that is searched, its index, and the model's figures."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from elmo.analysis.measures import token_similarity
from elmo.analysis.neighbors.context_index import ContextIndex
from elmo.analysis.neighbors.occurrence_map import occurrence_map
from elmo.analysis.neighbors.query import neighbors
from elmo.explorer import views
from elmo.explorer.computation import Computation, can_follow, computation, require_followed
from elmo.explorer.quality import Quality, quality_of
from elmo.explorer.texts import Example, ExploredText, bundled_examples, bundled_text, own_example
from elmo.explorer.views import Marked
from elmo.process.progress.report import Progress
from elmo.serve.answers import invalid
from elmo.serve.models import ServedModel
from elmo.weights import hub
from elmo.weights.catalogue import known_models
from elmo.weights.checkpoint import Checkpoint

_CODES = {"English": "en", "Korean": "ko"}
_SEED = 0


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
    quality: Quality | None


class TextInfo(msgspec.Struct):
    """The size of a model's index."""

    tokens: int
    tokens_in_source: int
    sentences: int


@dataclass
class Explored:
    """A model as the page shows it. All methods may be called from any thread."""

    model: ServedModel
    text: ExploredText | None = None
    language: str = ""
    quality: Quality | None = None
    folder: Path | None = None
    """Of the model's files; None: it wasn't read from a folder."""
    _index: ContextIndex | None = field(default=None, init=False, repr=False)
    _checkpoint: Checkpoint | None = field(default=None, init=False, repr=False)
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
        quality = quality_of(folder, served.embedder.model_hash)
        return cls(served, text or bundled_text(language or "en"), language, quality, folder)

    def index(self, progress: Progress | bool = False) -> ContextIndex:
        """The index of its text, made or opened at the first call. Raises Refusal if it has no text.

        `progress`: as for `build_index`.
        """
        if self.text is None:
            raise invalid(
                "there is no text to search for neighbors. Start the page with one: elmo explore --text FILE", "model"
            )
        with self._lock:
            if self._index is None:
                self._index = self.text.index(self.model.embedder, progress)
            return self._index

    def info(self) -> ModelInfo:
        """The facts that the page shows."""
        embedder = self.model.embedder
        return ModelInfo(
            name=self.model.name,
            language=self.language,
            model_hash=embedder.model_hash,
            layers=embedder.num_layers,
            dim=embedder.layer_dim,
            has_softmax=self.model.substitutes is not None,
            has_computation=self.has_computation,
            text=self.text.name if self.text else None,
            is_bundled_text=self.has_bundled_text,
            examples=self._examples(),
            quality=self.quality,
        )

    def text_info(self) -> TextInfo:
        """The size of its index, which is made first if need be."""
        facts = self.index().facts
        return TextInfo(facts.num_tokens, facts.tokens_in_source, facts.num_sentences)

    def neighbors(
        self, one: Marked, count: int, weights: Sequence[float] | None, noun: str | None = None
    ) -> views.Neighbors:
        """The tokens nearest to a marked one. `noun`: a Korean noun, which with particles counts as the same word."""
        return views.neighbors_view(
            neighbors(self.index(), self.model.embedder, *one, count, weights=weights, noun=noun)
        )

    def occurrences(self, marked: Sequence[Marked], limit: int, weights: Sequence[float] | None) -> views.WordMap:
        """The occurrences of the marked words on a plane."""
        found = occurrence_map(self.index(), self.model.embedder, marked, weights=weights, limit=limit, seed=_SEED)
        return views.map_view(found, _SEED)

    def similarity(self, a: Sequence[str], b: Sequence[str], weights: Sequence[float] | None) -> views.Similarity:
        """The tokens of two sentences compared."""
        tables = list(token_similarity(self.model.embedder, a, b))
        if weights is not None:
            tables += list(token_similarity(self.model.embedder, a, b, weights))
        return views.compare_view(tables)

    def substitutes(self, one: Marked, count: int) -> views.Substitutes:
        """Words for the marked place. Raises Refusal if the model has no softmax."""
        if self.model.substitutes is None:
            raise invalid(
                f"{self.model.name} has no softmax (softmax.safetensors), so it can't predict words. Published "
                "models don't have one either; explore one that 'elmo pretrain' made.",
                "model",
            )
        return views.Substitutes(**self.model.substitutes(*one, count))

    def computation(self, one: Marked) -> Computation:
        """How the vectors of the marked token are computed. Raises ConfigError if `has_computation` is false."""
        embedder = self.model.embedder
        require_followed(embedder.config, embedder.state)
        with self._lock:
            if self._checkpoint is None:  # with tensors that need not be made at every access
                self._checkpoint = replace(embedder.checkpoint, tensors=dict(embedder.checkpoint.tensors))
        vocabulary = embedder.vocabulary if self.model.substitutes is not None else None
        return computation(self._checkpoint, one, None if vocabulary is None else len(vocabulary))

    @property
    def has_computation(self) -> bool:
        """Whether the model is one that `computation` can follow."""
        return can_follow(self.model.embedder.config, self.model.embedder.state)

    @property
    def has_bundled_text(self) -> bool:
        """Whether its text is the bundled one of its language."""
        return self.text is not None and self.text == bundled_text(self.language or "en")

    def _examples(self) -> list[Example]:
        if self.has_bundled_text or self.text is None:
            return bundled_examples(self.language or "en")
        own = own_example(self.index())
        return [own] if own else bundled_examples(self.language or "en")
