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
from elmo.disk.bounded import file_hash, is_file, shown
from elmo.disk.json_file import read_json
from elmo.errors import WeightFileError
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap
from elmo.text.word_list import most_bytes
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.fingerprint import text_hash
from elmo.weights.native.names import CONFIG_FILE, RUN_MODEL, TOKENS_FILE, VOCABULARY_FILE

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

    A file that may be left out of a model folder may be missing.
    """
    hashes = facts[_HASHES_KEY]
    found = {"architecture": text_hash(json.dumps(facts["architecture"], sort_keys=True))}
    found |= {name: file_hash(folder / name) for name in hashes if name in _HASHED_FILES and is_file(folder / name)}
    for name, sha256 in hashes.items():
        if name == TOKENS_FILE and name not in found:
            raise WeightFileError(f"{folder / name}: is missing, but {CONFIG_FILE} lists it. Get the model again.")
        if name in found and found[name] != sha256:
            what = f"{folder / CONFIG_FILE}: 'architecture'" if name == "architecture" else str(folder / name)
            raise WeightFileError(
                f"{what} has the SHA-256 {found[name]}, but {CONFIG_FILE} states {sha256}: it was changed after the "
                "model was written, and the vectors would be others. Get the model again."
            )


def read_facts(path: Path) -> dict[str, Any]:
    """The facts in config.json, of the right keys and types. Raises WeightFileError."""
    if not path.is_file():
        problem = "is not a file" if os.path.lexists(path) else "is missing"
        raise WeightFileError(
            f"{path}: {problem}, so its folder is not a model folder. Pass a folder that 'elmo convert' or a "
            "pretraining run wrote."
        )
    facts = read_json(path)
    _refuse_task_model(facts, path.parent)
    version = facts.get("format_version")
    if version != FORMAT_VERSION or type(version) is not int:
        found = f"has no format_version (its keys: {', '.join(map(shown, sorted(facts)[:8])) or 'none'})"
        found = f"format_version is {shown(version)}" if "format_version" in facts else found
        raise WeightFileError(
            f"{path}: {found}, but this elmo reads format_version {FORMAT_VERSION}: a newer elmo wrote it, or it is of "
            "a model of another kind. Upgrade with 'pip install --upgrade pyelmo', or pass a folder that 'elmo "
            "convert' or a pretraining run wrote; 'elmo models' lists models that are known by name."
        )
    kinds = dict(zip(_CONFIG_KEYS, (int, dict, str, str, dict, dict), strict=True))
    if wrong := [key for key, kind in kinds.items() if not isinstance(facts.get(key), kind)]:
        found = shown(facts[wrong[0]]) if wrong[0] in facts else "missing"
        raise WeightFileError(f"{path}: {wrong[0]!r} is {found}: the file was edited or damaged. Get the model again.")
    return facts


def _refuse_task_model(facts: Mapping[str, Any], folder: Path) -> None:
    """WeightFileError for a model of `elmo task train`, whose files have the names of a biLM's."""
    if not (isinstance(task := facts.get("task"), str) and "bilm" in facts):
        return
    run = folder.parent if folder.name == RUN_MODEL else folder
    bilm, copied = facts["bilm"], folder / "bilm"
    named = str(copied) if os.path.lexists(copied) else bilm.get("model") if isinstance(bilm, dict) else None
    inside = f"The biLM in it is {named}: for that, use --model {named}." if named else "It has no biLM in it."
    raise WeightFileError(
        f"{run}: is a model of the task {task!r}, made by 'elmo task train', and not a biLM. To use it: elmo task "
        f"predict {run} TEXT. {inside}"
    )


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
    try:
        token_map = TokenMap.from_dict(values)
        token_map.ids(token_map.boundary_tokens)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        detail = f"key {error} is missing" if isinstance(error, KeyError) else str(error)
        raise WeightFileError(f"{path}: is not a token map ({detail}): it is damaged. Get the model again.") from None
    return token_map
