"""Word lists: a file of one word per line, whose lines are the rows of a table (of a softmax, of word vectors).

Source: bilm-tf `bilm/data.py`. The first lines are not checked: a list of cached token vectors may begin with any
word.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from elmo.disk.bounded import read_bytes, readable
from elmo.errors import ConfigError, TextError

SKIPPED_LINE = "!!!MAXTERMID"
"""bilm-tf skips this line, which some of its vocabularies carry. So no list can hold it as a word."""
MAX_BYTES = 64 << 20
"""Bytes of a list of words at most, without ELMO_NO_LIMITS=1: the published one, of 793,471 words, has 7.5
million."""

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def most_bytes(rows: int) -> int:
    """What a file may have that names the rows of a model's tables, whose number the tables have confirmed by then."""
    return min(MAX_BYTES, (1 << 20) + 128 * rows)


def read_word_list(path: Path) -> list[str]:
    """The words in the order of their rows. Lines are stripped; a blank line is the word ''.

    A word may occur twice: both rows exist, and the later one's id is the word's. Raises TextError with file and line.
    """
    return words_in(word_list_bytes(path), path)


def word_list_bytes(path: Path) -> bytes:
    """The content of a list's file. Raises TextError."""
    with readable(path, TextError, "Name the vocabulary file the model was trained with, one word per line."):
        return read_bytes(path, limit=MAX_BYTES)


def words_in(content: bytes, path: Path) -> list[str]:
    """`read_word_list` of the content of `path`."""
    text = _decode(content.removeprefix(_BYTE_ORDER_MARK), path)
    lines = text.removesuffix("\n").split("\n") if text else []
    return [line.strip() for line in lines if line.strip() != SKIPPED_LINE]


def encoded_word_list(words: Iterable[str]) -> bytes:
    """The content of a list's file. Raises TextError if a word doesn't fit into it."""
    return b"".join(_line(word, number) for number, word in enumerate(words, start=1))


def _line(word: str, number: int) -> bytes:
    if word == SKIPPED_LINE:
        why = f"bilm-tf skips the line {SKIPPED_LINE!r}"
    elif reason := invalid_token_reason(word):
        why = f"it {reason}"
    else:
        return f"{word}\n".encode()
    raise TextError(
        f"word {number} of the vocabulary, {word!r}, fits in no line: {why}. Use a tokenizer that doesn't make it."
    )


def _decode(content: bytes, path: Path) -> str:
    """The text, its line ends all "\\n"."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = len(_LINE_END.findall(content[: error.start])) + 1
        raise TextError(f"{path}:{line}: not valid UTF-8, as vocabularies are. Convert the file with iconv.") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def invalid_token_reason(token: str) -> str | None:
    """Why a file of one word per line can't hold `token`, or None if it can."""
    if token != token.strip():
        return "begins or ends with whitespace"
    if "\n" in token or "\r" in token:
        return "has a line end in it"
    return "has one half of a surrogate pair, which is not a character" if has_surrogate(token) else None


def has_surrogate(text: str) -> bool:
    """Whether `text` holds U+D800 to U+DFFF, which JSON can escape and UTF-8 can't encode."""
    if text.isascii():
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def require_characters(text: str) -> None:
    """ConfigError for a text of the command line that is in another encoding than the terminal's: Python puts
    surrogates in place of its letters, and character ids would leave them out."""
    if has_surrogate(text):
        raise ConfigError(
            f"{ascii(text):.60} is not valid {sys.getfilesystemencoding().upper()}, as in this terminal. Convert it "
            "first, for instance with: iconv -f cp949"
        )
