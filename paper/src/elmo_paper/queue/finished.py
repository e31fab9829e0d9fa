"""Finished trainings of the queue (`tables.py`) in small files, so that a table can go on on another machine.

    elmo-paper finished keep QUEUE FOLDER
    elmo-paper finished take QUEUE FOLDER --tasks snli

`keep` writes FOLDER/SECTION/SYSTEM.seed-N.tar.xz for each training that is finished and not there yet; FOLDER is
paper/finished by default. A file holds a few thousand bytes: the learning curve, the scores and the counts of
single examples, from which every table is made, and not the model. `take` unpacks them in QUEUE; what QUEUE has of a
training already is left as it is.

A training's folder is named after its settings, the names of the model and of the static vectors among them. So begin
the queue in the folder of the vectors, and give their name without a path:

    cd VECTORS_FOLDER && elmo-paper tables table2 QUEUE --data DATA --static word2vec-en.txt --model small-en

Data, vectors or a model may change under the same name. So neither FOLDER nor QUEUE mixes trainings of different ones:
`keep` stops at a file that holds another training of that name, `take` at a system that QUEUE has begun with other
hashes, and the queue compares them with what it finds.
"""

import argparse
import io
import json
import lzma
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from elmo.disk.atomic import new_folder, write_file
from elmo.disk.bounded import read_bytes
from elmo.disk.json_file import read_record
from elmo.errors import ConfigError
from elmo_paper.places import KEPT

OF_SYSTEM = ("run.json", "env.json")
"""The second one only of trainings of before 2026-11-26, which have none of their own."""
COMPARED = ("task", "settings", "data", "vectors", "bilm")
"""Facts of a run.json that make two trainings the same one."""
OF_SEED = (
    "metrics.jsonl",
    "env.json",
    "scores.json",
    "dev.examples.json",
    "test.examples.json",
    "second_test.examples.json",
)
_LARGEST = 1 << 24
"""Bytes of a file, packed or not."""


def main(argv: Sequence[str] | None = None) -> int:
    """Keeps or takes; the exit code."""
    given = _arguments(argv)
    work = keep if given.action == "keep" else take
    _tell(work(given.queue, given.kept, given.tasks))
    return 0


