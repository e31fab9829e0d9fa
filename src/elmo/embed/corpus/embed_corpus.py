"""embed_corpus: a text file -> a file of vectors, in constant memory, resumable after any kind of end.

plan_corpus    once over the text: tokens of each line, bad lines, hash
VectorWriter   the file's structure, in OUTPUT.partial/
windows        embed one, and while the next is embedded write it, sync it, note it; they depend on the text alone,
               so that a resumed run computes the very same batches and its file has the very same vectors
finish         rename the file to OUTPUT, whole
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from elmo.embed.compute import products_by
from elmo.embed.corpus.background_writer import OneBehind
from elmo.embed.corpus.disk_space import disk_full, require_space
from elmo.embed.corpus.partial_folder import PartialFolder, Progress, sync_folder
from elmo.embed.corpus.plan import CorpusPlan, OnProgress, StopAsked, TextSource, plan_corpus
from elmo.embed.embedder import Embedder
from elmo.embed.layer_choice import LayerChoice, Layers
from elmo.embed.storage.layout import StoredType, VectorLayout, format_of
from elmo.embed.storage.writers import WRITERS, VectorWriter
from elmo.embed.windows import windows
from elmo.errors import ConfigError, Interrupted, OutputError
from elmo.text.sentences import STDIN, OnBadText, Tokenize, check_is_text_file
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

    `text`: plain or packed (.gz, .xz, .bz2); "-": standard input, which is kept in OUTPUT.partial until the end.
    `output`: HDF5, Parquet or npy by its ending, or as `format` says; `store`: what the numbers are stored as.
    `layers`: see `Embedder.embed`. `tokenizer`: a name known to `elmo.text.tokenizer`, or a function.
    `errors`: "strict" stops at a line that is not in `encoding`; "skip" lists it in the report and gives it, like a
    blank line, an array of length 0, so that line numbers stay true.
    `window`: lines taken at a time (default 512, fewer if they are long); in carry mode the rows of a batch (64): line
    k then continues line k - window, and the first window starts from nothing.
    `forget_sentences`: leave the sentences out of an HDF5 file; they are all in memory otherwise.
    `resume`: go on where a killed run ended, if there was one. `force`: replace a finished file; begin anew.
    `progress(what, done, total)` is told of "reading" in bytes and of "embedding" in tokens; `stop_asked()` is asked
    before each window whether to stop there.
    The report has lines, tokens, blank_lines, bad_lines (messages), bytes, seconds, tokens_per_second.
    Raises TextError, ConfigError, OutputError (it exists, the disk is or will be full), Interrupted (resumable).
    """
    _check(store, window)
    output = Path(output)
    file_format = format_of(output, format)
    choice = LayerChoice.of(layers, embedder.num_layers)
    check_is_text_file(text)
    partial = PartialFolder(output)
    _make_room(partial, resume=resume, force=force)
    source = TextSource(partial.input if str(text) == STDIN else Path(text), encoding, errors, tokenizer, str(text))
    with_sentences = file_format == "hdf5" and not forget_sentences
    with _left_clean(partial):
        _open_folder(partial, spool=str(text) == STDIN)
        plan = plan_corpus(source, with_sentences=with_sentences, progress=progress, stop_asked=stop_asked)
        num_layers = embedder.num_layers if choice.keeps_all else None
        # With boundaries kept, even a blank line has two vectors.
        lengths = plan.lengths + (2 if embedder.keep_boundaries else 0)
        layout = VectorLayout(lengths, num_layers, embedder.layer_dim, store)
        metadata = _metadata(embedder, source, choice, store)
        writer = WRITERS[file_format](partial.path, layout, metadata)
        run = _Run(embedder, source, partial, writer, layers, window, progress, stop_asked)
        manifest = run.manifest(plan, metadata | {"format": file_format, "sentences": str(with_sentences)})
        run.begin(plan, manifest)
    return run.finish(plan)


