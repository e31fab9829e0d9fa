"""Static vectors: files with one vector per word, whatever its sentence -> words and a matrix.

    word2vec text, fastText .vec   a line "count dim", then lines "word v1 .. v_dim"; a word can have spaces in it
    GloVe                          the same lines without the first
    word2vec binary                a line "count dim", then per word its bytes, a space and dim float32, little-endian
    fastText .bin                  a model, of which words that it has not seen get vectors too (needs gensim)

Source: docs/specification.md, 8; word2vec `distance.c`; GloVe `glove.c`; fastText `fasttext.cc`.
"""

import itertools
import sys
import unicodedata
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Literal, Protocol, runtime_checkable

import numpy as np

from elmo.errors import ConfigError, TextError, TextWarning
from elmo.process.extra_library import extra_library
from elmo.setting_checks import require_value
from elmo.shapes import Float, Float32, Int
from elmo.static.rows import BadRow, Header, Row, binary_rows, dim_of, text_rows
from elmo.text.files.lines import limited_lines
from elmo.text.files.text_file import STDIN, check_is_text_file, opened
from elmo.text.files.unpacking import DAMAGED

OnBadRow = Literal["strict", "skip"]

_FASTTEXT_MODEL = (793712314).to_bytes(4, "little")
"""The first bytes of a fastText model. Source: fastText `fasttext.cc`, FASTTEXT_FILEFORMAT_MAGIC_INT32."""
# The longest first line that is looked at: 2,000 numbers of 20 characters and a word.
_LOOKED_AT = 1 << 16
_BLOCK = 1 << 20
# Of a text's tokens. A file of another language still knows names and punctuation.
_LARGEST_UNKNOWN_SHARE = 0.5
_OF_NUMBERS = frozenset(b"0123456789+-.,\t abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


@dataclass(frozen=True, eq=False)
class StaticVectors:
    """Words and their vectors."""

    words: tuple[str, ...] = field(repr=False)
    """All different, in the order of the rows."""
    vectors: Float[np.ndarray, "words dim"] = field(repr=False)
    """float32"""
    _rows: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or len(self.vectors) != len(self.words):
            raise ConfigError(
                f"there are {len(self.words)} words, but the vectors have shape {self.vectors.shape}. Pass a row for "
                "each word."
            )
        object.__setattr__(self, "_rows", {word: row for row, word in enumerate(self.words)})

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._rows

    @property
    def dim(self) -> int:
        """Width of a vector."""
        return self.vectors.shape[1]

    def row(self, word: str) -> int | None:
        """The row of `word` as it is written, else of its lower-cased form, else None."""
        row = self._rows.get(word)
        return self._rows.get(word.lower()) if row is None else row

    def rows(self, tokens: Sequence[str]) -> Int[np.ndarray, " tokens"]:
        """`row` of each, -1 for none; int64."""
        found = map(self.row, tokens)
        return np.fromiter((-1 if row is None else row for row in found), dtype=np.int64, count=len(tokens))

    def lookup(self, tokens: Sequence[str]) -> Float32[np.ndarray, "tokens dim"]:
        """The vector of each; zeros for unknown words."""
        rows = self.rows(tokens)
        found = np.zeros((len(rows), self.dim), dtype=np.float32)
        found[rows >= 0] = self.vectors[rows[rows >= 0]]
        return found


def read_static_vectors(
    path: Path | str,
    *,
    words: Collection[str] | None = None,
    max_words: int | None = None,
    errors: OnBadRow = "strict",
) -> StaticVectors:
    """The vectors of a file in any of the layouts above, packed (.gz, .xz, .bz2, .zst) or not.

    The words are in Unicode's composed form (NFC), as all text is that elmo reads, whatever form they have in the file.
    `words`: these and their lower-cased forms are kept; `max_words`: the file's first ones are, which most makers
    order by frequency. With both, either is enough for a row; with neither, all are kept. What isn't kept is hardly
    parsed and takes no memory, so the file may be larger than memory.
    `errors`: what a row that can't be used does. "strict" raises; "skip" leaves it out and says at the end how many
    there were (a `TextWarning`). Of a word given twice the first row is kept, as gensim does, with a warning. Of a
    fastText model, all `words` that it can make vectors of are kept.
    Raises TextError, with file and line (binary: byte), if the file is missing, damaged or no such file, a row has
    other than dim numbers or one that isn't finite, there are fewer words than the first line says, or the file is
    over a limit of `elmo.text.files.lines`; ConfigError for unknown `errors`; MissingExtraError for a fastText
    model without gensim.
    """
    require_value("errors", errors, OnBadRow)
    if str(path) == STDIN:
        raise ConfigError("static vectors can't be read from standard input, which has no beginning to go back to. "
                          "Write them to a file first.")  # fmt: skip
    check_is_text_file(path)
    wanted = None if words is None else {form for word in words for form in _forms(word)}
    left_out: list[str] = []
    bad_row = None if errors == "strict" else left_out.append
    try:
        with opened(path) as (_, content):
            found = _rows(path, content, wanted, max_words, bad_row)
            if found is None:
                return StaticVectors(*_vectors_of_model(path, words, max_words))
            dim, rows = found
            vectors = _collected(dim, rows, str(path))
    except DAMAGED as error:
        raise TextError(
            f"{path}: can't be read to its end: {error}. Check its permissions, or copy or download it again."
        ) from None
    if left_out:
        warnings.warn(f"rows left out: {len(left_out):,}. The first: {left_out[0]}", TextWarning, stacklevel=2)
    return vectors


def vectors_for_words(
    path: Path | str, *, limit: int, counts: Mapping[str, int], errors: OnBadRow = "strict"
) -> StaticVectors:
    """Vectors of a text's words, as they are written or lower-cased, and of the first `limit` words (0: of all).

    `counts`: how often each word occurs in the text; `errors`: as for `read_static_vectors`. Raises TextError for a
    file that can't be read; what `check_coverage` raises and warns of.
    """
    # The words are named with any limit: a fastText model makes vectors of those that it hasn't seen, too.
    found = read_static_vectors(path, words=counts, max_words=limit or sys.maxsize, errors=errors)
    check_coverage(path, found, counts)
    return found


def check_coverage(path: Path | str, static: StaticVectors, counts: Mapping[str, int]) -> None:
    """TextError if the file's vectors have none of the words of a text, a `TextWarning` if they have less than half of
    its tokens. `counts`: how often each word occurs in the text."""
    unknown = [word for word in counts if static.row(word) is None]
    if counts and len(unknown) == len(counts):
        raise _knows_no_word(path, len(counts), "data")
    share = sum(counts[word] for word in unknown) / max(sum(counts.values()), 1)
    if share > _LARGEST_UNKNOWN_SHARE:
        examples = ", ".join(repr(word) for word in sorted(unknown, key=lambda word: -counts[word])[:3])
        warnings.warn(
            f"{path}: has no vector for {share:.0%} of the data's tokens, such as {examples}; they get zeros. Check "
            "that it is a file of the data's language and tokenization.",
            TextWarning,
            stacklevel=3,
        )


@runtime_checkable
class OfStaticVectors(Protocol):
    """An encoder that knows words by their static vectors alone."""

    static: StaticVectors
    source: str
    """What messages call the vectors: their file."""


def require_known_words(encoders: Iterable[object], words: Iterable[str]) -> None:
    """TextError for an encoder whose static vectors have none of a text's words: it would know nothing of the text, and
    what is computed from its vectors would look as if measured.

    No more of `words` is read than is needed. Other encoders are left alone.
    """
    unknown = [one for one in encoders if isinstance(one, OfStaticVectors)]
    different: set[str] = set()
    for word in words if unknown else ():
        different.add(word)
        unknown = [one for one in unknown if one.static.row(word) is None]
        if not unknown:
            return
    if unknown:
        raise _knows_no_word(unknown[0].source, len(different), "text")


def _knows_no_word(source: Path | str, num_words: int, what: str) -> TextError:
    """What to raise for vectors that have none of the words of `what`, "data" or "text"."""
    return TextError(
        f"{source}: has none of the {num_words:,} distinct words of the {what}, so every token's vector would be 0. "
        f"Name a file of the {what}'s language and tokenization."
    )


def write_static_vectors(path: Path, static: StaticVectors) -> None:
    """Writes word2vec's text layout, every float32 exactly. Raises TextError if such a file can't hold a word."""
    form = " ".join(["%.9g"] * static.dim)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{len(static)} {static.dim}\n")
        for word, vector in zip(static.words, static.vectors, strict=True):
            require_writable(word, "word2vec's text layout")
            file.write(f"{word} {form % tuple(vector.tolist())}\n")


def is_writable(word: str) -> bool:
    """Whether a file can hold the word, in which a space or a line end is what ends one."""
    return bool(word) and {" ", "\t", "\n", "\r"}.isdisjoint(word)


def require_writable(word: str, layout: str) -> None:
    """TextError unless a file of this `layout` can hold the word."""
    if not is_writable(word):
        raise TextError(
            f"the word {word!r} is empty or has a space, tab or line end, which {layout} can't hold. Use a tokenizer "
            "that makes no such words."
        )


def _forms(word: str) -> tuple[str, str]:
    """The word as it is written, and in lower case, both in NFC."""
    return unicodedata.normalize("NFC", word), unicodedata.normalize("NFC", word.lower())


def _rows(
    path: Path | str,
    content: BinaryIO,
    wanted: set[str] | None,
    max_words: int | None,
    bad_row: BadRow | None,
) -> tuple[int, Iterator[Row]] | None:
    """Checks what the file is; the vectors' width, and the rows; None: it is a fastText model."""
    first = content.readline(_LOOKED_AT)
    if first.startswith(_FASTTEXT_MODEL):
        return None
    header = Header.parse(first)
    second = content.readline(_LOOKED_AT) if header else b""
    if header and not _is_text(second):
        blocks = iter(partial(content.read, _BLOCK), b"")
        rows = binary_rows(str(path), second, blocks, header, len(first), wanted, max_words, bad_row)
        return header.dim, rows
    begun, number = (second, 2) if header else (first, 1)
    lines = limited_lines(content, str(path), first=number, begun=begun)
    if header:
        return header.dim, text_rows(str(path), lines, header, header.dim, wanted, max_words, bad_row)
    line = next(lines, b"")
    dim = dim_of(line, str(path))
    return dim, text_rows(str(path), itertools.chain([line], lines), None, dim, wanted, max_words, bad_row)


def _is_text(line: bytes) -> bool:
    """Whether the first row is text, even if invalid. Of a float32 between 2^-13 and 2, one byte isn't a number's."""
    numbers = (line.replace(b"\t", b" ").partition(b" ")[2] or line)[:64].rstrip(b"\r\n")
    count = sum(byte in _OF_NUMBERS for byte in numbers)
    return count >= (0.9 if len(numbers) == 64 else 1) * len(numbers) or _is_printable(line)


def _is_printable(line: bytes) -> bool:
    """Whether the line is valid UTF-8 without control characters, as hardly any numbers in binary are."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not any(character < " " or character == "\x7f" for character in text.rstrip("\r\n").replace("\t", " "))


def _collected(dim: int, rows: Iterator[Row], name: str) -> StaticVectors:
    places: dict[str, str] = {}
    repeated: list[Row] = []
    # It grows as rows come: a first line may promise more words than there is memory.
    numbers = bytearray()
    for row in rows:
        if row.word in places:
            repeated.append(row)
            continue
        places[row.word] = row.place
        numbers += row.vector.tobytes()
    if repeated:
        word = repeated[0].word
        warnings.warn(
            f"{name}: words that occur again: {len(repeated):,}, the first of them {word!r} at {repeated[0].place}, "
            f"after {places[word]}. The first vector of each is used.",
            TextWarning,
            stacklevel=2,
        )
    vectors = np.frombuffer(numbers, dtype=np.float32).reshape(len(places), dim)
    return StaticVectors(tuple(places), vectors)


def _vectors_of_model(
    path: Path | str, words: Collection[str] | None, max_words: int | None
) -> tuple[tuple[str, ...], Float32[np.ndarray, "words dim"]]:
    """The words and vectors of a fastText model: its first `max_words` words, and of `words` all that it can make
    vectors of.

    A word that the model hasn't seen has the mean of its n-grams' vectors, unless the model knows its lower-cased form,
    which is then kept instead. With neither limit: all words that the model has seen.
    """
    fasttext = extra_library("gensim.models.fasttext", "static", "reading a fastText model (.bin)")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of gensim, about other versions of fastText
            model = fasttext.load_facebook_vectors(str(path))
    # Whatever gensim trips over in a damaged file.
    except Exception as error:
        raise TextError(
            f"{path}: is a fastText model that gensim can't read ({error!r}). Use the .vec file beside it, or write "
            "one: fasttext print-word-vectors MODEL < WORDS > VECTORS.vec"
        ) from None
    known: dict[str, str] = {}
    for key in model.index_to_key:
        known.setdefault(unicodedata.normalize("NFC", key), key)
    first = model.index_to_key[:max_words] if words is None or max_words is not None else []
    forms = [unicodedata.normalize("NFC", key) for key in first]
    forms += [next((form for form in _forms(word) if form in known), _forms(word)[0]) for word in sorted(words or ())]
    kept = {form: known.get(form, form) for form in forms}
    found = {word: vector for word, key in kept.items() if (vector := _vector(model, key)) is not None}
    matrix = np.array(list(found.values()), dtype=np.float32).reshape(len(found), model.vector_size)
    return tuple(found), matrix


def _vector(model: Any, word: str) -> Float32[np.ndarray, " dim"] | None:
    """None for a word without an n-gram, such as an empty one."""
    try:
        return model.get_vector(word) if word else None
    except KeyError:
        return None