def _tell(written: Iterator[Path]) -> None:
    """Each as soon as it is there: what follows may fail."""
    for path in written:
        print(f"written: {path}")


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    made = argparse.ArgumentParser(
        "elmo-paper finished", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("action", choices=("keep", "take"))
    made.add_argument("queue", type=Path, metavar="QUEUE", help="the folder of elmo-paper tables")
    made.add_argument("kept", type=Path, metavar="FOLDER", nargs="?", default=KEPT, help="of the small files")
    made.add_argument("--tasks", nargs="+", help="only these sections of the plan")
    return made.parse_args(argv)


def keep(queue: Path, kept: Path, sections: Sequence[str] | None = None) -> Iterator[Path]:
    """Packs what is finished and not packed yet.

    Raises ConfigError for a QUEUE without trainings, and where FOLDER holds a training of other data or models.
    """
    done = sorted(queue.glob("*/runs/*/seed-*/scores.json"))
    if not done:
        raise ConfigError(f"{queue}: no training is finished there (SECTION/runs/SYSTEM/seed-N). Check the path.")
    for scores in done:
        seed = scores.parent
        system, section = seed.parent, seed.parents[2].name
        archive = kept / section / f"{system.name}.{seed.name}.tar.xz"
        if sections and section not in sections:
            continue
        if archive.is_file():
            _require_same(archive, _facts_of(_unpacked(archive, seed.name)), system / "run.json")
            continue
        packed = _packed(system, [*map(Path, OF_SYSTEM), *(Path(seed.name, name) for name in OF_SEED)])
        archive.parent.mkdir(parents=True, exist_ok=True)
        write_file(archive, packed, force=False)
        yield archive


def _packed(system: Path, names: Sequence[Path]) -> bytes:
    """The files there are, without times and owners: packed again they are the same bytes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in names:
            if (system / name).is_file():
                content = read_bytes(system / name, limit=_LARGEST)
                member = tarfile.TarInfo(name.as_posix())
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return lzma.compress(buffer.getvalue(), preset=9)


def take(queue: Path, kept: Path, sections: Sequence[str] | None = None) -> Iterator[Path]:
    """Unpacks what QUEUE doesn't have.

    Raises ConfigError if there is nothing to take, for a damaged file, and for a training of other data or models than
    those that QUEUE has begun its system with.
    """
    archives = [path for path in sorted(kept.glob("*/*.seed-*.tar.xz")) if not sections or path.parent.name in sections]
    if not archives:
        raise ConfigError(f"{kept}: there is no SECTION/SYSTEM.seed-N.tar.xz to take. Check the path and --tasks.")
    for path in archives:
        system, seed = path.name.removesuffix(".tar.xz").rsplit(".", 1)
        folder = queue / path.parent.name / "runs" / system
        if (folder / seed).exists():
            continue
        files = _unpacked(path, seed)
        _require_same(path, _facts_of(files), folder / "run.json")
        of_seed = {Path(name).name: content for name, content in files if "/" in name}
        for name, content in files:
            if "/" not in name and not (folder / name).is_file():
                folder.mkdir(parents=True, exist_ok=True)
                write_file(folder / name, content, force=False)
        size = sum(map(len, of_seed.values()))
        with new_folder(folder / seed, size=size, force=False, replaceable=frozenset()) as unfinished:
            for name, content in of_seed.items():
                (unfinished / name).write_bytes(content)
        yield folder / seed


def _require_same(archive: Path, facts: dict[str, Any], noted: Path) -> None:
    """ConfigError if the training in the archive isn't one of the system that was begun as `noted` says."""
    if not noted.is_file():
        return
    begun = read_record(noted)
    for name in COMPARED:
        one, other = facts.get(name), begun.get(name)
        if name == "settings" and one and other:  # a version of elmo may have more of them than another
            one, other = ({key: given[key] for key in one.keys() & other.keys()} for given in (one, other))
        if name in facts and name in begun and one != other:
            raise ConfigError(
                f"{archive}: its training was begun with the {name} {_short(facts[name])}, but {noted} says "
                f"{_short(begun[name])}: one table would hold both. Use another FOLDER or QUEUE, or remove what is old."
            )


def _short(value: object) -> str:
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 80 else f"{text[:80]}..."


def _facts_of(files: Sequence[tuple[str, bytes]]) -> dict[str, Any]:
    """Of the system's run.json; nothing if there is none."""
    return next((json.loads(content) for name, content in files if name == "run.json"), {})


def _unpacked(path: Path, seed: str) -> list[tuple[str, bytes]]:
    """Names and contents. Raises ConfigError for anything but the files that `keep` packs of that seed."""
    allowed = {*OF_SYSTEM, *(f"{seed}/{name}" for name in OF_SEED)}
    try:
        content = lzma.LZMADecompressor().decompress(read_bytes(path, limit=_LARGEST), max_length=_LARGEST)
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            found = [(member.name, archive.extractfile(member)) for member in archive if member.isreg()]
            files = [(name, stream.read()) for name, stream in found if stream is not None]
    except (OSError, lzma.LZMAError, tarfile.TarError, EOFError) as error:
        raise ConfigError(
            f"{path}: can't be unpacked ({error}): it is damaged. Get it again, or remove it and train again."
        ) from None
    names = {name for name, _ in files}
    if not names <= allowed or not any(name.endswith("/scores.json") for name in names):
        raise ConfigError(
            f"{path}: holds {', '.join(sorted(names)) or 'nothing'}, which isn't what 'elmo-paper finished keep' "
            "writes of a training. Remove it."
        )
    return files
