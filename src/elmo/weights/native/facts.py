"""config.json and tokens.json of a model folder <-> the architecture, the facts about a model and its token map.

Models that read only bytes need no tokens.json.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from elmo.config import BiLMConfig
from elmo.disk.bounded import file_hash, is_file, shown, understood
from elmo.disk.json_file import read_json
from elmo.errors import WeightFileError
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap
from elmo.text.word_list import most_bytes
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.fingerprint import text_hash
from elmo.weights.native.names import CONFIG_FILE, TOKENS_FILE, VOCABULARY_FILE

FORMAT_VERSION = 1
# SHA-256 of the architecture and of the files beside the tensors, which carry their own. The metadata and the model
# card are text for people, who may edit them.
_HASHES_KEY = "sha256"
_HASHED_FILES = (VOCABULARY_FILE, TOKENS_FILE)
_CONFIG_KEYS = ("format_version", "architecture", "source_format", "source_hash", "metadata", _HASHES_KEY)


def facts_of(checkpoint: Checkpoint, folder: Path) -> dict[str, Any]:
    """The content of config.json for a checkpoint whose other files are in `folder`."""
    architecture = asdict(checkpoint.config)
    hashes = {name: file_hash(folder / name) for name in _HASHED_FILES if (folder / name).is_file()}
    hashes["architecture"] = text_hash(json.dumps(architecture, sort_keys=True))
    origin = (checkpoint.source_format, checkpoint.source_hash, checkpoint.metadata)
    return dict(zip(_CONFIG_KEYS, (FORMAT_VERSION, architecture, *origin, hashes), strict=True))


def require_hashes(facts: Mapping[str, Any], folder: Path) -> None:
    """Raises WeightFileError unless the architecture and the files have the SHA-256 that config.json states.

    The words, which may be left out of a model folder, may be missing.
    """
    hashes = facts[_HASHES_KEY]
    found = {"architecture": text_hash(json.dumps(facts["architecture"], sort_keys=True))}
    found |= {name: file_hash(folder / name) for name in _HASHED_FILES if is_file(folder / name)}
    for name in ("architecture", TOKENS_FILE, VOCABULARY_FILE):
        needed = name != VOCABULARY_FILE or name in found
        if needed and hashes.get(name) not in (None, found.get(name)):
            what = f"{folder / CONFIG_FILE}: 'architecture'" if name == "architecture" else str(folder / name)
            raise WeightFileError(
                f"{what} has the SHA-256 {found.get(name)}, but {CONFIG_FILE} states {hashes[name]}: it was changed. "
                "Get the model again."
            )


def read_facts(path: Path) -> dict[str, Any]:
    """The facts in config.json. Raises WeightFileError for a file of another kind or version."""
    facts = read_json(path)
    if (version := facts.get("format_version")) != FORMAT_VERSION:
        keys = ", ".join(map(shown, sorted(facts)[:8])) or "none"
        raise WeightFileError(
            f"{path}: format_version is {shown(version)} (the file's keys: {keys}), but this elmo reads "
            f"{FORMAT_VERSION}. Upgrade with 'pip install --upgrade pyelmo', or pass a folder that 'elmo convert' or a "
            "pretraining run wrote; one of 'elmo task train' is for 'elmo task predict'."
        )
    return facts


def byte_map(config: BiLMConfig) -> TokenMap | None:
    """The token map that needs no file."""
    if config.characters != "bytes" or config.has_words:
        return None
    return TokenMap(CharacterMap.for_bytes(config.max_characters_per_token))


def read_token_map(path: Path, config: BiLMConfig) -> TokenMap:
    """The token map in the file `path`, or the one that needs no file. Raises WeightFileError."""
    default = byte_map(config)
    if default is not None and not os.path.lexists(path):
        return default
    rows = config.num_words + (config.num_characters if config.has_characters else 0)
    values = read_json(path, limit=most_bytes(rows))
    with understood(path, WeightFileError, "The token map is damaged. Get the model again."):
        token_map = TokenMap.from_dict(values)
        token_map.ids(token_map.boundary_tokens)
    return token_map
