"""Sense vectors: a global vector for each word and one or more for its senses, as MSSG's own program stores them.

    V D S maxout [N]    words, dimensions, most senses of a word; 1: without centroids; the window in training, if not 5
    word C              and then, a line each, the global vector, and for each of C senses its vector and its centroid

They may be packed. The authors' program writes ISO-8859-15, which has no Korean, and no N, which it ignores; ours
writes UTF-8.

Source: Neelakantan et al. 2014; docs/specification-tasks.md, 9.4.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elmo.errors import TextError
from elmo.shapes import Float, Float32, Int
from elmo.static.vectors import StaticVectors, require_writable
from elmo.text.files.lines import byte_lines
from elmo.text.files.text_file import check_is_text_file
from elmo.text.reading.as_trained import composed_words

_MOST_DIMENSIONS, _MOST_SENSES = 10_000, 1_000
_FOREIGN = "iso8859-15"
_TINY = np.finfo(np.float32).tiny
_WINDOW = 5  # the authors' program notes none
_AGAIN = "Get the file again, or train one: elmo-paper mssg TEXT -o FILE"


@dataclass(frozen=True, eq=False)
class SenseVectors:
    """Words, their global vectors and their senses. A word's senses are rows one after another."""

    static: StaticVectors
    """The words and their global vectors."""
    vectors: Float32[np.ndarray, "senses dim"]
    centroids: Float32[np.ndarray, "senses dim"] | None
    """Means of the senses' contexts; None: the vectors themselves are compared with a context (MaxOut)."""
    bounds: Int[np.ndarray, " words_and_one"]
    """A word's senses are the rows from bounds[word] to bounds[word + 1]."""
    window: int = _WINDOW
    """Known words to each side that were a context, at most, when the vectors were trained."""

    def rows(self, word: str) -> range:
        """The senses of `word` as it is written, else of its lower-cased form; none if it is unknown."""
        place = self.static.row(word)
        return range(0) if place is None else range(int(self.bounds[place]), int(self.bounds[place + 1]))

    def contexts(self, tokens: Sequence[str], window: int) -> Float32[np.ndarray, "tokens dim"]:
        """For each token the mean of the global vectors of up to `window` known words to each side; zeros without."""
        known = np.flatnonzero(self.static.rows(tokens) >= 0)
        vectors = self.static.lookup([tokens[place] for place in known.tolist()])
        sums = np.concatenate([np.zeros((1, self.static.dim)), np.cumsum(vectors, axis=0, dtype=np.float64)])
        # An unknown token is between the known ones before and after it.
        before = np.searchsorted(known, np.arange(len(tokens)))
        after = before + np.isin(np.arange(len(tokens)), known)
        first, last = np.maximum(before - window, 0), np.minimum(after + window, len(known))
        counts = (last - first) - (after - before)
        around = sums[last] - sums[after] + sums[before] - sums[first]
        return (around / np.maximum(counts, 1)[:, None]).astype(np.float32)

    def chosen(self, tokens: Sequence[str], contexts: Float32[np.ndarray, "tokens dim"]) -> Int[np.ndarray, " tokens"]:
        """The row of each token's sense: of the centroid that is nearest to its context by cosine, and the first one
        without context; -1 for an unknown word."""
        found = np.full(len(tokens), -1)
        for place, (token, context) in enumerate(zip(tokens, contexts, strict=True)):
            rows = self.rows(token)
            if len(rows) == 1 or (rows and not context.any()):
                found[place] = rows[0]
            elif rows:
                compared = self.vectors if self.centroids is None else self.centroids
                near = compared[rows.start : rows.stop]
                lengths = 1 if self.centroids is None else np.maximum(np.linalg.norm(near, axis=1), _TINY)
                found[place] = rows[int(((near @ context) / lengths).argmax())]
        return found


def write_sense_vectors(path: Path, senses: SenseVectors) -> None:
    """Writes the format above in UTF-8, every float32 exactly. Raises TextError if it can't hold a word."""
    static, bounds = senses.static, senses.bounds.tolist()
    form = " ".join(["%.9g"] * static.dim) + "\n"
    most = int(np.diff(senses.bounds).max(initial=1))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        window = "" if senses.window == _WINDOW else f" {senses.window}"
        file.write(f"{len(static)} {static.dim} {most} {int(senses.centroids is None)}{window}\n")
        for place, (word, vector) in enumerate(zip(static.words, static.vectors, strict=True)):
            require_writable(word, "MSSG's format")
            file.write(f"{word} {bounds[place + 1] - bounds[place]}\n{form % tuple(vector.tolist())}")
            for row in range(bounds[place], bounds[place + 1]):
                file.write(form % tuple(senses.vectors[row].tolist()))
                if senses.centroids is not None:
                    file.write(form % tuple(senses.centroids[row].tolist()))


