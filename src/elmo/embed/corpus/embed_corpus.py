"""embed_corpus: a text file -> a file of vectors, in constant memory, resumable after any kind of end.

check_places   nothing is in the way, and the text is not its own output
planned_text   once over the text: its rows, kept in a file; bad lines, hash; its windows
Run            each window -> a part with a checksum, in OUTPUT.partial/; all parts joined and renamed to OUTPUT
"""

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from elmo.embed.corpus.kept_rows import KeptRows
from elmo.embed.corpus.part_makers import Recipe
from elmo.embed.corpus.places import check_places
from elmo.embed.corpus.planned_text import StopAsked, planned_text
from elmo.embed.corpus.run import Run, WantedFile
from elmo.embed.corpus.text_source import TextSource
from elmo.embed.corpus.vectors_folder import VectorsFolder
from elmo.embed.embedder import Embedder
from elmo.embed.results.pooling import Pool
from elmo.embed.storage.layout import FileFormat, StoredType, format_of
from elmo.embed.storage.text_columns import TextColumns, names_of_files
from elmo.errors import TextWarning
from elmo.layer_choice import LayerChoice, Layers
from elmo.process.progress.report import Progress, following
from elmo.process.worker_pool import require_workers
from elmo.setting_checks import require_value
from elmo.text.files.text_file import FormatChoice, is_stream
from elmo.text.first_look.sample import FirstLook
from elmo.text.reading.settings import AUTO, Reading, SentenceEnds, text_files
from elmo.text.sentences import OnBadText, Tokenize
from elmo.weights.hub import Model


