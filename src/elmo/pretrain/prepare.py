"""A corpus -> prepared data (the folder that `shards.py` describes).

The text is read once: words are numbered as they come. When all counts are known, a walk over the shards, numbers
only, puts the numbers in the order of frequency.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from elmo.errors import ConfigError
from elmo.pretrain.data_report import split_report, text_warnings, vocabulary_warnings
from elmo.pretrain.numbering import NumberedCorpus, OnBadLine, ReadSentences, number_corpus
from elmo.pretrain.shards import (
    BEGIN_SENTENCE_TYPE,
    END_SENTENCE_TYPE,
    FORMAT_VERSION,
    REPORT_FILE,
    TYPE_CHARACTERS_FILE,
    TYPE_COUNTS_FILE,
    TYPE_WORDS_FILE,
    TYPES_FILE,
    VOCABULARY_FILE,
    is_file_of_data,
    tokens_path,
)
from elmo.text.characters import CharacterMap
from elmo.text.sentences import STDIN, OnBadText, Tokenize, check_is_text_file, is_packed, read_sentences
from elmo.text.tokenizer import tokenizer as named_tokenizer
from elmo.text.vocabulary import Vocabulary
from elmo.weights.atomic import new_folder

TOKENS_PER_SHARD = 20_000_000

# Bytes of text in a byte of packed text, about.
_PACKED_RATIO = 4
_ROWS_AT_ONCE = 65_536

Splits = Mapping[str, Sequence[Path | str]]
OnProgress = Callable[[int, int], None]


def prepare(
    texts: Sequence[Path | str],
    folder: Path | str,
    *,
    vocabulary_size: int | None = None,
    min_count: int = 1,
    vocabulary: Path | str | None = None,
    valid: Sequence[Path | str] = (),
    test: Sequence[Path | str] = (),
    max_characters_per_token: int = 50,
    tokenizer: str | Tokenize = "whitespace",
    encoding: str = "utf-8",
    errors: OnBadText = "strict",
    tokens_per_shard: int = TOKENS_PER_SHARD,
    force: bool = False,
    progress: OnProgress | None = None,
) -> dict[str, Any]:
    """Makes prepared data in `folder` from text files with one sentence a line; gives the report, as in data.json.

    The vocabulary is that of the training text (`texts`): its `vocabulary_size` most frequent words (the three special
    ones included; None: all) that occur `min_count` times; or the file `vocabulary`, taken as it is.
    `valid` and `test` are prepared beside it, by the same vocabulary. Blank and skipped lines are left out and counted.
    `tokenizer`: a name known to `elmo.text.tokenizer`, or a function from a line to its tokens.
    `encoding`, `errors`: see `read_sentences`. `force`: whether prepared data in `folder` is replaced.
    `progress(done, total)` is told the bytes of all files now and then.
    Memory: one shard of about `tokens_per_shard` tokens (4 bytes each), and the distinct words.
    Raises ConfigError for impossible settings, TextError for texts that can't be read or have no token, OutputError if
    `folder` may not be replaced or the disk is full. In all cases `folder` is left as it was.
    """
    splits: Splits = {"train": list(texts), "valid": list(valid), "test": list(test)}
    splits = {name: files for name, files in splits.items() if files or name == "train"}
    settings = {
        "vocabulary_size": vocabulary_size,
        "min_count": min_count,
        "vocabulary": None if vocabulary is None else str(vocabulary),
        "max_characters_per_token": max_characters_per_token,
        "tokenizer": tokenizer if isinstance(tokenizer, str) else getattr(tokenizer, "__qualname__", repr(tokenizer)),
        "encoding": encoding,
        "errors": errors,
        "tokens_per_shard": tokens_per_shard,
    }
    folder = Path(folder)
    _check(splits, settings)
    given = None if vocabulary is None else Vocabulary.read(vocabulary)
    replaceable = frozenset(path.name for path in _entries(folder) if is_file_of_data(path.name))
    tokenize = named_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    read = _reader(tokenize, encoding, errors, _Progress(splits, progress))
    with new_folder(folder, size=_expected_bytes(splits), force=force, replaceable=replaceable) as unfinished:
        corpus = number_corpus(splits, unfinished, read, tokens_per_shard)
        report = {
            "format_version": FORMAT_VERSION,
            "settings": settings,
            **_finish(unfinished, corpus, settings, given),
        }
        (unfinished / REPORT_FILE).write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return report


def _check(splits: Splits, settings: Mapping[str, Any]) -> None:
    """Refuses now what would else be found after an hour of reading."""
    if not splits["train"]:
        raise ConfigError("there is no training text: no file was named. Name at least one: elmo prepare TEXT -o DATA")
    if sum(str(file) == STDIN for files in splits.values() for file in files) > 1:
        raise ConfigError("'-' is named twice, but standard input can be read only once. Put one text into a file.")
    if settings["vocabulary"] is not None and (settings["vocabulary_size"] is not None or settings["min_count"] != 1):
        raise ConfigError(
            "a vocabulary file is given together with a vocabulary size or minimum count, but the file is taken as it "
            "is. Give one or the other."
        )
    Vocabulary.from_counts({}, max_size=settings["vocabulary_size"], min_count=settings["min_count"])
    for name, least in (("max_characters_per_token", 3), ("tokens_per_shard", 1)):
        if settings[name] < least:
            raise ConfigError(f"{name} is {settings[name]}, but less than {least} holds nothing. Choose more.")
    for files in splits.values():
        for file in files:
            check_is_text_file(file)


def _entries(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _expected_bytes(splits: Splits) -> int:
    """About as many as the unpacked text has: 4 bytes a token, whose word and space are seldom fewer."""
    files = [Path(file) for files in splits.values() for file in files if str(file) != STDIN]
    return sum(file.stat().st_size * (_PACKED_RATIO if is_packed(file) else 1) for file in files)


class _Progress:
    """Bytes read of all files."""

    def __init__(self, splits: Splits, tell: OnProgress | None) -> None:
        files = [Path(file) for files in splits.values() for file in files if str(file) != STDIN]
        self.total = sum(file.stat().st_size for file in files)
        self.done = 0
        self.tell = tell

    def __call__(self, more: int) -> None:
        self.done += more
        if self.tell is not None:
            self.tell(self.done, self.total)


def _reader(tokenize: Tokenize, encoding: str, errors: OnBadText, progress: _Progress) -> ReadSentences:
    def read(file: Path | str, on_bad_line: OnBadLine):
        return read_sentences(
            file, encoding=encoding, errors=errors, tokenize=tokenize, on_bad_line=on_bad_line, on_progress=progress
        )

    return read


def _finish(
    folder: Path, corpus: NumberedCorpus, settings: Mapping[str, Any], given: Vocabulary | None
) -> dict[str, Any]:
    """Writes all but the shards, renumbers these, and gives the figures for the report."""
    order = _by_frequency(corpus)
    _renumber(folder, corpus, order)
    words = [corpus.words[number] for number in order.tolist()]
    counts = {split.name: split.counts(len(words))[order] for split in corpus.splits}
    word_counts = dict(zip(words, counts["train"].tolist(), strict=True))
    vocabulary = given
    if vocabulary is None:
        size, min_count = settings["vocabulary_size"], settings["min_count"]
        vocabulary = Vocabulary.from_counts(word_counts, max_size=size, min_count=min_count)
    characters = CharacterMap.for_bytes(settings["max_characters_per_token"])
    _write_types(folder, words, counts["train"], vocabulary, characters)
    return {
        "vocabulary_size": len(vocabulary),
        "types": len(words),
        "splits": {
            split.name: split_report(split, counts[split.name], words, vocabulary, characters)
            for split in corpus.splits
        },
        "bad_lines": corpus.bad_lines,
        "warnings": text_warnings(corpus.splits)
        + vocabulary_warnings(vocabulary, word_counts, settings["vocabulary_size"], given is not None),
    }


def _by_frequency(corpus: NumberedCorpus) -> np.ndarray:
    """(types,) int64: numbers by descending training count, ties by the words themselves, the boundaries first."""
    words, counts = corpus.words, corpus.splits[0].counts(len(corpus.words)).tolist()
    boundaries = [BEGIN_SENTENCE_TYPE, END_SENTENCE_TYPE]
    rest = sorted(range(len(boundaries), len(words)), key=lambda number: (-counts[number], words[number]))
    return np.array(boundaries + rest)


def _renumber(folder: Path, corpus: NumberedCorpus, order: np.ndarray) -> None:
    place = np.empty(len(order), dtype=np.uint32)
    place[order] = np.arange(len(order), dtype=np.uint32)
    for split in corpus.splits:
        for index in range(split.shards):
            tokens = np.lib.format.open_memmap(tokens_path(folder, split.name, index), mode="r+")
            tokens[:] = place[tokens]
            tokens.flush()


def _write_types(
    folder: Path, words: Sequence[str], counts: np.ndarray, vocabulary: Vocabulary, character_map: CharacterMap
) -> None:
    vocabulary.write(folder / VOCABULARY_FILE)
    (folder / TYPES_FILE).write_text(json.dumps(words), encoding="utf-8")
    np.save(folder / TYPE_WORDS_FILE, vocabulary.ids(words).astype(np.int32))
    np.save(folder / TYPE_COUNTS_FILE, counts)
    shape = (len(words), character_map.max_characters_per_token)
    rows = np.lib.format.open_memmap(folder / TYPE_CHARACTERS_FILE, mode="w+", dtype=np.int16, shape=shape)
    for start in range(0, len(words), _ROWS_AT_ONCE):
        rows[start : start + _ROWS_AT_ONCE] = character_map.ids(words[start : start + _ROWS_AT_ONCE])
    rows.flush()
