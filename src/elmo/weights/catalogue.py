"""Catalogue: the models known by name, from `catalogue.toml`."""

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

MAX_BYTES = 8 << 30
"""Of all the files of a model together. The published original has 0.4 GB, with its softmax 2 GB."""

_CATALOGUE = Path(__file__).with_name("catalogue.toml")
_BUNDLED = Path(__file__).parents[1] / "bundled"


@dataclass(frozen=True)
class KnownModel:
    """What is known about one model; "unknown" where its sources don't say."""

    name: str
    languages: tuple[str, ...]
    format: str
    """native | allennlp | many_langs"""
    files: tuple[str, ...]
    """Their names where it was published; * means any beginning."""
    data: str
    """What it was trained on."""
    license: str
    paper: str
    parameters: int | None = None
    """Trained parameters without the softmax."""
    bundled: bool = False
    """Whether it comes with the package."""
    addresses: tuple[str, ...] = ()
    """Where its publishers have it, as the beginning of the address of each file; tried in this order."""
    archive: str = ""
    """The address of a zip archive with the files, which is tried before them."""
    copies: tuple[str, ...] = ()
    """Where others keep copies, called options.json and weights.hdf5 there: likewise, tried last."""
    size: str = "unknown"
    """Of the files together, as their publishers say."""
    source: str = "unknown"
    """Where the addresses were read, and on which day."""
    archives: dict[str, int] = field(default_factory=dict)
    """For a family of models: language code -> number of the language's archive, NUMBER.zip."""
    sha256: dict[str, str] = field(default_factory=dict)
    """Exact name of a published file -> SHA-256 of its bytes, as far as it is known."""

    @property
    def folder(self) -> Path | None:
        """The model folder, if the model comes with the package and this installation has it."""
        folder = _BUNDLED / self.name
        return folder if self.bundled and (folder / "config.json").is_file() else None


@cache
def known_models() -> dict[str, KnownModel]:
    """Every known model by its name, the bundled ones first."""
    tables = tomllib.loads(_CATALOGUE.read_text(encoding="utf-8"))
    lists = ("languages", "files", "addresses", "copies")
    return {
        name: KnownModel(name, **facts | {key: tuple(facts.get(key, ())) for key in lists})
        for name, facts in tables.items()
    }


def bundled_folders() -> dict[str, Path]:
    """Name and folder of every bundled model this installation has."""
    return {name: model.folder for name, model in known_models().items() if model.folder is not None}


def published_hash(file_name: str) -> str | None:
    """The SHA-256 of the published file of that name, if it is known."""
    return next((model.sha256[file_name] for model in known_models().values() if file_name in model.sha256), None)


def published_name(sha256: str) -> str | None:
    """The model that a published file of that SHA-256 belongs to, if it is known."""
    return next((model.name for model in known_models().values() if sha256 in model.sha256.values()), None)