def embed_corpus(
    model: Embedder | Model | Callable[[], Embedder],
    text: Path | str | Sequence[Path | str],
    output: Path | str,
    *,
    layers: Layers = "all",
    to: FileFormat | None = None,
    store: StoredType = "float32",
    format: FormatChoice = "auto",
    field: str = "text",
    sentences: SentenceEnds = "lines",
    tokenizer: str | Tokenize = AUTO,
    encoding: str = "utf-8",
    errors: OnBadText = "strict",
    plain_quotes: bool = True,
    window: int | None = None,
    forget_sentences: bool = False,
    pool: Pool | None = None,
    compress: bool = False,
    workers: int = 1,
    resume: bool = False,
    force: bool = False,
    progress: Progress | bool = False,
    stop_asked: StopAsked | None = None,
) -> dict[str, Any]:
    """Embeds a text into a file with one array for each row, a sentence or a blank line; gives a report.

    `model`: an Embedder; or the name of a model as in `Embedder.from_pretrained`, or a function that gives an Embedder,
    which is loaded when everything else is checked.
    `text`: a file, plain or packed (.gz, .xz, .bz2, .zst), or several; "-" is standard input. What can be read only
    once, that or a pipe, is kept in OUTPUT.partial until the end. `format`, `field`, `sentences`, `tokenizer`,
    `encoding`, `plain_quotes`: how it is read; see `elmo.text.reading.settings.Reading`. The tokenizer may also be a
    function.
    `output`: HDF5, Parquet or npy by its ending, or `to`; `store`: the type of the stored values. Beside the
    vectors it has what joins them to the text: tokens, their spans, line and sentence (`read_vectors` reads it).
    `layers`: see `Embedder.embed`.
    `errors`: "strict" stops at a line that is not in `encoding`; "skip" lists it in the report and gives it, like a
    blank line, an array of length 0, so that line numbers stay true.
    `window`: rows taken at a time (default 512, on a GPU 2048; fewer if they are long); in carry mode the rows of a
    batch (64): row k then continues row k - window, and the first window starts from nothing.
    `pool`: one vector for each row instead of one for each token; see `Embedder.embed`. `compress`: HDF5 with gzip, a
    little smaller and slower to write; any program that reads HDF5 reads it.
    `workers`: processes that embed, each with its share of the cores (or OMP_NUM_THREADS); the file is the same to the
    byte. For an `Embedder.from_pretrained` on the CPU, and not in carry mode.
    `forget_sentences`: leave all words out of the file: tokens, and the index of sentences in HDF5, for which they are
    all in memory otherwise.
    `resume`: continue a killed run, if there was one: the parts that it left are kept if their checksums hold.
    `force`: replace a finished file; without `resume`: start again.
    `progress`: receives the bytes that are read, the rows of kept parts that are checked, and the tokens that are
    embedded (see `elmo.Progress`), and a note if the tokenizer "auto" splits words, which without a progress is a
    `TextWarning`; True: bars on stderr.
    `stop_asked()` is asked before each window whether to stop there.
    A text that looks untokenized or is not in the model's language is a `TextWarning` before anything is embedded.
    The report has lines (rows), tokens, blank_lines, bad_lines (messages), bytes, seconds, tokens_per_second.
    Raises TextError, ConfigError (also if text and output are one file), OutputError (it exists, another process is at
    work on it, the disk is or will be full), Interrupted (resumable).
    """
    require_workers(workers)
    require_value("store", store, StoredType)
    require_value("pool", pool, Pool | None)
    texts = text_files([str(it) for it in ([text] if isinstance(text, str | Path) else text)])
    file_format = format_of(Path(output), to)
    output = Path(os.path.realpath(output)) if Path(output).is_symlink() else Path(output)  # a link is written through
    check_places(texts, output, file_format, resume=resume, force=force)
    files = names_of_files(texts)
    named, own = (tokenizer, None) if isinstance(tokenizer, str) else ("whitespace", tokenizer)
    reading = Reading(format, field, sentences, named, encoding, errors, plain_quotes)
    reading.check()
    folder, source = VectorsFolder(output), TextSource(tuple(map(Path, texts)), reading, own)
    if is_stream(texts[0]):  # what can be read only once is kept in the folder of work, and is read from there
        source = replace(source, paths=(folder.input,), given_as=texts[0])
    look = None if source.given_as else source.first_look()
    embedder = _loaded(model)
    LayerChoice.of(layers, embedder.num_layers)
    if workers > 1:
        Recipe.of(embedder)
    limits = embedder.window_limits(window)
    with folder.held() as lock, following(progress) as reported:
        _make_room(folder, file_format, resume=resume, force=force)
        if source.given_as and not folder.is_begun:
            folder.spool(source.given_as, reported)
        look = look or source.first_look()
        if own is None:  # what a function of the caller's own makes of the text isn't known here
            _tell(look, embedder.vocabulary, None if progress is False else reported)
        source = replace(source, reading=look.reading, marks=embedder.reader.marks(plain_quotes))
        boundaries = embedder.boundary_tokens if embedder.keep_boundaries else None
        columns = TextColumns(not forget_sentences, boundaries, files, source.has_ids)
        wanted = WantedFile(layers, pool, file_format, store, compress and file_format == "hdf5", columns)
        with KeptRows(folder.path) as rows:
            planned = planned_text(source, limits, rows, reported, stop_asked)
            run = Run(embedder, planned, folder, wanted, workers, force, reported, stop_asked, lock)
            return run.make(resume=resume)


def _loaded(model: Embedder | Model | Callable[[], Embedder]) -> Embedder:
    if isinstance(model, Embedder):
        return model
    return model() if callable(model) else Embedder.from_pretrained(model)


def _tell(look: FirstLook, vocabulary: Sequence[str] | None, progress: Progress | None) -> None:
    """Says what "auto" means here, and warns of anything odd in the text."""
    if progress is not None:
        for note in filter(None, (look.note, look.note_on_sentences)):
            progress.say(f"note: {note}")
    elif look.note:
        warnings.warn(look.note, TextWarning, stacklevel=3)
    for message in look.warnings(vocabulary):
        warnings.warn(message, TextWarning, stacklevel=3)


def _make_room(folder: VectorsFolder, file_format: FileFormat, *, resume: bool, force: bool) -> None:
    """Empties the folder unless it is to be resumed; OutputError if that is not allowed."""
    if resume and folder.is_begun:
        return
    if resume:
        folder.clear()  # what is not ours is not in the way
    else:
        folder.empty()
