"""embed_corpus: a text file -> a file of vectors, in constant memory, resumable after any kind of end.

check_places   nothing is in the way, and the text is not its own output
plan_corpus    once over the text: tokens of each line, bad lines, hash
VectorWriter   the file's structure, in OUTPUT.partial/
windows        embed one, and while the next is embedded write it, sync it, note it; they depend on the text alone,
               so that a resumed run computes the very same batches and its file has the very same vectors
finish         rename the file to OUTPUT, whole
"""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import numpy as np

from elmo.embed.corpus.background_writer import OneBehind
from elmo.embed.corpus.disk_space import disk_full, require_space
from elmo.embed.corpus.partial_folder import DamagedFolder, PartialFolder, Progress, Window
from elmo.embed.corpus.places import check_places, require_free
from elmo.embed.corpus.plan import CorpusPlan, OnProgress, StopAsked, TextSource, plan_corpus
from elmo.embed.embedder import Embedder
from elmo.embed.layer_choice import LayerChoice, Layers
from elmo.embed.storage.layout import FileFormat, StoredType, VectorLayout, files_of
from elmo.embed.storage.readers import read_vectors
from elmo.embed.storage.writers import WRITERS, VectorWriter
from elmo.embed.windows import windows
from elmo.errors import ConfigError, ElmoError, Interrupted
from elmo.text.sentence_checks import checked_count
from elmo.text.sentences import OnBadText, Tokenize
from elmo.text.text_file import is_stream
from elmo.version import __version__

_WORK_FILES = tuple(sorted({name for writer in WRITERS.values() for name in writer.work_files}))


def embed_corpus(
    embedder: Embedder,
    text: Path | str,
    output: Path | str,
    *,
    layers: Layers = "all",
    format: str | None = None,
    store: StoredType = "float32",
    encoding: str = "utf-8",
    errors: OnBadText = "strict",
    tokenizer: str | Tokenize = "whitespace",
    window: int | None = None,
    forget_sentences: bool = False,
    resume: bool = False,
    force: bool = False,
    progress: OnProgress | None = None,
    stop_asked: StopAsked | None = None,
) -> dict[str, Any]:
    """Embeds a text, one sentence a line, into a file with one array for each line; gives a report.

    `text`: plain or packed (.gz, .xz, .bz2, .zst); "-" is standard input. What can be read only once, that or a pipe,
    is kept in OUTPUT.partial until the end.
    `output`: HDF5, Parquet or npy by its ending, or as `format` says; `store`: what the numbers are stored as.
    `layers`: see `Embedder.embed`. `tokenizer`: a name known to `elmo.text.tokenizer`, or a function.
    `errors`: "strict" stops at a line that is not in `encoding`; "skip" lists it in the report and gives it, like a
    blank line, an array of length 0, so that line numbers stay true.
    `window`: lines taken at a time (default 512, fewer if they are long); in carry mode the rows of a batch (64): line
    k then continues line k - window, and the first window starts from nothing.
    `forget_sentences`: leave the sentences out of an HDF5 file; they are all in memory otherwise.
    `resume`: go on where a killed run ended, if there was one, after every checksum of what it left was compared; if
    it was killed at its very end, there is nothing left to do. `force`: replace a finished file; begin anew. Both: go
    on, or begin anew if what is there can't be trusted (then the report's `begun_anew` says why).
    `progress(what, done, total)` is called for "reading" in bytes, "checking" (what is resumed) in lines, and
    "embedding" in tokens; `stop_asked()` is asked before each window whether to stop there.
    The report has lines, tokens, blank_lines, bad_lines (messages), bytes, seconds, tokens_per_second.
    Raises TextError, ConfigError (also if text and output are one file), OutputError (it exists, another process is at
    work on it, what is to be resumed is damaged, the disk is or will be full), Interrupted (resumable).
    """
    _check(store, window)
    output = Path(output)
    file_format = check_places(text, output, format, resume=resume, force=force)
    choice = LayerChoice.of(layers, embedder.num_layers)
    partial = PartialFolder(output, _WORK_FILES)
    source = TextSource(partial.input if is_stream(text) else Path(text), encoding, errors, tokenizer, str(text))
    with_sentences = file_format == "hdf5" and not forget_sentences
    with partial.held():
        _make_room(partial, file_format, needs_input=is_stream(text), resume=resume, force=force)
        if is_stream(text) and not partial.is_begun:
            partial.spool(text)
        plan = plan_corpus(source, with_sentences=with_sentences, progress=progress, stop_asked=stop_asked)
        num_layers = embedder.num_layers if choice.keeps_all else None
        # With boundaries kept, even a blank line has two vectors.
        lengths = plan.lengths + (2 if embedder.keep_boundaries else 0)
        layout = VectorLayout(lengths, num_layers, embedder.layer_dim, store)
        metadata = _metadata(embedder, source, choice, store)
        settings = metadata | {"format": file_format, "sentences": str(with_sentences)}
        settings |= _settings(embedder, source, plan, window)
        metadata["run"] = _hash_of(settings)
        writer = WRITERS[file_format](partial.path, layout, metadata)
        run = _Run(embedder, source, plan, partial, writer, layers, window, force, progress, stop_asked)
        return run.report(run.make(settings, resume=resume))


