"""CorpusPlan: a first, cheap pass over a text: how many tokens each line has, which lines are bad, its checksum.

It finds every bad line before hours are spent, gives the disk space that is needed, the total of the progress bar and
whether a resumed run still has the same text, and lets the file's structure be written before its vectors.
"""

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from elmo.errors import Interrupted, TextError
from elmo.text.sentences import OnBadText, Tokenize, read_sentences
from elmo.text.text_file import text_name
from elmo.text.tokenizer import tokenizer as named_tokenizer
from elmo.weights.fingerprint import file_hash

OnProgress = Callable[[str, int, int], None]
"""Called with what is being done ("reading" bytes, "checking" lines, "embedding" tokens), how much, and of how much."""
StopAsked = Callable[[], bool]

_LINES_BETWEEN_CHECKS = 4096


class _Untokenized(str):
    """A line's text, told from a file's own token."""


@dataclass(frozen=True)
class TextSource:
    """A text file and how its lines become sentences."""

    path: Path
    encoding: str
    errors: OnBadText
    tokenizer: str | Tokenize
    """A name known to `elmo.text.tokenizer`, or a function from a line to its tokens."""
    given_as: str = ""
    """How the caller named it, if `path` is where what can be read only once is kept."""

    @property
    def tokenizer_name(self) -> str:
        """As it is written into metadata."""
        if isinstance(self.tokenizer, str):
            return self.tokenizer
        return getattr(self.tokenizer, "__qualname__", type(self.tokenizer).__qualname__)

    def told(self, message: str) -> str:
        """A message about `path`, in the caller's words."""
        return message.replace(str(self.path), text_name(self.given_as)) if self.given_as else message

    def lines(
        self,
        on_bad_line: Callable[[int, str], None] | None = None,
        on_progress: Callable[[int], None] | None = None,
    ) -> Iterator[tuple[str, list[str]]]:
        """Each line's text, stripped, and its tokens; ('', []) for a blank or bad one."""
        tokenize = named_tokenizer(self.tokenizer) if isinstance(self.tokenizer, str) else self.tokenizer
        rows = read_sentences(
            self.path,
            encoding=self.encoding,
            errors=self.errors,
            tokenize=lambda text: [_Untokenized(text)],
            on_bad_line=on_bad_line,
            require_content=True,
            on_progress=on_progress,
        )
        for row in rows:
            if len(row) == 1 and isinstance(row[0], _Untokenized):
                yield str(row[0]).strip(), tokenize(row[0])
            else:  # the file itself says what its tokens are: CoNLL-U, or lists in JSONL
                yield " ".join(row), row

    def sentences_from(self, first: int, lengths: np.ndarray) -> Iterator[list[str]]:
        """The sentences from line `first` on (from 0); TextError if they are no longer those that were counted."""
        line = first
        for line, (_, tokens) in enumerate(islice(self.lines(), first, None), start=first + 1):
            if line > len(lengths) or len(tokens) != lengths[line - 1]:
                raise TextError(_changed(self.path, line))
            yield tokens
        if line != len(lengths):
            raise TextError(_changed(self.path, line + 1))


@dataclass(frozen=True)
class CorpusPlan:
    """What a text holds."""

    lengths: np.ndarray
    """(lines,) tokens of each line"""
    bad_lines: list[str]
    """A message for each line that could not be decoded"""
    sentence_index: dict[str, str] | None
    """Each sentence's line, as AllenNLP writes it: of equal sentences the last one's; None: not wanted"""
    sha256: str
    num_bytes: int

    @property
    def num_tokens(self) -> int:
        """Tokens of all lines."""
        return int(self.lengths.sum())


def plan_corpus(
    source: TextSource,
    *,
    with_sentences: bool,
    progress: OnProgress | None = None,
    stop_asked: StopAsked | None = None,
) -> CorpusPlan:
    """Reads the whole text once. `with_sentences`: whether the sentence index is made, which holds all distinct lines.

    Raises TextError if the text is missing, empty or, with errors="strict", has a bad line.
    """
    lengths = array("q")  # 8 bytes a line, also of hundreds of millions
    bad_lines: list[str] = []
    index: dict[str, str] | None = {} if with_sentences else None
    lines = source.lines(lambda _, message: bad_lines.append(source.told(message)), _reading(source.path, progress))
    try:
        for line, (text, tokens) in enumerate(lines):
            lengths.append(len(tokens))
            if index is not None and tokens:
                index[text] = str(line)
            if stop_asked is not None and line % _LINES_BETWEEN_CHECKS == 0 and stop_asked():
                raise Interrupted(f"{source.path}: interrupted while it was counted. Nothing is lost: start again.")
    except TextError as error:
        raise TextError(source.told(str(error))) from None
    return CorpusPlan(
        np.array(lengths, dtype=np.int64), bad_lines, index, file_hash([source.path]), source.path.stat().st_size
    )


def _reading(path: Path, progress: OnProgress | None) -> Callable[[int], None] | None:
    if progress is None:
        return None
    done, total = 0, path.stat().st_size if path.is_file() else 0

    def read(more: int) -> None:
        nonlocal done
        done += more
        progress("reading", done, total)

    return read


def _changed(path: Path, line: int) -> str:
    return (
        f"{path}:{line}: the text changed while it was being embedded: this line is not what it was. Begin anew, with "
        "--force, when nothing writes to it."
    )
