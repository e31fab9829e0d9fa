"""Run: a call of `embed_corpus` when all is checked and planned: embeds the windows that are missing, and joins all."""

import json
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from elmo.disk.output import free_bytes, is_disk_full
from elmo.embed.corpus.part_makers import part_maker
from elmo.embed.corpus.places import require_free_files, require_space
from elmo.embed.corpus.planned_text import PlannedText, StopAsked
from elmo.embed.corpus.vectors_folder import Parts, VectorsFolder, run_hash
from elmo.embed.embedder import Embedder
from elmo.embed.results.pooling import Pool
from elmo.embed.storage.layout import FileFormat, StoredType, VectorLayout
from elmo.embed.storage.readers import read_vectors
from elmo.embed.storage.text_columns import TextColumns
from elmo.embed.storage.writers import COMPRESSION, FileContent, put_in_place
from elmo.errors import ElmoError, Interrupted, OutputError
from elmo.layer_choice import LayerChoice, Layers
from elmo.process.progress.report import Count, Progress
from elmo.shapes import Float, Int
from elmo.text.reading.placed import PlacedSentence
from elmo.version import __version__


@dataclass(frozen=True)
class WantedFile:
    """What the file is to have."""

    layers: Layers
    pool: Pool | None
    format: FileFormat
    store: StoredType
    is_compressed: bool
    columns: TextColumns


