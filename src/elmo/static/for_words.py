"""The part of a file of static vectors that a task needs: its data's words, and the file's first ones."""

from collections.abc import Collection
from pathlib import Path

from elmo.errors import TextError
from elmo.static.vectors import OnBadRow, StaticVectors, read_static_vectors


def vectors_for_words(
    path: Path | str, *, limit: int, wanted: Collection[str], errors: OnBadRow = "strict"
) -> StaticVectors:
    """Vectors of `wanted`, as they are written or lower-cased, and of the first `limit` words (0: of all).

    `errors`: what a row that can't be used does; see `read_static_vectors`.

    Raises TextError for a file that can't be read (`elmo.static.vectors`), or that has none of the wanted words.
    """
    # In words that are asked for, a fault must be seen; the files of the time have bad ones among the others.
    words = None if limit == 0 else wanted
    found = read_static_vectors(path, words=words, max_words=limit or None, errors=errors)
    if wanted and not any(found.row(word) is not None for word in wanted):
        raise TextError(
            f"{path}: has none of the {len(wanted):,} distinct words of the data, so every token's vector would be 0. "
            "Name a file of the data's language and tokenization."
        )
    return found
