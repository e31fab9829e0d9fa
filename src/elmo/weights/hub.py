"""Hub: what a person calls a model -> where its files are. The network is asked last, and only for an `org/name`."""

import os
import re
from pathlib import Path

from elmo.errors import ConfigError, WeightFileError
from elmo.weights.catalogue import KnownModel, bundled_folders, known_models

DEFAULT_MODEL = "small-en"
MODEL_VARIABLE = "ELMO_MODEL"

Model = str | Path | tuple[str | Path, str | Path] | None
Files = Path | tuple[Path, Path]

_HUB_ID = re.compile(r"[A-Za-z0-9_][\w.-]*/[\w.-]+", re.ASCII)
# What a model of any readable format consists of; a repository's other files stay where they are.
_MODEL_FILES = ["*.json", "*.safetensors", "*.txt", "*.md", "*.hdf5", "*.dic", "*.pkl"]


def resolve(model: Model = None, *, download: bool = True) -> Files:
    """The local folder or file of a model, or its pair (options.json, weights.hdf5).

    `model`: None for $ELMO_MODEL, or else the bundled default; the name of a bundled model (`./NAME` for a folder
    called like one); an existing path; a pair (options.json, weights.hdf5); an id `org/name` of the Hugging Face hub,
    which is downloaded once, unless `download` is False. Raises WeightFileError if there is no such model, ConfigError
    for what is none of these.
    """
    if model is None:
        model = os.environ.get(MODEL_VARIABLE) or DEFAULT_MODEL
    if isinstance(model, tuple | list):
        return _pair(model)
    if not isinstance(model, str | Path) or not str(model):
        raise ConfigError(
            f"model is {model!r}, but must be a name, a path or a pair (options.json, weights.hdf5). "
            f"{_names_of_models()}"
        )
    if isinstance(model, str) and (folder := bundled_folders().get(model)) is not None:
        return folder
    path = Path(model).expanduser()
    if path.exists():
        return path
    if isinstance(model, str) and model in known_models():
        raise WeightFileError(_without_files(known_models()[model]))
    if isinstance(model, str) and _HUB_ID.fullmatch(model):
        return _from_hub(model, download)
    raise WeightFileError(
        f"{model}: there is no such file or folder, and no model of that name. Paths count from {Path.cwd()}. "
        f"{_names_of_models()}"
    )


def upload(folder: str | Path, hub_id: str, *, private: bool = False) -> str:
    """Puts a model folder on the Hugging Face hub under `org/name`; the page's address.

    Raises WeightFileError if the folder is no model folder or the hub refuses (log in with `hf auth login`).
    """
    folder = Path(folder)
    if not (folder / "config.json").is_file():
        raise WeightFileError(
            f"{folder}: config.json is missing, so it is no model folder. Write one first, with save_pretrained() or "
            "'elmo convert SRC DST --to native'."
        )
    # Here, because the library takes long to import and is needed for this only.
    import huggingface_hub

    try:
        huggingface_hub.create_repo(hub_id, private=private, exist_ok=True)
        huggingface_hub.upload_folder(repo_id=hub_id, folder_path=folder)
    except (OSError, ValueError) as error:
        raise WeightFileError(
            f"{hub_id}: the model in {folder} could not be put on the hub: {_first_line(error)} "
            "Log in with 'hf auth login' and check the name and your rights to it."
        ) from error
    return f"https://huggingface.co/{hub_id}"


def _pair(model: tuple | list) -> tuple[Path, Path]:
    if len(model) != 2:
        raise ConfigError(f"a model of {len(model)} files was given, but only a pair (options.json, weights.hdf5) is.")
    options, weights = (Path(part).expanduser() for part in model)
    for path, what in ((options, "options"), (weights, "weights")):
        if not path.is_file():
            raise WeightFileError(
                f"{path}: there is no such file of {what}. Paths count from {Path.cwd()}; pass the pair "
                "(options.json, weights.hdf5) of one model."
            )
    return options, weights


def _from_hub(hub_id: str, download: bool) -> Path:
    # Here, because the library takes long to import and is needed for this only.
    import huggingface_hub

    try:
        return Path(
            huggingface_hub.snapshot_download(hub_id, allow_patterns=_MODEL_FILES, local_files_only=not download)
        )
    except (OSError, ValueError) as error:
        raise WeightFileError(
            f"{hub_id}: is no file or folder here, and the Hugging Face hub did not give a model of that name: "
            f"{_first_line(error)} Check the spelling and the network, or get the files by hand: "
            f"'hf download {hub_id} --local-dir FOLDER' where there is a network, copy FOLDER here and pass its path. "
            f"{_names_of_models()}"
        ) from error


def _first_line(error: Exception) -> str:
    text = (str(error).strip() or type(error).__name__).splitlines()[0].strip()
    return text if text.endswith(".") else f"{text}."


def _without_files(model: KnownModel) -> str:
    if model.bundled:
        return (
            f"{model.name}: this bundled model is not in this installation, so the package is not complete. Install it "
            f"again with 'pip install --force-reinstall pyelmo', or pass another model. {_names_of_models()}"
        )
    use = "the folder that holds them" if model.format == "many_langs" else "the pair (options.json, weights.hdf5)"
    return (
        f"{model.name}: is a published model, but its files are not in the package and there is no folder of that "
        f"name in {Path.cwd()}. Get its files ({', '.join(model.files)}) from its publishers and pass {use}."
    )


def _names_of_models() -> str:
    names = ", ".join(bundled_folders()) or "none in this installation"
    return f"Bundled models: {names}; 'elmo models' lists all known ones."
