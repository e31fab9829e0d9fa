"""tokens.json of a model folder -> TokenMap; models that read only bytes need no such file."""

from pathlib import Path

from elmo.config import BiLMConfig
from elmo.disk.bounded import is_there
from elmo.disk.json_file import read_json
from elmo.errors import WeightFileError
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap

_MAX_BYTES = 64 << 20
# What the file may have for each row of the embeddings, whose number the tensors have confirmed by then.
_BYTES_PER_ROW = 128
_BYTES_BESIDE = 1 << 20


def byte_map(config: BiLMConfig) -> TokenMap | None:
    """The token map that needs no file."""
    if config.characters != "bytes" or config.has_words:
        return None
    return TokenMap(CharacterMap.for_bytes(config.max_characters_per_token))


def read_token_map(path: Path, config: BiLMConfig) -> TokenMap:
    """The token map in the file `path`, or the one that needs no file. Raises WeightFileError."""
    default = byte_map(config)
    if default is not None and not is_there(path):
        return default
    rows = config.num_words + (config.num_characters if config.has_characters else 0)
    values = read_json(path, limit=min(_MAX_BYTES, _BYTES_BESIDE + _BYTES_PER_ROW * rows))
    try:
        token_map = TokenMap.from_dict(values)
        token_map.ids(token_map.boundary_tokens)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        detail = f"key {error} is missing" if isinstance(error, KeyError) else str(error)
        raise WeightFileError(f"{path}: is not a token map ({detail}): it is damaged. Get the model again.") from None
    return token_map