@dataclass
class _Run:
    """One call, when all is checked and planned."""

    embedder: Embedder
    source: TextSource
    partial: PartialFolder
    writer: VectorWriter
    layers: Layers
    window: int | None
    progress: OnProgress | None
    stop_asked: StopAsked | None

    def manifest(self, plan: CorpusPlan, settings: dict[str, str]) -> dict[str, Any]:
        """All that decides the file's content: a resumed run must have the same."""
        window = self.embedder.window_limits(self.window)
        return settings | {
            "text_sha256": plan.sha256,
            "text_bytes": plan.num_bytes,
            "encoding": self.source.encoding,
            "errors": self.source.errors,
            "window_lines": window[0],
            "window_tokens": window[1],
            "max_tokens": self.embedder.max_tokens,
            "device": self.embedder.bilm.device.type,
            "products": products_by(self.embedder.dtype, self.embedder.bilm.device),
        }

    def begin(self, plan: CorpusPlan, manifest: dict[str, Any]) -> None:
        """Makes the file's structure, or finds that an earlier run has made the same."""
        layout, writer = self.writer.layout, self.writer
        overhead = writer.overhead_bytes(plan.sentence_index)
        resumed = self.partial.is_begun
        if resumed:
            self.partial.require_same(manifest)
        done = overhead + self.partial.progress().tokens * layout.bytes_per_token if resumed else 0
        require_space(self.partial.path, layout, copies=writer.copies, overhead=overhead, done=done)
        if not resumed:
            with self._explained():
                writer.create(plan.sentence_index)
                self.partial.begin(manifest)

    def finish(self, plan: CorpusPlan) -> dict[str, Any]:
        """Embeds what is left, and puts the file in its place."""
        started, before = time.perf_counter(), self.partial.progress()
        if not self.writer.is_finished(self.partial.output, before.lines):
            with self._explained():
                self._embed_windows(before, plan)
                self.writer.finish(self.partial.output)
                sync_folder(self.partial.path.parent)
        num_bytes = self.partial.output.stat().st_size
        self.partial.remove(_WORK_FILES)
        seconds = time.perf_counter() - started
        return {
            "output": str(self.partial.output),
            "lines": len(plan.lengths),
            "tokens": plan.num_tokens,
            "blank_lines": int((plan.lengths == 0).sum()) - len(plan.bad_lines),
            "bad_lines": plan.bad_lines,
            "bytes": num_bytes,
            "resumed_at_line": before.lines,
            "seconds": round(seconds, 3),
            "tokens_per_second": round((plan.num_tokens - before.tokens) / max(seconds, 1e-9), 1),
            "metadata": self.writer.metadata,
        }

    def _embed_windows(self, done: Progress, plan: CorpusPlan) -> None:
        embedder, carries = self.embedder, self.embedder.state == "carry"
        if carries:
            embedder.load_state_dict(self.partial.state(done))
        sentences = self.source.sentences_from(done.lines, plan.lengths)
        self._tell(done, plan)
        # Whatever happens, the window that is being written comes to its end before the file is closed.
        with closing(self.writer), OneBehind() as keeping:
            for group in windows(sentences, *embedder.window_limits(self.window)):
                if self.stop_asked is not None and self.stop_asked():
                    keeping.wait()
                    raise Interrupted(self._interrupted(done, len(plan.lengths)))
                arrays = embedder.embed(group, self.layers)
                state = embedder.state_dict() if carries else None
                keeping.wait()
                self._tell(done, plan)
                after = Progress(done.lines + len(group), done.tokens + sum(map(len, group)))
                keeping.start(self._keep, done.lines, group, arrays, after, state)
                done = after
            keeping.wait()
            self._tell(done, plan)

    def _keep(
        self,
        first: int,
        group: Sequence[Sequence[str]],
        arrays: Sequence[np.ndarray],
        after: Progress,
        state: dict[str, np.ndarray] | None,
    ) -> None:
        """Brings a window to the disk, and notes that it is there."""
        self.writer.write(first, group, arrays)
        self.partial.advance(after, state)

    def _tell(self, done: Progress, plan: CorpusPlan) -> None:
        if self.progress is not None:
            self.progress("embedding", done.tokens, plan.num_tokens)

    def _interrupted(self, done: Progress, num_lines: int) -> str:
        return (
            f"{self.partial.output}: interrupted after line {done.lines:,} of {num_lines:,}. What is finished is kept "
            f"in {self.partial.path}. Go on with the same command and --resume."
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """A full disk, said with figures."""
        try:
            yield
        except OSError as error:
            layout = self.writer.layout
            needed = self.writer.copies * layout.num_bytes - self.partial.progress().tokens * layout.bytes_per_token
            resume = "run the same command with --resume" if self.partial.is_begun else "run it again"
            told = disk_full(error, self.partial.path, needed, resume)
            if told is None:
                raise
            raise told from error


def _check(store: str, window: int | None) -> None:
    if store not in get_args(StoredType):
        raise ConfigError(f"store is {store!r}, but vectors are stored as: {', '.join(get_args(StoredType))}.")
    if window is not None and window < 1:
        raise ConfigError(f"window is {window}, but at least 1 line must be taken at a time. Leave it out.")


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


def _make_room(partial: PartialFolder, *, resume: bool, force: bool) -> None:
    """OutputError if something is in the way that may not be replaced."""
    output = partial.output
    only_to_be_tidied = resume and partial.is_begun
    if output.is_dir() or (output.exists() and not force and not only_to_be_tidied):
        raise OutputError(f"{output}: exists already. Choose another name, or use --force to replace it.")
    if not partial.exists() or (resume and partial.is_begun):
        return
    if not (resume or force):
        raise OutputError(
            f"{partial.path}: exists already: an earlier run did not come to its end. Go on with --resume, or begin "
            "anew with --force."
        )
    partial.remove(_WORK_FILES)


def _open_folder(partial: PartialFolder, *, spool: bool) -> None:
    if partial.is_begun:
        return
    partial.path.mkdir(parents=True)
    if spool:
        partial.spool_stdin()


@contextmanager
def _left_clean(partial: PartialFolder) -> Iterator[None]:
    """If nothing is begun in the end, no folder stays behind."""
    try:
        yield
    except BaseException:
        if partial.path.is_dir() and not partial.is_begun:
            partial.remove(_WORK_FILES)
        raise
