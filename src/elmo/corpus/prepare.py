"""A corpus -> prepared data (the folder that `shards.py` describes).

    text files -> blocks -> parts            in several processes; each part is kept in `DATA.partial/` when it is made
    parts -> words and counts -> vocabulary  one walk over the parts
    parts -> shards                          another, which numbers the words by frequency

What comes out depends on the text and the settings alone: not on the number of processes, nor on interruptions.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from elmo.corpus.block_reader import BlockReader, Recipe
from elmo.corpus.blocks import BLOCK_BYTES, Block, read_blocks
from elmo.corpus.numbering import (
    NumberedCorpus,
    NumberedSplit,
    count_corpus,
    cut_warnings,
    split_report,
    text_warnings,
    vocabulary_warnings,
    write_shards,
)
from elmo.corpus.part_workers import part_maker
from elmo.corpus.parts import TEST, TRAIN, VALID, PartedText, PlacedPart, TextFile
from elmo.corpus.settings import CorpusSettings, Splits
from elmo.corpus.shards import (
    FORMAT_VERSION,
    REPORT_FILE,
    TYPE_CHARACTERS_FILE,
    TYPE_COUNTS_FILE,
    TYPE_WORDS_FILE,
    TYPES_FILE,
    VOCABULARY_FILE,
    is_file_of_data,
)
from elmo.corpus.work_folder import WorkFolder
from elmo.disk.atomic import new_folder
from elmo.disk.bounded import file_hash
from elmo.disk.output import is_disk_full
from elmo.disk.sums import write_sums
from elmo.errors import ConfigError, ElmoError, Interrupted, OutputError, TextError
from elmo.process.progress.report import Count, Progress, following
from elmo.process.stop_flag import StopFlag, StopRequested
from elmo.shapes import Int
from elmo.text.characters import CharacterMap
from elmo.text.files.text_file import is_packed, is_stream, text_name
from elmo.text.vocabulary import Vocabulary
from elmo.version import __version__

# Bytes of text in a byte of packed text, about.
_PACKED_RATIO = 4
_ROWS_AT_ONCE = 65_536

Texts = Path | str | Sequence[Path | str]


def prepare(
    texts: Texts,
    folder: Path | str,
    settings: CorpusSettings | None = None,
    *,
    valid: Texts = (),
    test: Texts = (),
    workers: int = 1,
    resume: bool = False,
    force: bool = False,
    progress: Progress | bool = False,
    stop_flag: StopFlag | None = None,
) -> dict[str, Any]:
    """Makes prepared data in `folder` from a text file, or several; returns the report, as in data.json.

    The vocabulary is that of the training text (`texts`). `valid` and `test`: held-out texts, prepared with the same
    vocabulary. Blank and skipped lines are left out and counted. `workers`: processes; the result doesn't depend on it.
    `resume`: continue what a killed run left in `FOLDER.partial/`. `force`: replace prepared data in `folder`, and
    start again if a run was killed. `progress`: receives the bytes that are read, and the parts of the text that are
    counted and written; True: bars on stderr.
    Memory: one shard (8 bytes per token), a few megabytes for each worker, the longest line, and the distinct words.
    Raises ConfigError for impossible settings, TextError for texts that can't be read or have no token, OutputError if
    `folder` may not be replaced or the disk is full, Interrupted if `stop_flag` was raised (resumable). In all cases
    `folder` is left as it was.
    """
    given = {TRAIN: texts, VALID: valid, TEST: test}
    splits = {name: [files] if isinstance(files, Path | str) else list(files) for name, files in given.items()}
    settings = settings or CorpusSettings()
    settings.check(splits, workers)
    settings = settings.with_vocabulary_file(progress)
    splits = {name: files for name, files in splits.items() if files}
    with following(progress) as reported:
        run = _Run(splits, settings, workers, stop_flag, reported)
        return run.make(Path(os.path.abspath(folder)), resume=resume, force=force)  # noqa: PTH100 - as in atomic.py


@dataclass
class _Run:
    """One call, after all checks."""

    splits: Splits
    settings: CorpusSettings
    workers: int
    stop_flag: StopFlag | None
    progress: Progress
    warnings: list[str] = field(default_factory=list)
    """What shows in the first lines."""

    def make(self, folder: Path, *, resume: bool, force: bool) -> dict[str, Any]:
        given = None if self.settings.vocabulary is None else Vocabulary.read(self.settings.vocabulary)
        work = WorkFolder(folder)
        resumed = resume and work.is_begun
        replaceable = frozenset(path.name for path in folder.glob("*") if is_file_of_data(path.name))
        # Parts and shards both have 4 bytes per token, whose word and space are seldom fewer.
        size = 2 * _expected_bytes(self.splits)
        # A run that was allowed to start may continue: it was checked then whether `folder` may be replaced.
        force_folder = force or resumed
        with work.held_for(self._plan(), resume=resume, force=force) as held_files, _kept_or_removed(work, resumed):
            with new_folder(folder, size=size, force=force_folder, replaceable=replaceable) as unfinished:
                report = self._fill(unfinished, work, held_files, given)
            work.clear()
        return report

    def _fill(self, folder: Path, work: WorkFolder, held_files: list[int], given: Vocabulary | None) -> dict[str, Any]:
        with _explained(work, folder):
            files, num_parts = self._make_parts(work, held_files)
            text = PartedText(files, num_parts, work.load, self.settings.valid_share or 0.0)
            corpus = count_corpus(self._each_part(text, "counting words"), self._names(), self._check)
            self._require_tokens(corpus, files)
            report = {
                "format_version": FORMAT_VERSION,
                "settings": self.settings.to_dict(),
                **self._finish(folder, text, corpus, given),
            }
            (folder / REPORT_FILE).write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
            write_sums(folder, sorted(path.name for path in folder.iterdir()))
        return report

    def _plan(self) -> dict[str, Any]:
        """Everything the parts depend on, and what else a user would expect to stay the same."""
        files = {name: [str(file) for file in files] for name, files in self.splits.items()}
        return {"version": __version__, "block_bytes": BLOCK_BYTES, "texts": files, **self.settings.to_dict()}

    def _names(self) -> list[str]:
        held_out = [VALID] if self.settings.valid_share is not None else []
        return [name for name in (TRAIN, VALID, TEST) if name in [*self.splits, *held_out]]

    def _check(self) -> None:
        if self.stop_flag is not None:
            self.stop_flag.check()

    def _make_parts(self, work: WorkFolder, held_files: list[int]) -> tuple[list[TextFile], int]:
        """Has all parts in `work`; the files, and the number of parts."""
        read = Count(self.progress, "reading", _bytes_on_disk(self.splits), "bytes")
        files: list[TextFile] = []
        index = 0
        with part_maker(self.workers, self._check, held_files) as maker:
            for split, paths in self.splits.items():
                for path in paths:
                    recipe = self.settings.recipe(path, for_training=split == TRAIN)
                    shares = split == TRAIN and self.settings.valid_share is not None
                    files.append(TextFile(len(files), str(path), split, index, shares))
                    blocks = read_blocks(
                        path,
                        recipe.border,
                        size=BLOCK_BYTES,
                        has_header=recipe.has_header,
                        lines_of=recipe.lines_of(path),
                        on_bytes=read.add,
                    )
                    for block in self._each_block(blocks):
                        if block.first_line == 1 and is_stream(path):
                            recipe = self.settings.seen(block, recipe)
                        if index == 0:
                            self._look_at(block, recipe)
                        if not work.has(index, block):
                            maker.submit(block, recipe, work.part_path(index))
                        index += 1
            maker.finish()
        read.finish()
        return files, index

    def _look_at(self, block: Block, recipe: Recipe) -> None:
        with contextlib.suppress(ElmoError):  # what can't be read is for those who read all of it
            self.warnings = BlockReader(block, replace(recipe, errors="skip"), self._check).warnings()

    def _each_block(self, blocks: Iterator[Block]) -> Iterator[Block]:
        """The blocks; a signal doesn't wait for what a pipe has yet to bring."""
        while True:
            try:
                with (self.stop_flag or StopFlag()).at_once():
                    block = next(blocks, None)
            except KeyboardInterrupt:
                self._check()
                raise
            if block is None:
                return
            yield block

    def _each_part(self, text: PartedText, what: str) -> Iterator[PlacedPart]:
        return Count(self.progress, what, text.num_parts, "parts").each(text)

    def _require_tokens(self, corpus: NumberedCorpus, files: Sequence[TextFile]) -> None:
        for split in corpus.splits.values():
            if split.tokens:
                continue
            names = ", ".join(text_name(file.path) for file in files if file.split == split.name) or "text held out"
            raise TextError(
                f"{names}: the {split.name} text has no token ({split.blank_lines} blank lines, {split.bad_lines} bad "
                "ones). Check the step that made it; if it is held out, set --documents, or another --valid-share."
            )

    def _finish(
        self, folder: Path, text: PartedText, corpus: NumberedCorpus, given: Vocabulary | None
    ) -> dict[str, Any]:
        """Writes all files but the report, and gives the figures for it."""
        order = corpus.frequency_order(TRAIN)
        words = list(corpus.numbers)
        words = [words[number] for number in order.tolist()]
        counts = {name: split.counts(len(words))[order] for name, split in corpus.splits.items()}
        word_counts = dict(zip(words, counts[TRAIN].tolist(), strict=True))
        vocabulary = given or self.settings.vocabulary_of(word_counts)
        parts = self._each_part(text, "writing shards")
        write_shards(parts, corpus, order, folder, self.settings.tokens_per_shard, self._check)
        characters = CharacterMap.for_bytes(self.settings.max_characters_per_token)
        _write_types(folder, words, counts[TRAIN], vocabulary, characters)
        # Not of standard input and pipes, which can be read only once.
        hashes = {file.path: file_hash(Path(file.path)) for file in text.files if Path(file.path).is_file()}
        files = {name: _files_of(split, text.files, hashes, corpus) for name, split in corpus.splits.items()}
        reports = {
            name: split_report(split, files[name], counts[name], words, vocabulary, characters)
            for name, split in corpus.splits.items()
        }
        return {
            "vocabulary_size": len(vocabulary),
            "types": len(words),
            "splits": reports,
            "bad_lines": corpus.bad_lines,
            "warnings": self.warnings
            + text_warnings(corpus.splits, files, is_shared=self.settings.valid_share is not None)
            + cut_warnings(reports, characters.max_kept)
            + vocabulary_warnings(vocabulary, word_counts, self.settings.least_vocab_size, given is not None),
        }