def read_sense_vectors(path: Path | str) -> SenseVectors:
    """The vectors of a file in the format above; its words are ISO-8859-15 if not all of them are valid UTF-8.

    The words are in Unicode's composed form (NFC), as all text is that elmo reads, whatever form they have in the file.
    Raises TextError, with file and line, if the file is missing, damaged, over a limit, or not what its first line
    promises.
    """
    check_is_text_file(path)
    lines = _Lines(str(path), byte_lines(path, require_content=True))
    count, dim, most, is_maxout, window = _header(lines)
    names: dict[bytes, int] = {}
    sizes: list[int] = []
    # They grow as rows come: a first line may promise more than there is memory for.
    values, vectors, centroids = bytearray(), bytearray(), bytearray()
    while line := lines.next():
        name, _, number = line.rpartition(b" ")
        if not name or not number.isdigit() or len(number) > 9 or not 1 <= int(number) <= max(most, 1):
            raise lines.wrong(f"is {line[:40]!r}, not a word and how many of at most {most} senses it has")
        if len(names) == count:
            raise lines.wrong(f"begins another word, but the first line promises {count:,}")
        if name in names:
            raise lines.wrong(f"has the word {name[:40]!r} again, which line {names[name]} has already")
        names[name] = lines.number
        values += lines.numbers(dim)
        sizes.append(int(number))
        for _ in range(sizes[-1]):
            vectors += lines.numbers(dim)
            centroids += b"" if is_maxout else lines.numbers(dim)
    if len(names) < count:
        raise lines.wrong(f"is the last one, with {len(names):,} words, but the first line promises {count:,}")
    shaped = [np.frombuffer(one, np.float32).reshape(-1, dim) for one in (values, vectors, centroids)]
    static = StaticVectors(composed_words(_decoded(list(names))), shaped[0])
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    return SenseVectors(static, shaped[1], None if is_maxout else shaped[2], bounds, window)


class _Lines:
    """Lines without their ends, and errors that name them."""

    def __init__(self, name: str, lines: Iterator[bytes]) -> None:
        self.name, self.number, self._lines = name, 0, lines

    def next(self) -> bytes:
        """The next line; nothing at the end, or for a blank line."""
        line = next(self._lines, None)
        self.number += line is not None
        stripped = (line or b"").strip(b" \t\r\n")
        if line is not None and not stripped and any(rest.strip() for rest in self._lines):
            raise self.wrong("is blank, but others follow")
        return stripped

    def numbers(self, dim: int) -> bytes:
        """A line of `dim` numbers, as float32."""
        parts = self.next().split()
        try:
            values: Float[np.ndarray, " dim"] = np.array(list(map(float, parts)))
        except ValueError:
            raise self.wrong(f"has {b' '.join(parts)[:40]!r} where {dim} numbers are expected") from None
        if len(values) != dim:
            raise self.wrong(f"has {len(values)} numbers, but the first line promises vectors of {dim}")
        with np.errstate(over="ignore"):
            vector = values.astype(np.float32)
        if not np.isfinite(vector).all():
            raise self.wrong("has a number that isn't finite, which would spoil whatever is computed from it")
        return vector.tobytes()

    def wrong(self, what: str) -> TextError:
        """What to raise for the last line."""
        return TextError(f"{self.name}:{self.number}: the line {what}. {_AGAIN}")


def _header(lines: _Lines) -> tuple[int, int, int, bool, int]:
    line = lines.next()
    parts = [part.lower() for part in line.removeprefix(b"\xef\xbb\xbf").split()]
    flags = {b"0": False, b"1": True, b"false": False, b"true": True}
    numbers = [part for place, part in enumerate(parts) if place != 3]
    if not 4 <= len(parts) <= 5 or parts[3] not in flags or not all(n.isdigit() and len(n) < 16 for n in numbers):
        raise lines.wrong(
            f"is {line[:40]!r}, but a file of MSSG begins with four numbers: words, dimensions, senses, and 1 if there "
            "are no centroids, else 0"
        )
    count, dim, most, window = map(int, [*numbers, _WINDOW][:4])
    if not 1 <= dim <= _MOST_DIMENSIONS or most > _MOST_SENSES:
        raise lines.wrong(
            f"promises {dim:,} dimensions and {most:,} senses, but 1 to {_MOST_DIMENSIONS:,} and at most "
            f"{_MOST_SENSES:,} are read"
        )
    return count, dim, most, flags[parts[3]], window


def _decoded(names: list[bytes]) -> tuple[str, ...]:
    try:
        return tuple(name.decode("utf-8") for name in names)
    except UnicodeDecodeError:
        return tuple(name.decode(_FOREIGN) for name in names)  # which any bytes are
