"""The files of a context index: written whole or not at all; what is missing, cut off or of another index is found
when it is opened.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from elmo.disk.arrays import ArraysError, mapped
from elmo.disk.bounded import read_bytes
from elmo.disk.json_file import read_json
from elmo.errors import TextError, WeightFileError
from elmo.shapes import Float, Int, Shaped

SCHEMA = 2
FACTS_FILE, SENTENCES_FILE, WORDS_FILE = "index.json", "sentences.txt", "words.txt"
TOKEN_WORDS_FILE, STARTS_FILE, LENGTHS_FILE = "token_words.npy", "starts.npy", "lengths.npy"
# A text file of an index holds so many bytes for each token, and for a million if it has fewer.
_TOKEN_BYTES, _LEAST_TOKENS = 1000, 1_000_000

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


@dataclass(frozen=True)
class IndexFiles:
    """What the files hold."""

    facts: IndexFacts
    sentences: Sequence[tuple[str, ...]]
    words: Sequence[str]
    token_words: Int[np.ndarray, " tokens"]
    starts: Int[np.ndarray, " starts"]
    lengths: Float[np.ndarray, "layers tokens"]
    layers: Sequence[LayerFile]


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
    sentences = [tuple(line.split(" ")) for line in _lines(folder / SENTENCES_FILE, facts.num_sentences, facts)]
    words = _lines(folder / WORDS_FILE, facts.num_words, facts)
    token_words = _array(folder / TOKEN_WORDS_FILE, "int32", (facts.num_tokens,))
    starts = _array(folder / STARTS_FILE, "int64", (facts.num_sentences + 1,))
    lengths = _array(folder / LENGTHS_FILE, "float32", (facts.num_layers, facts.num_tokens))
    rows = [facts.num_words, *[facts.num_tokens] * (facts.num_layers - 1)]
    layers = [_array(folder / layer_file(at), "float16", (count, facts.dim)) for at, count in enumerate(rows)]
    return IndexFiles(facts, sentences, words, np.asarray(token_words), np.asarray(starts), lengths, layers)


def _facts(folder: Path) -> IndexFacts:
    path = folder / FACTS_FILE
    if not path.is_file():
        raise TextError(
            f"{folder}: holds no context index: {FACTS_FILE} is missing. Make one: elmo index TEXT -o FOLDER"
        )
    try:
        values = read_json(path)
        facts = IndexFacts(**{field.name: values[field.name] for field in fields(IndexFacts)})
        counts = (facts.num_tokens, facts.num_sentences, facts.num_words, facts.num_layers, facts.dim)
        if facts.schema != SCHEMA or not all(type(count) is int and count > 0 for count in counts):
            raise ValueError
    except (WeightFileError, ValueError, KeyError, TypeError):
        raise _damaged(path, f"is not a description of an index of schema {SCHEMA}") from None
    return facts


def _lines(path: Path, count: int, facts: IndexFacts) -> list[str]:
    try:
        lines = read_bytes(path, limit=_TOKEN_BYTES * max(facts.num_tokens, _LEAST_TOKENS)).decode("utf-8").splitlines()
    except OSError as error:
        raise _damaged(path, f"can't be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise _damaged(path, f"is not valid UTF-8 ({error.reason})") from None
    if len(lines) != count:
        raise _damaged(path, f"has {len(lines):,} lines, but {FACTS_FILE} says {count:,}")
    return lines


def _array(path: Path, dtype: str, shape: tuple[int, ...]) -> Shaped[np.ndarray, "*shape"]:
    try:
        return mapped(path, dtype, shape)
    except ArraysError as error:
        raise _damaged(path, str(error)) from None


def _damaged(path: Path, what: str) -> TextError:
    return TextError(f"{path}: {what}: the index is damaged. Build it again: elmo index TEXT -o FOLDER --force")
