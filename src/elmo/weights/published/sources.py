"""Which files a published name means, and at which addresses each of them is tried.

original, small, ...   the files that the catalogue lists
many-langs/ko          ELMoForManyLangs' archive of a language
nlpl:154               any archive of the NLPL repository that holds an ELMo model
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from elmo.errors import WeightFileError
from elmo.weights.catalogue import KnownModel, known_models

MIRRORS_VARIABLE = "ELMO_MIRRORS"
"""Environment variable: addresses, separated by spaces, that are tried before the publishers': ADDRESS/NAME/FILE."""

_FAMILY = "many-langs/"
_NLPL = re.compile(r"nlpl:([0-9]{1,5})")
_FLOAT_BYTES = 4


@dataclass(frozen=True)
class RemoteFile:
    """One file and where it can be had."""

    name: str
    addresses: tuple[str, ...]
    """In the order in which they are tried."""
    publisher: str
    """The publisher's address, for a person."""
    min_bytes: int = 1
    """Fewer bytes than these can't be the file."""


@dataclass(frozen=True)
class Source:
    """The files of one published model."""

    name: str
    files: tuple[RemoteFile, ...]
    """The weights, or the archive, come last."""
    is_archive: bool
    otherwise: "Source | None" = None
    """The same model as other files, if these can't be had."""


def is_published(name: str) -> bool:
    """Whether `name` has the form of a published model's name; `source_of` raises if there is no such model."""
    known = known_models().get(name)
    return (known is not None and not known.bundled) or name.startswith(_FAMILY) or name.startswith("nlpl:")


def source_of(name: str, mirrors: Sequence[str] = ()) -> Source:
    """The files of the published model `name`; `mirrors`, then those of $ELMO_MIRRORS, are tried first.

    Raises WeightFileError if there is no such model, or if no address is known.
    """
    first = (*mirrors, *os.environ.get(MIRRORS_VARIABLE, "").split())
    if f"{name}/".startswith(_FAMILY):
        family, language = known_models()["many-langs"], name.removeprefix(_FAMILY)
        if language not in family.archives:
            raise WeightFileError(
                f"{name}: ELMoForManyLangs has no such language. Name one as {_FAMILY}CODE, with one of "
                f"{', '.join(family.archives)}."
            )
        return _archive(name, family.archives[language], family.addresses, first)
    if name.startswith("nlpl:"):
        match = _NLPL.fullmatch(name)
        if match is None:
            raise WeightFileError(f"{name}: is not nlpl:NUMBER, with a number of https://vectors.nlpl.eu/repository/.")
        return _archive(name, int(match[1]), known_models()["many-langs"].addresses, first)
    return _files(known_models()[name], first)


def _archive(name: str, number: int, roots: Sequence[str], mirrors: Sequence[str]) -> Source:
    file = f"{number}.zip"
    archive = RemoteFile(file, _addresses(name, file, roots, mirrors), f"{roots[0]}{file}")
    return Source(name, (archive,), is_archive=True)


def _files(model: KnownModel, mirrors: Sequence[str]) -> Source:
    if not model.addresses:
        page = "" if model.source == "unknown" else f" ({model.source})"
        raise WeightFileError(
            f"{model.name}: no address of this model is known. Get its files ({', '.join(model.files)}) from its "
            f"publishers{page} and pass the pair (options.json, weights.hdf5)."
        )
    files = Source(model.name, tuple(_file(model, file, mirrors) for file in model.files), is_archive=False)
    if not model.archive:
        return files
    root, _, archive = model.archive.rpartition("/")
    zipped = RemoteFile(archive, _addresses(model.name, archive, [f"{root}/"], mirrors), model.archive)
    return Source(model.name, (zipped,), is_archive=True, otherwise=files)


def _file(model: KnownModel, file: str, mirrors: Sequence[str]) -> RemoteFile:
    copied_as = next((name for name in ("options.json", "weights.hdf5") if file.endswith(name)), file)
    return RemoteFile(
        file,
        (*_addresses(model.name, file, model.addresses, mirrors), *(f"{copy}{copied_as}" for copy in model.copies)),
        f"{model.addresses[0]}{file}",
        _FLOAT_BYTES * (model.parameters or 0) if file.endswith(".hdf5") else 1,
    )


def _addresses(name: str, file: str, roots: Sequence[str], mirrors: Sequence[str]) -> tuple[str, ...]:
    return (*(f"{mirror.rstrip('/')}/{name}/{file}" for mirror in mirrors), *(f"{root}{file}" for root in roots))
