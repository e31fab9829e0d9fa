"""Resolves a model name to local files; downloads only what is missing."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path

from elmo.disk.atomic import recover
from elmo.errors import ConfigError, ElmoError, WeightFileError, paths_count_from
from elmo.process.progress.report import Progress
from elmo.weights.allennlp.pair import pair_of
from elmo.weights.catalogue import KnownModel, bundled_folders, known_models
from elmo.weights.download import HUB_ID, downloaded, hub_library
from elmo.weights.native.names import model_folder
from elmo.weights.published.sources import is_published

DEFAULT_MODEL = "small-en"
MODEL_VARIABLE = "ELMO_MODEL"

Model = str | Path | tuple[str | Path, str | Path] | None
Files = Path | tuple[Path, Path]

_LONGEST_NAME = 300
# What ends so is a file, not an id of the hub, though my-run/options.json looks like org/name.
_ENDINGS = (".json", ".hdf5", ".h5", ".safetensors", ".pkl", ".th", ".pt")


def resolve(model: Model = None, *, download: bool = True, progress: Progress | bool = True) -> Files:
    """The local folder or file of a model, or its pair (options.json, weights.hdf5).

    `model`: None for $ELMO_MODEL, or else the bundled default; the name of a bundled model (`./NAME` for a folder
    called like one); an existing path, where the folder of a pretraining run means the model in it, and a zip archive
    is unpacked once, into the cache folder; a pair (options.json, weights.hdf5); the name of a published model
    ("original", "many-langs/ko", "nlpl:154"), downloaded from its publishers once (see `published.fetch`); an id
    `org/name` or `org/name@REVISION` of the Hugging Face hub, downloaded once too (see `download`). `download`: False
    asks no network. `progress`: of a published model's download, as for `fetch.fetched`. Raises WeightFileError if
    there is no such model, ConfigError for what is none of these, MissingExtraError for a hub's id without
    huggingface_hub.
    """
    if model is None:
        model = os.environ.get(MODEL_VARIABLE) or DEFAULT_MODEL
    if isinstance(model, tuple | list):
        return _files_of_pair(model)
    if not isinstance(model, str | Path) or not str(model):
        raise ConfigError(
            f"model is {model!r}, but must be a name, a path or a pair (options.json, weights.hdf5). "
            f"{_names_of_models()}"
        )
    if isinstance(model, str) and (folder := bundled_folders().get(model)) is not None:
        return folder
    path = _expanded(model)
    if _exists(path) or recover(path):
        return model_folder(path) or _unpacked(path)
    if isinstance(model, str) and is_published(model):
        # Here, because it reads the formats, which ask for names of models themselves.
        from elmo.weights.published.fetch import fetched

        return fetched(model, download=download, progress=progress)
    if isinstance(model, str) and model in known_models():
        raise WeightFileError(_without_files(known_models()[model]))
    if isinstance(model, str) and HUB_ID.fullmatch(model) and path.suffix not in _ENDINGS:
        return _from_hub(model, download)
    raise WeightFileError(
        f"{_named(model)}: there is no such file or folder, and no model of that name. {paths_count_from()}. "
        f"{_names_of_models()}"
    )


def refuse_name(given: object, owner: str, takes: str) -> None:
    """ConfigError if a class was given a model name or path. `owner`: the class. `takes`: what it takes."""
    if given is None or isinstance(given, str | os.PathLike | tuple | list):
        call = f"{owner}.from_pretrained({'' if given is None else repr(given)})"
        raise ConfigError(
            f"{owner}(...) was given {given!r}, but takes {takes}. A model is loaded from its name or path by {call}."
        )


def upload(folder: str | Path, hub_id: str, *, private: bool = False) -> str:
    """Puts a model folder on the Hugging Face hub under `org/name`; the page's address.

    Raises WeightFileError if the folder is not a model folder or the hub refuses (log in with `hf auth login`).
    """
    folder = Path(folder)
    if not (folder / "config.json").is_file():
        raise WeightFileError(
            f"{folder}: config.json is missing, so this is not a model folder. Write one first, with "
            "save_pretrained() or 'elmo convert SRC DST --to native'."
        )
    huggingface_hub = hub_library("putting a model on a hub")
    try:
        huggingface_hub.create_repo(hub_id, private=private, exist_ok=True)
        huggingface_hub.upload_folder(repo_id=hub_id, folder_path=folder)
    except (OSError, ValueError) as error:
        raise WeightFileError(
            f"{hub_id}: the model in {folder} could not be put on the hub: {_first_line(error)} "
            "Log in with 'hf auth login' and check the name and your rights to it."
        ) from error
    return f"https://huggingface.co/{hub_id}"


def _unpacked(path: Path) -> Path:
    """The folder of the model in a zip archive; anything else as it is."""
    if path.suffix.lower() != ".zip" or not path.is_file():
        return path
    from elmo.weights.published.fetch import from_archive  # as above

    try:
        folder = from_archive(path)
    except OSError as error:
        if isinstance(error, ElmoError):
            raise
        raise _unreadable(path, error) from None
    return model_folder(folder) or folder


def _expanded(model: str | Path) -> Path:
    """The path, with ~ and ~user for a home folder where there is one."""
    try:
        return Path(model).expanduser()
    except RuntimeError:  # there is no such user
        return Path(model)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> WeightFileError:
    return WeightFileError(
        f"{_named(path)}: can't be read: {error.strerror or error}. Check the path and its permissions."
    )


def _named(model: str | Path) -> str:
    """A path or name as it was given, short enough for a message."""
    text = str(model)
    return text if len(text) <= _LONGEST_NAME else f"{text[:40]}... ({len(text):,} characters)"


def _files_of_pair(model: Sequence[str | Path]) -> tuple[Path, Path]:
    options, weights = map(_expanded, pair_of(model))
    for path, what in ((options, "options"), (weights, "weights")):
        if not (_exists(path) and path.is_file()):
            raise WeightFileError(
                f"{_named(path)}: there is no such file of {what}. {paths_count_from()}; pass the pair "
                "(options.json, weights.hdf5) of one model."
            )
    return options, weights


def _from_hub(hub_id: str, download: bool) -> Path:
    name = hub_id.partition("@")[0]
    try:
        return downloaded(hub_id, download=download)
    except ElmoError:
        raise
    except Exception as error:  # also those of the HTTP client below the hub's library, which differ by version
        raise WeightFileError(
            f"{hub_id}: is not a file or folder here, and the Hugging Face hub did not give a model of that name: "
            f"{_first_line(error)} Check the spelling and the network, or get the files by hand: "
            f"'hf download {name} --local-dir FOLDER' where there is a network, copy FOLDER here and pass its path. "
            f"{_names_of_models()}"
        ) from error


def _first_line(error: Exception) -> str:
    text = (str(error).strip() or type(error).__name__).splitlines()[0].strip()
    return text if text.endswith(".") else f"{text}."


def _without_files(model: KnownModel) -> str:
    return (
        f"{model.name}: this bundled model is not in this installation, so the package is not complete. Install it "
        f"again with 'pip install --force-reinstall pyelmo', or pass another model. {_names_of_models()}"
    )


def _names_of_models() -> str:
    names = ", ".join(bundled_folders()) or "none in this installation"
    return f"Bundled models: {names}; 'elmo models' lists all known ones."
