"""Text files as bytes: plain, packed or standard input, and what their names say about them."""

import contextlib
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Literal

from elmo.disk.bounded import readable
from elmo.errors import ConfigError, TextError, paths_count_from
from elmo.text.files.unpacking import OPENERS, PARQUET, as_utf8, open_parquet

Format = Literal["text", "jsonl", "csv", "tsv", "conll", "conllu", "fasta"]
FormatChoice = Literal["auto", Format]

STDIN = "-"
_LONGEST_NAME_SHOWN = 200  # what is given for a name may be a text

_FORMAT_OF_SUFFIX: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    PARQUET: "jsonl",  # which is what it is unpacked to
    ".csv": "csv",
    ".tsv": "tsv",
    ".conllu": "conllu",
    ".conllup": "conllu",
    # Not .fa, which is Persian too; what is in it shows.
    **dict.fromkeys((".fasta", ".faa", ".fas", ".fsa", ".fna"), "fasta"),
    **dict.fromkeys((".testa", ".testb", ".bio", ".iob", ".iob2", ".bmes", ".bioes", ".iobes"), "conll"),
}
# train.conll, x.v4_gold_conll, y.conllx, z.conll09, and each of them with .txt behind.
_COLUMNS_NAMED = re.compile(r"\.(?:\w+_)?conll[\w-]*(?:\.txt)?$")


def text_name(path: Path | str) -> str:
    """How messages call `path`."""
    return "stdin" if str(path) == STDIN else str(path)


def check_is_text_file(path: Path | str) -> None:
    """Raises TextError unless `path` is "-", or something to read that is no folder."""
    if str(path) == STDIN:
        return
    with readable(f"{path!s:.{_LONGEST_NAME_SHOWN}}", TextError, f"{paths_count_from()}; check the spelling."):
        is_folder = stat.S_ISDIR(Path(path).stat().st_mode)
    if is_folder:
        raise TextError(f"{path} is a folder, but a text file is needed. Name the files in it, for instance {path}/*")


def is_file(path: Path | str) -> bool:
    """Whether a regular file is there. A text that is too long for a name is none, nor is one with a NUL."""
    return os.path.isfile(path)  # noqa: PTH113 - Path's own raises errors for such a text


def is_stream(path: Path | str) -> bool:
    """Whether `path` can be read only once: standard input, a pipe ("<(...)", /dev/stdin) or a terminal."""
    return str(path) == STDIN or (os.path.exists(path) and not is_file(path))  # noqa: PTH110 - likewise


def require_no_stream(path: Path | str) -> None:
    """ConfigError for what can be read only once."""
    if is_stream(path) and not Path(path).is_dir():
        raise ConfigError(
            f"{text_name(path)} can be read only once, but trainings read their data again. Write it to a file first."
        )


def require_other_file(text: Path | str, target: Path, *, kind: str = "text") -> None:
    """ConfigError if `target` is the text itself, under whatever name, or a folder with the text in it.

    `kind`: what the message calls the text.
    """
    place = Path(os.path.realpath(text))
    if str(text) != STDIN and Path(os.path.realpath(target)) in (place, *place.parents):
        raise ConfigError(
            f"{target}: is the {kind} itself, or contains it, and would be replaced by its own result. Choose another "
            "output; --force does not change this."
        )


def is_packed(path: Path | str) -> bool:
    """Whether `path` is unpacked while it is read."""
    return Path(path).suffix.lower() in OPENERS


def format_of_name(path: Path | str) -> Format | None:
    """What the ending says, also of a packed file (.jsonl.gz); None: nothing, as .txt."""
    name = Path(path).with_suffix("") if is_packed(path) else Path(path)
    ending = _FORMAT_OF_SUFFIX.get(name.suffix.lower())
    return "conll" if ending is None and _COLUMNS_NAMED.search(name.name.lower()) else ending


@contextlib.contextmanager
def opened(path: Path | str) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The file as it lies on the disk, and its unpacked content, in UTF-8 if it was UTF-16. "-" is standard input.

    Raises MissingExtraError for .zst where nothing can unpack it, TextError if standard input is closed.
    """
    if str(path) == STDIN:
        if sys.stdin is None or sys.stdin.buffer.closed:
            raise TextError("standard input is closed, so there is nothing to read. Name a file, or pipe a text in.")
        yield sys.stdin.buffer, as_utf8(sys.stdin.buffer)
        return
    is_parquet = Path(path).suffix.lower() == PARQUET
    unpack = open_parquet if is_parquet else OPENERS.get(Path(path).suffix.lower(), contextlib.nullcontext)
    with Path(path).open("rb") as raw:
        content: AbstractContextManager[BinaryIO] = unpack(raw)
        with content as unpacked:
            # Of a Parquet file, whose columns lie apart, no place says how much is read.
            yield unpacked if is_parquet else raw, as_utf8(unpacked)


def unreadable(path: Path | str, lines_read: int, error: Exception) -> TextError:
    """What to raise for an error of `DAMAGED`."""
    cut_off = isinstance(error, EOFError) or "Truncated" in str(error)
    cause = "it is cut off" if cut_off else str(error)
    step = "Copy or download it again" if is_packed(path) else "Check the file, its permissions and its disk"
    return TextError(f"{text_name(path)}: can't be read beyond line {lines_read}: {cause}. {step}.")