def _regular_files(splits: Splits) -> list[Path]:
    """Neither standard input nor pipes, whose size nobody knows and which can be read only once."""
    return [Path(file) for files in splits.values() for file in files if Path(file).is_file()]


def _bytes_on_disk(splits: Splits) -> int | None:
    """Of all files; None if some are streams."""
    files = _regular_files(splits)
    return sum(file.stat().st_size for file in files) if len(files) == sum(map(len, splits.values())) else None


def _expected_bytes(splits: Splits) -> int:
    """About as many as the unpacked text has."""
    return sum(file.stat().st_size * (_PACKED_RATIO if is_packed(file) else 1) for file in _regular_files(splits))


@contextlib.contextmanager
def _kept_or_removed(work: WorkFolder, resumed: bool) -> Iterator[None]:
    """Keeps the parts if another run can use them; after an error in texts or settings none can."""
    try:
        yield
    except StopRequested:
        raise Interrupted(
            f"{work.output}: interrupted before it was finished. What is done is kept in {work.path}. Continue with "
            "the same command and --resume."
        ) from None
    except ElmoError as error:
        if not resumed and (isinstance(error, TextError | ConfigError) or not work.has_parts):
            work.clear()
        raise


@contextlib.contextmanager
def _explained(work: WorkFolder, folder: Path) -> Iterator[None]:
    """Turns the error of a full disk into one with figures and the next step."""
    try:
        yield
    except OSError as error:
        # numpy's `tofile` gives no number when the disk takes only a part.
        if error.errno is not None and not is_disk_full(error):
            raise
        written = sum(path.stat().st_size for path in [*work.path.iterdir(), *folder.iterdir()])
        raise OutputError(
            f"{error.filename or work.path}: can't be written: {error.strerror or error}; {written:,} bytes were "
            f"written, {shutil.disk_usage(work.path).free:,} are free, and about 8 are needed for each token. What "
            f"is done is kept in {work.path}: free some space, then continue with the same command and --resume."
        ) from error


