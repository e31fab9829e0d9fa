"""tokens.json of a model folder -> TokenMap; models that read only bytes need no such file."""

from pathlib import Path

from elmo.config import BiLMConfig
from elmo.disk.json_file import read_json
from elmo.errors import WeightFileError
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap

_MAX_TOKENS_BYTES = 1 << 30


def byte_map(config: BiLMConfig) -> TokenMap | None:
    """The token map that needs no file."""
    if config.characters != "bytes" or config.has_words:
        return None
    return TokenMap(CharacterMap.for_bytes(config.max_characters_per_token))


def read_token_map(path: Path, config: BiLMConfig) -> TokenMap:
    """The token map in the file `path`, or the one that needs no file. Raises WeightFileError."""
    default = byte_map(config)
    if default is not None and not path.exists():
        return default
    values = read_json(path, limit=_MAX_TOKENS_BYTES)
    try:
        token_map = TokenMap.from_dict(values)
        token_map.ids(token_map.boundary_tokens)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        detail = f"key {error} is missing" if isinstance(error, KeyError) else str(error)
        raise WeightFileError(f"{path}: is no token map ({detail}): it is damaged. Get the model again.") from None
    return token_map