@dataclass(frozen=True)
class Run:
    """One call, when all is checked and planned."""

    embedder: Embedder
    text: PlannedText
    folder: VectorsFolder
    wanted: WantedFile
    workers: int
    force: bool
    progress: Progress
    stop_asked: StopAsked | None
    lock: int | None
    """The descriptor that holds the folder."""

    def make(self, *, resume: bool) -> dict[str, Any]:
        """Makes the file, from the parts of an earlier run where they can be kept, and reports."""
        started, kept = time.perf_counter(), self.text.windows
        if not (resume and self._is_made()):
            # Only a run that was killed while it put its file in place has left something of its own there.
            if not self.force and not (self.folder.is_begun and self.folder.joined.exists()):
                require_free_files(self.folder.output, self.wanted.format)
            self.folder.require_same(self.settings)
            kept = self.parts.kept(self.progress, in_order=self._carries) if resume else []
            overhead, done = self.content.overhead_bytes, self._bytes_of(kept)
            require_space(self.folder.path, self.layout, overhead=overhead, done=done)
            with self._disk_full_explained([]):
                self.folder.begin(self.settings)
            self._embed(kept)
            self._join()
        self.folder.clear()
        text, seconds = self.text, time.perf_counter() - started
        return {
            "output": str(self.folder.output),
            "lines": len(text.lengths),
            "tokens": text.num_tokens,
            "blank_lines": text.num_blank_rows,
            "bad_lines": text.bad_lines,
            "bytes": self.folder.output.stat().st_size,
            "resumed_at_line": sum(map(len, kept)),
            "seconds": round(seconds, 3),
            "tokens_per_second": round((text.num_tokens - self._tokens_of(kept)) / max(seconds, 1e-9), 1),
            "metadata": dict(self.content.metadata),
        }

    @property
    def _carries(self) -> bool:
        return self.embedder.state == "carry"

    def _tokens_of(self, windows: list[range]) -> int:
        return sum(int(self.text.lengths[window.start : window.stop].sum()) for window in windows)

    def _bytes_of(self, windows: list[range]) -> int:
        """Of their vectors, as they are stored."""
        return sum(int(self.layout.lengths[it.start : it.stop].sum()) for it in windows) * self.layout.bytes_per_token

    def _is_made(self) -> bool:
        """Whether this run's output is already complete and in place."""
        try:
            with read_vectors(self.folder.output, self.wanted.format) as vectors:
                is_whole = len(vectors) == len(self.text.lengths)
                return is_whole and vectors.metadata.get("run") == self.content.metadata["run"]
        except (ElmoError, OSError, ValueError):
            return False

    def _embed(self, kept: list[range]) -> None:
        """Embeds the windows that are not kept."""
        embedder, text, parts = self.embedder, self.text, self.parts
        missing = set(text.windows).difference(kept)
        if not missing:
            return
        if self._carries:
            embedder.load_state_dict(parts.state(kept[-1]) if kept else {})
        done = list(kept)
        embedded = Count(self.progress, "embedding", text.num_tokens, "tokens", done=self._tokens_of(kept))
        rows = iter(text.rows)

        def written(window: range) -> None:
            done.append(window)
            embedded.add(self._tokens_of([window]))

        makers = part_maker(
            min(self.workers, len(missing)),
            embedder,
            {"layers": self.wanted.layers, "pool": self.wanted.pool},
            written,
            () if self.lock is None else (self.lock,),
        )
        with self._disk_full_explained(done), makers as maker:
            for window in text.windows:
                group = list(islice(rows, len(window)))
                if window not in missing:
                    continue
                if self.stop_asked is not None and self.stop_asked():
                    maker.finish()
                    raise Interrupted(self._interrupted(window.start))
                maker.make(parts, window, [row.tokens for row in group])
            maker.finish()

    def _join(self) -> None:
        """Writes the file and puts it in its place."""
        needed = self.layout.num_bytes + self.content.overhead_bytes
        # Without room for all vectors twice, each part makes room for the next: a run killed now embeds it again.
        is_tight = free_bytes(self.folder.path) < needed
        with self._disk_full_explained([]):
            self.folder.clear_joined()
            self._content(remove=is_tight).write(self.wanted.format, self.folder.joined)
            put_in_place(self.folder.joined, self.folder.output, self.wanted.format, force=self.force)

    def _interrupted(self, row: int) -> str:
        return (
            f"{self.folder.output}: interrupted after row {row:,} of {len(self.text.lengths):,}. What is finished "
            f"is kept in {self.folder.path}. Continue with the same command and --resume."
        )

    @contextmanager
    def _disk_full_explained(self, done: list[range]) -> Iterator[None]:
        """Turns the error of a full disk into an OutputError with the bytes that all windows but `done` need."""
        try:
            yield
        except OSError as error:
            if not is_disk_full(error):
                raise
            resume = "run the same command with --resume" if self.folder.is_begun else "run it again"
            needed = self.layout.num_bytes - self._bytes_of(done)
            free = shutil.disk_usage(self.folder.path).free
            raise OutputError(
                f"{self.folder.path}: the disk is full: {needed:,} more bytes are needed, {free:,} are free. What is "
                f"finished is kept: free some space, then {resume}."
            ) from error

    @cached_property
    def layout(self) -> VectorLayout:
        """The shapes of what is stored."""
        num_layers = self.embedder.num_layers if self._choice.keeps_all else None
        lengths = self._lengths if self.wanted.pool is None else np.ones_like(self._lengths)
        return VectorLayout(
            lengths, num_layers, self.embedder.layer_dim, self.wanted.store, self.wanted.pool is not None
        )

    @cached_property
    def _lengths(self) -> Int[np.ndarray, " rows"]:
        """Tokens of each row: with boundaries kept, even a blank line has two."""
        return self.text.lengths + (2 if self.embedder.keep_boundaries else 0)

    @cached_property
    def parts(self) -> Parts:
        """The files of the windows."""
        return Parts(self.folder.path, run_hash(self.settings), self.layout, self.text.windows)

    @cached_property
    def content(self) -> FileContent:
        """What the file will have."""
        return self._content(remove=False)

    def _content(self, *, remove: bool) -> FileContent:
        """`remove`: whether each part is removed when it has been read."""
        index: dict[str, str] | None = {} if self._has_sentence_index else None

        def rows() -> Iterator[PlacedSentence]:
            for number, row in enumerate(self.text.rows):
                if index is not None and row.tokens:  # as AllenNLP: of equal sentences the last one's row
                    index[row.text.strip()] = str(number)
                yield row

        def windows() -> Iterator[list[Float[np.ndarray, "*layers tokens dim"]]]:
            for window in self.text.windows:
                yield self.parts.arrays(window)
                if remove:
                    self.parts.remove(window)

        return FileContent(
            self.layout, self._metadata, self.wanted.columns, rows, lambda: index, windows, self._lengths
        )

    @cached_property
    def _choice(self) -> LayerChoice:
        return LayerChoice.of(self.wanted.layers, self.embedder.num_layers)

    @property
    def _has_sentence_index(self) -> bool:
        """Whether the file holds each sentence's row: AllenNLP's does, if the words may be in it."""
        return self.wanted.format == "hdf5" and self.wanted.columns.has_tokens and not self.wanted.columns.has_ids

    @cached_property
    def settings(self) -> dict[str, Any]:
        """All that decides the file's content: a resumed run must have the same."""
        source, reading, embedder = self.text.source, self.text.source.reading, self.embedder
        return self._facts | {
            "format": self.wanted.format,
            "sentence_index": str(self._has_sentence_index),
            "text_sha256": self.text.sha256,
            "text_bytes": self.text.num_bytes,
            "encoding": reading.encoding,
            "errors": reading.errors,
            "text_formats": source.formats,
            "field": reading.field,
            "plain_marks": {chr(mark): plain for mark, plain in source.marks.items()},
            "window_lines": self.text.limits[0],
            "window_tokens": self.text.limits[1],
            "max_tokens": embedder.max_tokens,
            "device": embedder.device.partition(":")[0],
            "products": embedder.products,
            **({} if source.code is None else {"tokenizer_code": source.code}),
        }

    @cached_property
    def _facts(self) -> dict[str, str]:
        """No dates, and names only of several files, so that equal runs give equal files."""
        embedder, files = self.embedder, self.wanted.columns.files
        return (
            ({"files": json.dumps(files)} if files else {})
            | ({} if self.wanted.columns.has_tokens else {"words": "left out"})
            | ({"rows": "ids"} if self.wanted.columns.has_ids else {})
            | ({} if self.wanted.pool is None else {"pool": self.wanted.pool})
            | ({"compression": COMPRESSION} if self.wanted.is_compressed else {})
            | {
                "elmo_version": __version__,
                "model_hash": embedder.model_hash,
                "layers": self._choice.name,
                "num_layers": str(embedder.num_layers),
                "dim": str(embedder.layer_dim),
                "state": embedder.state if embedder.state_hash is None else f"{embedder.state} {embedder.state_hash}",
                "dtype": embedder.dtype,
                "store": self.wanted.store,
                "tokenizer": self.text.source.tokenizer_name,
                "sentences": self.text.source.reading.sentences,
                "keep_boundaries": str(embedder.keep_boundaries),
            }
        )

    @cached_property
    def _metadata(self) -> Mapping[str, str]:
        """What the file holds about itself."""
        return self._facts | {"run": run_hash(self.settings)}
