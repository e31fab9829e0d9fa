"""Prints how large the house is: lines, files and files with one importer, of all of src/elmo and of each room.

    python dev/house_size.py [ROOM ...]

With rooms, the files of each that one other file alone imports are listed with it.
"""

import ast
import sys
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"


def modules() -> dict[str, Path]:
    """The files of the package by the name that imports them."""
    found = {}
    for file in sorted((SOURCE / "elmo").rglob("*.py")):
        parts = file.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imported(file: Path, known: dict[str, Path]) -> set[str]:
    """The modules of the package that a file imports, anywhere in it; a package re-exports for all that it holds."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found & known.keys()


def main(rooms: list[str]) -> None:
    known = modules()
    importers = defaultdict(set)
    for name, file in known.items():
        for other in imported(file, known) - {name}:
            importers[other].add(name)
    single = {
        name: next(iter(importers[name]))
        for name, file in known.items()
        if len(importers[name]) == 1 and file.name != "__init__.py"
    }
    rows = defaultdict(lambda: [0, 0, 0])
    for name, file in known.items():
        room = name.split(".")[1] if name.count(".") > 1 or file.name == "__init__.py" and "." in name else "(loose)"
        for row in (rows[room], rows["all"]):
            row[0] += len(file.read_text(encoding="utf-8").splitlines())
            row[1] += 1
            row[2] += name in single
    print(f"{'room':14}{'lines':>8}{'files':>8}{'one importer':>14}")
    for room, (lines, files, ones) in sorted(rows.items(), key=lambda row: -row[1][0]):
        print(f"{room:14}{lines:8,}{files:8}{ones:14}")
    for name, importer in single.items():
        if name.split(".")[1] in rooms:
            lines = len(known[name].read_text(encoding="utf-8").splitlines())
            print(f"{lines:5}  {name.removeprefix('elmo.')}  <- {importer.removeprefix('elmo.')}")


if __name__ == "__main__":
    main(sys.argv[1:])
