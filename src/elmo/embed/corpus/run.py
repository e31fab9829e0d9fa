"""Run: a call of `embed_corpus` when all is checked and planned: begins or resumes, embeds windows, and finishes."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from elmo.embed.corpus.background_writer import BackgroundWriter
from elmo.embed.corpus.disk_space import disk_full, require_space
from elmo.embed.corpus.partial_folder import DamagedFolder, PartialFolder, Position, Window
from elmo.embed.corpus.places import require_free
from elmo.embed.corpus.plan import CorpusPlan, StopAsked
from elmo.embed.corpus.text_source import TextSource
from elmo.embed.embedder import Embedder
from elmo.embed.storage.layout import files_of
from elmo.embed.storage.readers import read_vectors
from elmo.embed.storage.writers import WRITERS, VectorWriter
from elmo.embed.windows import windows
from elmo.errors import ElmoError, Interrupted
from elmo.layer_choice import Layers
from elmo.process.progress.report import Count, Progress
from elmo.shapes import Float
from elmo.text.reading.placed import PlacedSentence

WORK_FILES = tuple(sorted({name for writer in WRITERS.values() for name in writer.work_files}))
"""What any writer may leave in the folder of work."""
WORK_FOLDERS = frozenset(writer.work_folder for writer in WRITERS.values() if writer.work_folder)
"""Which of them are folders."""


@dataclass
class Run:
    """One call, when all is checked and planned."""

    embedder: Embedder
    source: TextSource
    plan: CorpusPlan
    partial: PartialFolder
    writer: VectorWriter
    layers: Layers
    window: int | None
    force: bool
    progress: Progress
    stop_asked: StopAsked | None
    begun_anew: str | None = None
    left_behind: list[str] = field(default_factory=list)
    """What stays in the partial folder, because it isn't ours."""
    tokens_kept: int = 0
    started: float = field(default_factory=time.perf_counter)

    def make(self, settings: Mapping[str, Any], *, resume: bool) -> Position:
        """Makes the file, resuming an earlier run if asked; returns how far that run had come."""
        if resume and self._is_made():
            self.left_behind = self.partial.clear()
            return Position(len(self.plan.lengths), self.plan.num_tokens)
        # The folder is emptied only after the writer has closed its files.
        with closing(self.writer):
            before = self._begun(settings)
            self._require_space(done=before.tokens)
            with self._explained():
                self._embed_windows(before)
                self.writer.finish(self.partial.output, force=self.force)
        self.left_behind = self.partial.clear()
        return before

    def _begun(self, settings: Mapping[str, Any]) -> Position:
        """Begins the run, or finds how far an earlier one has come."""
        if self.embedder.state == "carry":
            self.embedder.reset()
        if not self.partial.is_begun:
            if not self.force:
                require_free(files_of(self.partial.output, self.writer.format))
            self._begin(settings)
        try:
            return self._trusted(settings)
        except DamagedFolder as error:
            if not self.force:
                raise
            self.begun_anew = str(error)
            self._begin_anew(settings)
            return Position()

    def report(self, before: Position) -> dict[str, Any]:
        """What was done."""
        plan, seconds = self.plan, time.perf_counter() - self.started
        report = {
            "output": str(self.partial.output),
            "lines": len(plan.lengths),
            "tokens": plan.num_tokens,
            "blank_lines": int((plan.lengths == 0).sum()) - self._num_bad_rows(),
            "bad_lines": plan.bad_lines,
            "bytes": self.partial.output.stat().st_size,
            "resumed_at_line": before.lines,
            "seconds": round(seconds, 3),
            "tokens_per_second": round((plan.num_tokens - before.tokens) / max(seconds, 1e-9), 1),
            "metadata": self.writer.metadata,
        }
        if self.begun_anew is not None:
            report["begun_anew"] = self.begun_anew
        if self.left_behind:
            report["left_behind"] = [str(self.partial.path / name) for name in self.left_behind]
        return report

    def _num_bad_rows(self) -> int:
        """Rows without tokens because a line is bad: several bad lines may be one row, or none."""
        rows = {row for row in self.plan.bad_rows if row - self.source.first < len(self.plan.lengths)}
        return sum(1 for row in rows if self.plan.lengths[row - self.source.first] == 0)

    def _is_made(self) -> bool:
        """Whether this run's output is already complete and in place."""
        output = self.partial.output
        try:
            with read_vectors(output, self.writer.format) as vectors:
                is_whole = len(vectors) == len(self.plan.lengths)
                return is_whole and vectors.metadata.get("run") == self.writer.metadata["run"]
        except (ElmoError, OSError, ValueError):
            return False

    def _begin(self, settings: Mapping[str, Any]) -> None:
        """Makes the file's structure."""
        self._require_space(done=0)
        with self._explained():
            facts = self.writer.create(self.plan.sentence_index, self.source.rows_from(0, self.plan.lengths))
            self.partial.begin({"settings": dict(settings), "structure": facts})

    def _begin_anew(self, settings: Mapping[str, Any]) -> None:
        self.writer.close()
        self.partial.empty(keep_input=True)
        self._begin(settings)

    def _require_space(self, done: int) -> None:
        layout, writer = self.writer.layout, self.writer
        overhead = writer.overhead_bytes(self.plan.sentence_index)
        bytes_done = overhead + done * layout.bytes_per_token if done else 0
        require_space(self.partial.path, layout, copies=writer.copies, overhead=overhead, done=bytes_done)

    def _trusted(self, settings: Mapping[str, Any]) -> Position:
        """Compares everything on disk with its checksum; returns how far the file is finished."""
        partial = self.partial
        manifest = partial.manifest()
        partial.require_same(manifest.get("settings", {}), settings)
        try:
            if changed := self.writer.what_changed(manifest.get("structure", {})):
                raise partial.damaged(changed)
            before, finished = partial.finished(self.plan.lengths)
            self._check_windows(finished)
            if self.embedder.state == "carry":
                self.embedder.load_state_dict(partial.state(finished))
        except DamagedFolder:
            raise
        except OSError as error:
            raise partial.damaged(f"{Path(str(error.filename)).name} can't be used: {error.strerror}") from None
        return before

    def _check_windows(self, finished: Sequence[Window]) -> None:
        if not finished:
            return
        first = 0
        checked = Count(self.progress, "checking", finished[-1].lines, "rows")
        for window in finished:
            if self.writer.window_checksum(first, window.lines) != window.sha256:
                raise self.partial.damaged(f"the vectors of rows {first + 1} to {window.lines} were changed")
            checked.add(window.lines - first)
            first = window.lines

    def _embed_windows(self, done: Position) -> None:
        embedder, carries = self.embedder, self.embedder.state == "carry"
        if done.lines == len(self.plan.lengths):
            return
        rows = self.source.rows_from(done.lines, self.plan.lengths)
        self._tell(done.tokens)
        lines, tokens = done.lines, done.tokens
        # Whatever happens, the window that is being written comes to its end before the file is closed.
        with _Keeper(self.partial, self.writer, done) as keeper:
            for group in windows(rows, *embedder.window_limits(self.window), length=_num_tokens):
                if self.stop_asked is not None and self.stop_asked():
                    keeper.wait()
                    raise Interrupted(self._interrupted(lines))
                arrays = embedder.embed([row.tokens for row in group], self.layers)
                state = embedder.state_dict() if carries else None
                keeper.wait()
                self._tell(tokens)
                self.tokens_kept = tokens
                first, lines, tokens = lines, lines + len(group), tokens + sum(map(_num_tokens, group))
                keeper.keep(first, group, arrays, tokens, state)
            keeper.wait()
            self._tell(tokens)

    def _tell(self, tokens: int) -> None:
        self.progress.show("embedding", tokens, self.plan.num_tokens, "tokens")

    def _interrupted(self, lines: int) -> str:
        return (
            f"{self.partial.output}: interrupted after row {lines:,} of {len(self.plan.lengths):,}. What is finished "
            f"is kept in {self.partial.path}. Continue with the same command and --resume."
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turns the error of a full disk into one that says how many bytes are needed and free."""
        try:
            yield
        except OSError as error:
            layout = self.writer.layout
            needed = self.writer.copies * layout.num_bytes - self.tokens_kept * layout.bytes_per_token
            resume = "run the same command with --resume" if self.partial.is_begun else "run it again"
            told = disk_full(error, self.partial.path, needed, resume)
            if told is None:
                raise
            raise told from error


class _Keeper:
    """Writes windows to disk in a thread of its own, one after the other, and notes each one once it is there."""

    def __init__(self, partial: PartialFolder, writer: VectorWriter, done: Position) -> None:
        self._partial = partial
        self._writer = writer
        self._done = done
        self._behind = BackgroundWriter()

    def keep(
        self,
        first: int,
        group: Sequence[PlacedSentence],
        arrays: Sequence[Float[np.ndarray, "*layers tokens dim"]],
        tokens: int,
        state: dict[str, Float[np.ndarray, "layers rows width"]] | None,
    ) -> None:
        """Starts writing the window whose first row is `first`; `tokens`: their number up to its end."""
        self._behind.start(self._keep, first, group, arrays, tokens, state)

    def wait(self) -> None:
        """Waits until the last window is on disk."""
        self._behind.wait()

    def _keep(
        self,
        first: int,
        group: Sequence[PlacedSentence],
        arrays: Sequence[Float[np.ndarray, "*layers tokens dim"]],
        tokens: int,
        state: dict[str, Float[np.ndarray, "layers rows width"]] | None,
    ) -> None:
        checksum = self._writer.write(first, group, arrays)
        self._done = self._partial.advance(self._done, Window(first + len(group), tokens, checksum), state)

    def __enter__(self) -> "_Keeper":
        return self

    def __exit__(self, *error: object) -> None:
        self._behind.__exit__(*error)


def _num_tokens(row: PlacedSentence) -> int:
    return len(row.tokens)