@dataclass
class _Run:
    """One call, when all is checked and planned."""

    embedder: Embedder
    source: TextSource
    plan: CorpusPlan
    partial: PartialFolder
    writer: VectorWriter
    layers: Layers
    window: int | None
    force: bool
    progress: OnProgress | None
    stop_asked: StopAsked | None
    begun_anew: str | None = None
    tokens_kept: int = 0
    started: float = field(default_factory=time.perf_counter)

    def make(self, settings: Mapping[str, Any], *, resume: bool) -> Progress:
        """Has the file in its place; gives how far an earlier run had come."""
        if resume and self._is_made():
            self.partial.empty()
            return Progress(len(self.plan.lengths), self.plan.num_tokens)
        # The folder is emptied only after the writer has closed its files.
        with closing(self.writer):
            before = self._begun(settings)
            self._require_space(done=before.tokens)
            with self._explained():
                self._embed_windows(before)
                self.writer.finish(self.partial.output, force=self.force)
        self.partial.empty()
        return before

    def _begun(self, settings: Mapping[str, Any]) -> Progress:
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
            return Progress()

    def report(self, before: Progress) -> dict[str, Any]:
        """What was done."""
        plan, seconds = self.plan, time.perf_counter() - self.started
        report = {
            "output": str(self.partial.output),
            "lines": len(plan.lengths),
            "tokens": plan.num_tokens,
            "blank_lines": int((plan.lengths == 0).sum()) - len(plan.bad_lines),
            "bad_lines": plan.bad_lines,
            "bytes": self.partial.output.stat().st_size,
            "resumed_at_line": before.lines,
            "seconds": round(seconds, 3),
            "tokens_per_second": round((plan.num_tokens - before.tokens) / max(seconds, 1e-9), 1),
            "metadata": self.writer.metadata,
        }
        return report if self.begun_anew is None else report | {"begun_anew": self.begun_anew}

    def _is_made(self) -> bool:
        """Whether the output is this very run's: killed after its last step, or never."""
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
            facts = self.writer.create(self.plan.sentence_index)
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

    def _trusted(self, settings: Mapping[str, Any]) -> Progress:
        """How far the file is finished, when everything that is there was compared with its checksum."""
        partial = self.partial
        manifest = partial.manifest()
        partial.require_same(manifest.get("settings", {}), settings)
        try:
            if changed := self.writer.what_changed(manifest.get("structure", {})):
                raise partial.damaged(changed)
            before, windows = partial.finished(self.plan.lengths)
            self._check_windows(windows)
            if self.embedder.state == "carry":
                self.embedder.load_state_dict(partial.state(windows))
        except DamagedFolder:
            raise
        except OSError as error:
            raise partial.damaged(f"{Path(str(error.filename)).name} can't be used: {error.strerror}") from None
        return before

    def _check_windows(self, windows: Sequence[Window]) -> None:
        first = 0
        for window in windows:
            if self.writer.window_checksum(first, window.lines) != window.sha256:
                raise self.partial.damaged(f"the vectors of lines {first + 1} to {window.lines} were changed")
            first = window.lines
            if self.progress is not None:
                self.progress("checking", first, windows[-1].lines)

    def _embed_windows(self, done: Progress) -> None:
        embedder, carries = self.embedder, self.embedder.state == "carry"
        if done.lines == len(self.plan.lengths):
            return
        sentences = self.source.sentences_from(done.lines, self.plan.lengths)
        self._tell(done.tokens)
        lines, tokens = done.lines, done.tokens
        # Whatever happens, the window that is being written comes to its end before the file is closed.
        with _Keeper(self.partial, self.writer, done) as keeper:
            for group in windows(sentences, *embedder.window_limits(self.window)):
                if self.stop_asked is not None and self.stop_asked():
                    keeper.wait()
                    raise Interrupted(self._interrupted(lines))
                arrays = embedder.embed(group, self.layers)
                state = embedder.state_dict() if carries else None
                keeper.wait()
                self._tell(tokens)
                self.tokens_kept = tokens
                first, lines, tokens = lines, lines + len(group), tokens + sum(map(len, group))
                keeper.keep(first, group, arrays, tokens, state)
            keeper.wait()
            self._tell(tokens)

    def _tell(self, tokens: int) -> None:
        if self.progress is not None:
            self.progress("embedding", tokens, self.plan.num_tokens)

    def _interrupted(self, lines: int) -> str:
        return (
            f"{self.partial.output}: interrupted after line {lines:,} of {len(self.plan.lengths):,}. What is finished "
            f"is kept in {self.partial.path}. Go on with the same command and --resume."
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """A full disk, said with figures."""
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
    """Brings windows to the disk in a thread of its own, one after the other, and notes each when it is there."""

    def __init__(self, partial: PartialFolder, writer: VectorWriter, done: Progress) -> None:
        self._partial = partial
        self._writer = writer
        self._done = done
        self._behind = OneBehind()

    def keep(
        self,
        first: int,
        group: Sequence[Sequence[str]],
        arrays: Sequence[np.ndarray],
        tokens: int,
        state: dict[str, np.ndarray] | None,
    ) -> None:
        """Begins with the window of the lines from `first` on; `tokens`: up to its end."""
        self._behind.start(self._keep, first, group, arrays, tokens, state)

    def wait(self) -> None:
        """Until the last window is on the disk."""
        self._behind.wait()

    def _keep(
        self,
        first: int,
        group: Sequence[Sequence[str]],
        arrays: Sequence[np.ndarray],
        tokens: int,
        state: dict[str, np.ndarray] | None,
    ) -> None:
        checksum = self._writer.write(first, group, arrays)
        self._done = self._partial.advance(self._done, Window(first + len(group), tokens, checksum), state)

    def __enter__(self) -> "_Keeper":
        return self

    def __exit__(self, *error: object) -> None:
        self._behind.__exit__(*error)


def _check(store: str, window: int | None) -> None:
    if store not in get_args(StoredType):
        raise ConfigError(f"store is {store!r}, but vectors are stored as: {', '.join(get_args(StoredType))}.")
    if window is not None:
        checked_count(window, "window", "lines taken at a time")


def _metadata(embedder: Embedder, source: TextSource, choice: LayerChoice, store: str) -> dict[str, str]:
    """What the file says of itself; no dates and no paths, so that equal runs give equal files."""
    return {
        "elmo_version": __version__,
        "model_hash": embedder.model_hash,
        "layers": choice.name,
        "num_layers": str(embedder.num_layers),
        "dim": str(embedder.layer_dim),
        "state": embedder.state if embedder.state_hash is None else f"{embedder.state} {embedder.state_hash}",
        "dtype": embedder.dtype,
        "store": store,
        "tokenizer": source.tokenizer_name,
        "keep_boundaries": str(embedder.keep_boundaries),
    }


def _settings(embedder: Embedder, source: TextSource, plan: CorpusPlan, window: int | None) -> dict[str, Any]:
    """All that decides the file's content beside its metadata: a resumed run must have the same."""
    limits = embedder.window_limits(window)
    return {
        "text_sha256": plan.sha256,
        "text_bytes": plan.num_bytes,
        "encoding": source.encoding,
        "errors": source.errors,
        "window_lines": limits[0],
        "window_tokens": limits[1],
        "max_tokens": embedder.max_tokens,
        "device": embedder.device.partition(":")[0],
        "products": embedder.products,
    }


def _hash_of(settings: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode("ascii")).hexdigest()


def _make_room(
    partial: PartialFolder, file_format: FileFormat, *, needs_input: bool, resume: bool, force: bool
) -> None:
    """Empties the folder unless it is to be resumed; OutputError if that is not allowed."""
    if resume and partial.is_begun:
        try:
            partial.require_plain(needs_input=needs_input)
            return
        except DamagedFolder:
            if not force:
                raise
    if not (resume or force):
        require_free(files_of(partial.output, file_format))
        if any(partial.path.iterdir()):
            partial.require_absent()
    partial.empty()
