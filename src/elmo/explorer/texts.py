"""The texts that the page searches: those that come with it, or the user's own, each with its index in the cache."""

import hashlib
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from elmo.analysis.neighbors import index_files
from elmo.analysis.neighbors.build import DEFAULT_TOKENS, build_index
from elmo.analysis.neighbors.context_index import ContextIndex
from elmo.disk.bounded import file_hash
from elmo.disk.cache import cache_folder
from elmo.errors import TextError, TextWarning
from elmo.process.progress.report import Progress
from elmo.text.first_look.sample import first_look
from elmo.text.reading.placed import placed_sentences
from elmo.text.reading.settings import Reading, TextForm

if TYPE_CHECKING:
    from elmo.embed.embedder import Embedder

_FOLDER = Path(__file__).parent / "bundled_texts"
SOURCES_FILE = _FOLDER / "SOURCES.tsv"
"""Where the sentences of the texts that come with the page are from, and under which licence."""


@dataclass(frozen=True)
class ExploredText:
    """A text of one sentence per line."""

    path: Path
    name: str
    """What the page calls it."""
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
        except TextError:  # there is none yet, or it is damaged
            reading = Reading(**vars(self.form), tokenizer=self.split)
            look = first_look([self.path], reading, self.name)
            for message in look.warnings(embedder.vocabulary):
                warnings.warn(message, TextWarning, stacklevel=2)
            places = placed_sentences([self.path], look.reading, marks=embedder.reader.marks())
            sentences = (place.tokens for place in places)
            folder.parent.mkdir(parents=True, exist_ok=True)
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
            self.max_tokens,
            self.sample,
            self.form,
        ]
        return hashlib.sha256(repr(facts).encode()).hexdigest()[:24]


def bundled_text(language: str) -> ExploredText | None:
    """The text that comes with the page for a language ("en", "ko"); None: there is none."""
    path = _FOLDER / f"senses-{language}.txt"
    return ExploredText(path, f"senses-{language}") if path.is_file() else None
