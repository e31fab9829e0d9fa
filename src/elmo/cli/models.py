"""`elmo models`: the models known by name."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from elmo.cli.arguments import parsed
from elmo.weights.catalogue import KnownModel, known_models


@dataclass(frozen=True)
class Arguments:
    """List the models that come with the package and the published ones; pass a name, or files, to other verbs."""

    json: bool = False
    """Print everything that is known, as JSON."""


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "models")
    models = known_models().values()
    if arguments.json:
        print(json.dumps([_facts(model) for model in models], indent=2, ensure_ascii=False))
    else:
        print(_table([model for model in models if model.folder is not None], "ready to use", "name"))
        print()
        absent = [model for model in models if model.folder is None]
        print(_table(absent, "known; get the files from their publishers", "files"))
    return 0


def _facts(model: KnownModel) -> dict[str, Any]:
    return {**asdict(model), "folder": None if model.folder is None else str(model.folder)}


def _table(models: list[KnownModel], title: str, use: str) -> str:
    lines = [f"{title} (pass the {use}):"]
    for model in models:
        size = "" if model.parameters is None else f"{model.parameters / 1e6:.1f} M"
        languages = ", ".join(model.languages)
        lines.append(f"  {model.name:14} {size:>7}  {model.format:10}  {languages}; data: {model.data}")
        lines.append(f"  {'':14} {'':7}  {', '.join(model.files)}")
    return "\n".join(lines if models else [f"{lines[0]} none"])
