"""`elmo download`: a model by its name -> a folder of this machine."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from elmo.cli.arguments import NoProgress, parsed


@dataclass(frozen=True)
class Arguments:
    """Download a model once, and print the folder that it is in.

    The other commands download a published model when they need it; this one downloads it in advance, for instance on
    the only machine with a network. An interrupted download starts again."""

    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")]
    """A published model ('elmo models' lists them): original, small, many-langs/ko, nlpl:154; or an id of the Hugging
    Face hub (org/name)."""
    mirror: tuple[str, ...] = ()
    """Addresses to try before the publishers', as ADDRESS/NAME/FILE (default: $ELMO_MIRRORS)."""
    json: bool = False
    """Print name, folder and files as JSON."""
    quiet: NoProgress = False


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "download")
    from elmo.weights.hub import resolve
    from elmo.weights.published.fetch import fetched
    from elmo.weights.published.sources import is_published

    if is_published(arguments.name):
        folder = fetched(arguments.name, mirrors=arguments.mirror, progress=not arguments.quiet)
    else:
        folder = resolve(arguments.name)
        assert isinstance(folder, Path)  # only a pair is none
    if arguments.json:
        files = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else [folder.name]
        print(json.dumps({"name": arguments.name, "folder": str(folder), "files": files}, ensure_ascii=False))
    else:
        print(folder)
    return 0
