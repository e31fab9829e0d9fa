"""ELMoForManyLangs' dictionaries, char.dic and word.dic -> TokenMap.

Source: HIT-SCIR/ELMoForManyLangs `elmo.py`, `frontend.py`. The quirks: ids count from 0 there, here every id moves up
by 1, because 0 means no token; the released code opens a word with `<eow>` and closes it with `<bow>`, in training and
in use; a word is cut before it is looked up, in both dictionaries; lines are stripped before they are split.
"""

import io
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from elmo.config import BiLMConfig
from elmo.disk.bounded import read_bytes, readable
from elmo.errors import WeightFileError
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap, WordMap
from elmo.text.word_list import most_bytes

BOUNDARY_TOKENS = ("<bos>", "<eos>")
UNKNOWN = "<oov>"
IDEOGRAPHIC_SPACE = "\u3000"
# Ours -> theirs; the words' begin and end are swapped on purpose (see the quirks).
_MARKS = {
    "begin_sentence": "<bos>",
    "end_sentence": "<eos>",
    "begin_word": "<eow>",
    "end_word": "<bow>",
    "padding": "<pad>",
    "unknown": UNKNOWN,
}
GET_AGAIN = "Get the folder again from the model's publisher, all its files together."


def read_token_map(folder: Path, config: BiLMConfig) -> TokenMap:
    """The token map of the folder's model. Raises `WeightFileError` with file and line."""
    limit = config.max_characters_per_token
    characters = words = None
    if config.has_characters:
        path = folder / "char.dic"
        dictionary = _read_dictionary(path, config.num_characters, _MARKS.values())
        marks = {ours: dictionary[theirs] for ours, theirs in _MARKS.items()}
        characters = CharacterMap.for_dictionary(dictionary, marks, limit, BOUNDARY_TOKENS)
        characters = replace(characters, num_characters=config.num_characters)
    if config.has_words:
        dictionary = _read_dictionary(folder / "word.dic", config.num_words, (*BOUNDARY_TOKENS, UNKNOWN))
        words = WordMap(dictionary, UNKNOWN, max_characters=limit - 2, boundary_tokens=BOUNDARY_TOKENS)
    return TokenMap(characters, words)


def _read_dictionary(path: Path, num_ids: int, needed: Iterable[str]) -> dict[str, int]:
    """symbol -> id, moved up by 1. A symbol that occurs twice has its last id, as in the original."""
    with readable(path, WeightFileError, GET_AGAIN):
        content = read_bytes(path, limit=most_bytes(num_ids))
    dictionary = {}
    for number, line in enumerate(io.BytesIO(content), start=1):
        symbol, theirs = _read_line(line.removesuffix(b"\n"), f"{path}:{number}")
        if not 0 <= theirs < num_ids - 1:
            raise WeightFileError(
                f"{path}:{number}: id {theirs} of {symbol!r} has no row: the embedding in token_embedder.pkl has "
                f"{num_ids - 1} rows, so these files belong to different models. {GET_AGAIN}"
            )
        dictionary[symbol] = theirs + 1
    if missing := [symbol for symbol in needed if symbol not in dictionary]:
        raise WeightFileError(
            f"{path}: {missing[0]!r} is missing, which every sentence needs: the file is damaged or cut short. "
            f"{GET_AGAIN}"
        )
    return dictionary


def _read_line(line: bytes, where: str) -> tuple[str, int]:
    try:
        # The original strips before it splits: a symbol of white space vanishes, which then means U+3000.
        fields = line.decode("utf-8").strip().split("\t")
        symbol, number = fields if len(fields) > 1 else (IDEOGRAPHIC_SPACE, fields[0])
        return symbol, int(number)
    except ValueError as error:
        raise WeightFileError(
            f"{where}: is not 'symbol<TAB>id' in UTF-8 ({error}): {line[:40]!r}. {GET_AGAIN}"
        ) from None
