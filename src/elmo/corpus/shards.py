"""Prepared data: a corpus as memory-mapped arrays, with the characters of each distinct word stored once.

    data.json                  format version, settings, report
    vocab.txt                  the words the language model predicts
    types.json                 all distinct words of all splits, by descending frequency in the training text; `<S>` and
                               `</S>` are types 0 and 1
    type_characters.npy        (types, characters) int16, the char CNN's input for each type
    type_words.npy             (types,) int32, the vocabulary id of what is predicted for each type
    type_counts.npy            (types,) int64, occurrences in the training text
    SPLIT-00000.tokens.npy     (tokens,) uint32, the types of all sentences end to end, without boundaries
    SPLIT-00000.offsets.npy    (sentences + 1,) int64, where each sentence begins in it
    sha256.json                the checksums of these files, compared when the data is opened

With a limit of 50 characters this is 4 bytes per token, where bilm-tf held 200, twice, in memory.
"""

import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from elmo.disk.arrays import ArraysError, mapped
from elmo.disk.json_file import read_record
from elmo.disk.sums import SUMS_FILE, has_sums, what_changed
from elmo.errors import ConfigError, TextError
from elmo.shapes import Int, Shaped, UInt32
from elmo.text.vocabulary import Vocabulary

FORMAT_VERSION = 1
REPORT_FILE = "data.json"
VOCABULARY_FILE = "vocab.txt"
TYPES_FILE = "types.json"
TYPE_CHARACTERS_FILE = "type_characters.npy"
TYPE_WORDS_FILE = "type_words.npy"
TYPE_COUNTS_FILE = "type_counts.npy"
BEGIN_SENTENCE_TYPE = 0
END_SENTENCE_TYPE = 1

# All distinct words of a text: some ten million.
_MAX_TYPES_BYTES = 1 << 31


def tokens_path(folder: Path, split: str, index: int) -> Path:
    """The file of the tokens of a split's shard."""
    return folder / f"{split}-{index:05}.tokens.npy"


def offsets_path(folder: Path, split: str, index: int) -> Path:
    """The file of the sentence offsets of a split's shard."""
    return folder / f"{split}-{index:05}.offsets.npy"


_FILE_OF_DATA = re.compile(
    r"data\.json|sha256\.json|vocab\.txt|types\.json|type_(?:characters|words|counts)\.npy|[a-z]+-\d{5,}\.(?:tokens|offsets)\.npy"
)


def is_file_of_data(name: str) -> bool:
    """Whether prepared data has files of this name."""
    return _FILE_OF_DATA.fullmatch(name) is not None


@dataclass(frozen=True)
class Shard:
    """A part of a split: whole sentences, none of them empty."""

    tokens: UInt32[np.ndarray, " tokens"] = field(repr=False)
    """Memory-mapped: the types of all sentences end to end, without boundaries."""
    offsets: Int[np.ndarray, " offsets"] = field(repr=False)
    """int64, memory-mapped, one more than there are sentences: sentence i is `tokens[offsets[i]:offsets[i + 1]]`."""

    @property
    def num_sentences(self) -> int:
        """Sentences of this shard."""
        return len(self.offsets) - 1

    @property
    def num_tokens(self) -> int:
        """Tokens of this shard, no boundaries counted."""
        return len(self.tokens)

    def sentence(self, index: int) -> UInt32[np.ndarray, " tokens"]:
        """The types of one sentence."""
        return self.tokens[self.offsets[index] : self.offsets[index + 1]]


@dataclass(frozen=True)
class TrainingData:
    """Prepared data, opened; large arrays are memory-mapped."""

    folder: Path
    vocabulary: Vocabulary
    type_characters: Int[np.ndarray, "types characters"] = field(repr=False)
    """int16, memory-mapped: the char CNN's input for each type."""
    type_words: Int[np.ndarray, " types"] = field(repr=False)
    """int32, memory-mapped: each type's id in `vocabulary`."""
    type_counts: Int[np.ndarray, " types"] = field(repr=False)
    """int64, memory-mapped: occurrences in the training text."""
    report: dict[str, Any] = field(repr=False)
    """What `elmo prepare` counted, as in data.json."""

    @classmethod
    def open(cls, folder: Path | str) -> "TrainingData":
        """Opens a folder made by `elmo prepare`; TextError if it is anything else, damaged, or of another version.

        Every file is read once, to compare its checksum: about a second for a gigabyte. Data that elmo 0.1.0 prepared
        has no checksums, which is a warning.
        """
        folder = Path(folder)
        report = read_report(folder)
        if changed := what_changed(folder):
            raise _damaged(folder, changed)
        if not has_sums(folder):
            warnings.warn(
                f"{folder}: has no checksums ({SUMS_FILE}), so a damaged value would go unseen: elmo 0.1.0 prepared "
                "the data, or the file was not copied with it. Copy it, too, or run 'elmo prepare' again.",
                stacklevel=2,
            )
        num_types = report["types"]
        limit = report["settings"]["max_characters_per_token"]
        return cls(
            folder,
            Vocabulary.read(folder / VOCABULARY_FILE),
            _load(folder / TYPE_CHARACTERS_FILE, "int16", (num_types, limit)),
            _load(folder / TYPE_WORDS_FILE, "int32", (num_types,)),
            _load(folder / TYPE_COUNTS_FILE, "int64", (num_types,)),
            report,
        )

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits there are: "train", and perhaps "valid" and "test"."""
        return tuple(self.report["splits"])

    @property
    def max_characters_per_token(self) -> int:
        """Characters kept of each token, the begin-of-word and end-of-word marks included."""
        return self.type_characters.shape[1]

    def num_tokens(self, split: str) -> int:
        """Tokens of a split, no boundaries counted."""
        return self.report["splits"][split]["tokens"]

    def num_sentences(self, split: str) -> int:
        """Sentences of a split."""
        return self.report["splits"][split]["sentences"]

    def shards(self, split: str) -> list[Shard]:
        """A split's shards, in the order of the text. ConfigError if there is no such split."""
        return [_load_shard(self.folder, split, index) for index in range(self.report["splits"][split]["shards"])]

    def types(self) -> list[str]:
        """All distinct words, in the order of their type ids."""
        return read_record(self.folder / TYPES_FILE, limit=_MAX_TYPES_BYTES)


def read_report(folder: Path) -> dict[str, Any]:
    """data.json of a folder made by `elmo prepare`. Raises TextError if the folder is anything else, or damaged."""
    path = folder / REPORT_FILE
    if not path.is_file():
        raise TextError(
            f"{folder} is not prepared data: it has no {REPORT_FILE}. Make it first: elmo prepare TEXT -o {folder}"
        )
    try:
        report = read_record(path)
        version = report["format_version"]
    except (ConfigError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(path, f"it isn't the report of 'elmo prepare' ({error!r})") from None
    if version != FORMAT_VERSION:
        raise _damaged(path, f"its format version is {version}, but this elmo reads {FORMAT_VERSION}")
    return report


def _load_shard(folder: Path, split: str, index: int) -> Shard:
    return Shard(_load(tokens_path(folder, split, index), "uint32"), _load(offsets_path(folder, split, index), "int64"))


def _load(path: Path, dtype: str, shape: tuple[int | None, ...] = (None,)) -> Shaped[np.ndarray, "*shape"]:
    try:
        return mapped(path, dtype, shape)
    except ArraysError as error:
        raise _damaged(path, f"it {error}") from None


def _damaged(path: Path, what: str) -> TextError:
    return TextError(
        f"{path}: {what}, so the prepared data is damaged or mixed from two, or of another version. "
        "Copy it again, or run 'elmo prepare' again."
    )