def _files_of(
    split: NumberedSplit, files: Sequence[TextFile], hashes: Mapping[str, str], corpus: NumberedCorpus
) -> list[dict[str, Any]]:
    """The files with tokens in a split, and those given for it that have none at all."""
    return [
        {"path": file.path, "sha256": hashes.get(file.path), "tokens": split.file_tokens[file.number]}
        for file in files
        if split.file_tokens[file.number]
        or (file.split == split.name and not any(other.file_tokens[file.number] for other in corpus.splits.values()))
    ]


def _write_types(
    folder: Path,
    words: Sequence[str],
    counts: Int[np.ndarray, " types"],
    vocabulary: Vocabulary,
    character_map: CharacterMap,
) -> None:
    vocabulary.write(folder / VOCABULARY_FILE)
    (folder / TYPES_FILE).write_text(json.dumps(words), encoding="utf-8")
    np.save(folder / TYPE_WORDS_FILE, vocabulary.ids(words).astype(np.int32))
    np.save(folder / TYPE_COUNTS_FILE, counts)
    shape = (len(words), character_map.max_characters_per_token)
    # A full disk is an error here, while it would end a process that writes to mapped memory.
    with (folder / TYPE_CHARACTERS_FILE).open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<i2", "fortran_order": False, "shape": shape})
        for start in range(0, len(words), _ROWS_AT_ONCE):
            file.write(character_map.ids(words[start : start + _ROWS_AT_ONCE]).astype("<i2").data)
