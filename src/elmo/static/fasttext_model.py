"""fastText's own models: vectors of words and of the pieces of words, of which others get vectors too."""

import pkgutil
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from elmo.errors import MissingExtraError, TextError
from elmo.shapes import Float32

FASTTEXT_MODEL = (793712314).to_bytes(4, "little")
"""What such a file begins with. Source: fastText `fasttext.cc`, FASTTEXT_FILEFORMAT_MAGIC_INT32."""


def vectors_of_model(
    path: Path | str, words: Collection[str] | None, max_words: int | None
) -> tuple[tuple[str, ...], Float32[np.ndarray, "words dim"]]:
    """The words and vectors of a model: its first `max_words` words, and of `words` all that it can make vectors of.

    A word that the model hasn't seen has the mean of its n-grams' vectors, unless the model knows its lower-cased form,
    which is then kept instead. With neither limit: all words that the model has seen. The model is in memory meanwhile.
    Raises MissingExtraError without gensim, TextError for a model that gensim can't read.
    """
    try:
        load = pkgutil.resolve_name("gensim.models.fasttext:load_facebook_vectors")
    except ImportError:
        raise MissingExtraError("gensim", "static", "reading a fastText model (.bin)") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of gensim, about other versions of fastText
            model = load(str(path))
    # Whatever gensim trips over in a damaged file.
    except Exception as error:
        raise TextError(
            f"{path}: is a fastText model that gensim can't read ({error!r}). Use the .vec file beside it, or write "
            "one: fasttext print-word-vectors MODEL < WORDS > VECTORS.vec"
        ) from None
    seen = model.index_to_key
    kept: dict[str, None] = dict.fromkeys(seen[:max_words] if words is None or max_words is not None else ())
    for word in sorted(words or ()):
        if word in model.key_to_index or word.lower() not in model.key_to_index:
            kept[word] = None
        else:
            kept[word.lower()] = None
    found = {word: vector for word in kept if (vector := _vector(model, word)) is not None}
    matrix = np.array(list(found.values()), dtype=np.float32).reshape(len(found), model.vector_size)
    return tuple(found), matrix


def _vector(model: Any, word: str) -> Float32[np.ndarray, " dim"] | None:
    """None for a word without an n-gram, such as an empty one."""
    try:
        return model.get_vector(word) if word else None
    except KeyError:
        return None
