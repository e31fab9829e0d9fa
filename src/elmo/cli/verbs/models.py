"""`elmo models`: the models known by name."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from elmo.cli.arguments import parsed
from elmo.weights.catalogue import KnownModel, known_models


@dataclass(frozen=True)
class Arguments:
    """List the models that can be used by name: those on this machine, and the published ones.

    All commands take these names. A published model is downloaded from its publisher when it is first used, or in
    advance with 'elmo download NAME'."""

    json: bool = False
    """Print everything that is known, as JSON."""


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "models")
    models = list(known_models().values())
    if arguments.json:
        print(json.dumps([_facts(model) for model in models], indent=2, ensure_ascii=False))
        return 0
    here = [model for model in models if _folder(model)]
    absent = [model for model in models if not _folder(model)]
    print(_table(here, "ready to use (pass the name)"))
    print()
    print(_table([model for model in absent if model.addresses], "downloaded at the first use (pass the name)"))
    print(f"  {'nlpl:NUMBER':15} {'':7}  any ELMo model of the NLPL repository, by its number: nlpl:154")
    print()
    print(_table([model for model in absent if not model.addresses], "known, but without an address (pass the files)"))
    return 0


def _facts(model: KnownModel) -> dict[str, Any]:
    from elmo.weights.published import fetch  # as below

    folder = _folder(model)
    seen = {} if model.bundled else fetch.seen_hashes(model.name)
    return {**asdict(model), "folder": None if folder is None else str(folder), "seen_sha256": seen}


def _folder(model: KnownModel) -> Path | None:
    """Where the model is, if it comes with the package or was downloaded."""
    if model.bundled:
        return model.folder
    from elmo.weights.published import fetch  # here, so that --help does not wait for the libraries that read weights

    is_here = bool(model.addresses) and not model.archives and fetch.is_downloaded(model.name)
    return fetch.published_folder(model.name) if is_here else None


def _table(models: list[KnownModel], title: str) -> str:
    lines = [f"{title}:"]
    for model in models:
        name = f"{model.name}/CODE" if model.archives else model.name
        size = "" if model.parameters is None else f"{model.parameters / 1e6:.1f} M"
        languages = ", ".join(model.languages)
        lines.append(f"  {name:15} {size:>7}  {model.format:10}  {languages}; data: {model.data}")
        if model.archives:
            lines.append(f"  {'':15} {'':7}  {' '.join(model.archives)}")
    return "\n".join(lines if models else [f"{lines[0]} none"])
