"""Word lists: a file of one word a line, whose lines are the rows of a table (of a softmax, of word vectors).

Source: bilm-tf `bilm/data.py`. Unlike `elmo.text.vocabulary` nothing is asked of the first lines: a list of cached
token vectors may begin with any word.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from elmo.errors import TextError

# bilm-tf skips this line, which some of its vocabularies carry.
_SKIPPED_LINE = "!!!MAXTERMID"
_LINE_END = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_word_list(path: Path) -> list[str]:
    """The words in the order of their rows. Lines are stripped; a blank line is the word ''.

    A word may occur twice: both rows exist, and the later one's id is the word's. Raises TextError with file and line.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise TextError(
            f"{path}: can't be read: {error.strerror or error}. Pass the vocabulary file the model was trained with."
        ) from None
    lines = _LINE_END.split(content.removeprefix(_BYTE_ORDER_MARK))
    if not lines[-1]:
        lines.pop()
    words = (_decode(line, path, number).strip() for number, line in enumerate(lines, start=1))
    return [word for word in words if word != _SKIPPED_LINE]


def write_word_list(path: Path, words: Iterable[str]) -> None:
    """One word a line, UTF-8. Raises TextError if a word can't stand in such a file."""
    with path.open("wb") as file:
        for number, word in enumerate(words, start=1):
            file.write(_encode(word, number) + b"\n")


def _decode(line: bytes, path: Path, number: int) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TextError(
            f"{path}:{number}: not valid UTF-8 (byte 0x{line[error.start]:02X} at column {error.start + 1}). "
            "Vocabularies are UTF-8: convert the file with iconv."
        ) from None


def _encode(word: str, number: int) -> bytes:
    if word != word.strip() or _LINE_END.search(word.encode("utf-8", "surrogatepass")) or word == _SKIPPED_LINE:
        raise TextError(
            f"word {number} of the vocabulary is {word!r}, which a file of one word a line can't hold. "
            "Train with a tokenizer that gives no spaces or line ends."
        )
    try:
        return word.encode("utf-8")
    except UnicodeEncodeError:
        raise TextError(
            f"word {number} of the vocabulary is {word!r}, which UTF-8 can't hold (a lone surrogate). "
            "Read the corpus as valid UTF-8."
        ) from None
