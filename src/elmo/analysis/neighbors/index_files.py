"""The files of a context index: written whole or not at all, checked before they are used.

The bytes of all files but the layers are checked when an index is opened; those of a layer, which are many, before its
first use.
"""

import json
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from elmo.disk.arrays import ArraysError, mapped
from elmo.disk.bounded import file_hash
from elmo.disk.json_file import read_json
from elmo.errors import TextError, WeightFileError
from elmo.shapes import Float, Int, Shaped

SCHEMA = 2
FACTS_FILE, SENTENCES_FILE, WORDS_FILE = "index.json", "sentences.txt", "words.txt"
TOKEN_WORDS_FILE, STARTS_FILE, LENGTHS_FILE = "token_words.npy", "starts.npy", "lengths.npy"

LayerFile = Float[np.ndarray, "rows dim"]
"""float16, memory-mapped."""


@dataclass(frozen=True)
class IndexFacts:
    """The content of index.json."""

    schema: int
    model: str
    """The name by which the model was loaded."""
    model_hash: str
    """SHA-256 over its weights."""
    source: str
    """The text's name."""
    num_tokens: int
    num_sentences: int
    num_words: int
    num_layers: int
    dim: int
    tokens_in_source: int
    """Tokens of the whole text; more than num_tokens if the index holds a part of it."""
    sha256: dict[str, str]
    """Of each file but this one."""


@dataclass(frozen=True)
class IndexFiles:
    """What the files hold."""

    facts: IndexFacts
    sentences: Sequence[tuple[str, ...]]
    words: Sequence[str]
    token_words: Int[np.ndarray, " tokens"]
    starts: Int[np.ndarray, " starts"]
    lengths: Float[np.ndarray, "layers tokens"]
    layers: "CheckedLayers"


class CheckedLayers:
    """The files of the layers; each one's SHA-256 is compared when it is first asked for, by whatever thread."""

    def __init__(self, folder: Path, facts: IndexFacts) -> None:
        """Raises TextError for files of another type or shape."""
        rows = [facts.num_words, *[facts.num_tokens] * (facts.num_layers - 1)]
        paths = [folder / layer_file(layer) for layer in range(facts.num_layers)]
        self._stored = [_array(path, "float16", (count, facts.dim)) for path, count in zip(paths, rows, strict=True)]
        self._sums = {layer: (path, facts.sha256[path.name]) for layer, path in enumerate(paths)}
        self._lock = threading.Lock()
        self.num_values = sum(rows) * facts.dim
        """Of all layers together."""

    def __len__(self) -> int:
        return len(self._stored)

    def __getitem__(self, layer: int) -> LayerFile:
        """The vectors of a layer, from 0. Raises TextError if the file was changed since it was written."""
        if layer in self._sums:
            with self._lock:
                if layer in self._sums:  # no other thread has checked it meanwhile
                    _require_sum(*self._sums[layer])
                    del self._sums[layer]
        return self._stored[layer]


def layer_file(layer: int) -> str:
    """The name of a layer's file."""
    return f"layer-{layer}.npy"


def file_names(num_layers: int) -> list[str]:
    """All files of an index but index.json."""
    return [
        SENTENCES_FILE,
        WORDS_FILE,
        TOKEN_WORDS_FILE,
        STARTS_FILE,
        LENGTHS_FILE,
        *map(layer_file, range(num_layers)),
    ]


def write_facts(folder: Path, facts: IndexFacts) -> None:
    """index.json; the other files must be there."""
    text = json.dumps(asdict(facts), indent=2)  # ASCII: a name that is not UTF-8 has lone surrogates
    (folder / FACTS_FILE).write_text(text + "\n", encoding="utf-8")


def open_files(folder: Path) -> IndexFiles:
    """Raises TextError, naming the file, if something is missing, damaged or doesn't fit."""
    facts = _facts(folder)
    for name in (SENTENCES_FILE, WORDS_FILE, TOKEN_WORDS_FILE, STARTS_FILE, LENGTHS_FILE):
        _require_sum(folder / name, facts.sha256[name])
    texts = {name: (folder / name).read_text("utf-8").splitlines() for name in (SENTENCES_FILE, WORDS_FILE)}
    token_words = _array(folder / TOKEN_WORDS_FILE, "int32", (facts.num_tokens,))
    starts = _array(folder / STARTS_FILE, "int64", (facts.num_sentences + 1,))
    lengths = _array(folder / LENGTHS_FILE, "float32", (facts.num_layers, facts.num_tokens))
    layers = CheckedLayers(folder, facts)
    sentences = [tuple(line.split(" ")) for line in texts[SENTENCES_FILE]]
    return IndexFiles(facts, sentences, texts[WORDS_FILE], np.asarray(token_words), np.asarray(starts), lengths, layers)


def _facts(folder: Path) -> IndexFacts:
    path = folder / FACTS_FILE
    if not path.is_file():
        raise TextError(f"{path}: is missing, so this is no index. Make one: elmo index TEXT -o FOLDER")
    try:
        values = read_json(path)
        facts = IndexFacts(**{field.name: values[field.name] for field in fields(IndexFacts)})
        counts = (facts.num_tokens, facts.num_sentences, facts.num_words, facts.num_layers, facts.dim)
        fits = facts.schema == SCHEMA and all(type(count) is int and count > 0 for count in counts)
        # Each file has its sum here, so a made-up number of layers is refused before names are made of it.
        if not fits or facts.num_layers >= len(facts.sha256) or set(facts.sha256) != set(file_names(facts.num_layers)):
            raise ValueError
    except (WeightFileError, ValueError, KeyError, TypeError):
        raise _damaged(path, f"is not a description of an index of schema {SCHEMA}") from None
    return facts


def _array(path: Path, dtype: str, shape: tuple[int, ...]) -> Shaped[np.ndarray, "*shape"]:
    try:
        return mapped(path, dtype, shape)
    except ArraysError as error:
        raise _damaged(path, str(error)) from None


def _require_sum(path: Path, sha256: str) -> None:
    try:
        found = file_hash(path)
    except OSError as error:
        raise _damaged(path, f"can't be read ({error.strerror})") from None
    if found != sha256:
        raise _damaged(path, f"doesn't have the SHA-256 noted in {FACTS_FILE}")


def _damaged(path: Path, what: str) -> TextError:
    return TextError(f"{path}: {what}: the index is damaged. Build it again: elmo index TEXT -o FOLDER --force")
