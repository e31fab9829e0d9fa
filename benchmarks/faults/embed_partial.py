"""A killed `elmo embed`, then one thing in its partial folder changed, then --resume (E4).

    python benchmarks/faults/embed_partial.py

For each format, with and without a carried state, a run is killed with SIGKILL after some windows. Then, each time in a
fresh copy of what it left, one file is cut off, emptied, extended, damaged, swapped, removed, or replaced by a link, a
folder or a pipe, or one value of its records is changed; and the run is resumed. What must come is the very file of the
undisturbed run, or an error that says so; never another file, and never a file written through a link. After an error
the run is begun anew with --resume --force, which must give the very file.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import tiny_run
import torch
from record import ROOT, Record, Table, parser

from elmo.embed.corpus.embed_corpus import embed_corpus
from elmo.embed.embedder import Embedder
from elmo.errors import ElmoError

FORMATS = ("hdf5", "npy", "parquet")
STATES = ("zero", "carry")
LINES = 400
KILLED_AFTER = 128
FOREIGN = "thesis.doc"
PRECIOUS = b"somebody else's file\n" * 50

# The run kills itself as soon as the part is written: however fast the machine is, neither before nor after it.
_KILLED_RUN = f"""
import os, signal
from elmo.cli.main import main
from elmo.embed.corpus.vectors_folder import Parts

write = Parts.write

def write_and_die(self, window, arrays, state=None):
    write(self, window, arrays, state)
    if window.stop >= {KILLED_AFTER}:
        os.kill(os.getpid(), signal.SIGKILL)

Parts.write = write_and_die
main()
"""

Change = Callable[[Path], None]
OUTCOMES = ("the right file", "a clear error", "another exception", "written through a link", "wrong file")
RIGHT, REFUSED, RAISED, THROUGH_A_LINK, WRONG = OUTCOMES


def main() -> int:
    """Runs all changes and writes the record; exit code 1 if one led to anything but the right file or an error."""
    arguments = parser(__doc__)
    arguments.add_argument("--formats", nargs="*", choices=FORMATS, default=FORMATS)
    arguments.add_argument("--states", nargs="*", choices=STATES, default=STATES)
    arguments.add_argument("--most", type=int, help="changes of each run at most, taken at random")
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()
    torch.set_num_threads(1)
    rows, bad = [], 0
    with tempfile.TemporaryDirectory() as folder:
        model = _model(Path(folder))
        for file_format in given.formats:
            for state in given.states:
                found = _one_run(Path(folder), model, file_format, state, given.most, random.Random(given.seed))
                counts = [sum(outcome == one for outcome in found.values()) for one in OUTCOMES]
                rows.append([file_format, state, len(found), *counts])
                bad += sum(counts[2:])
    changes = sum(row[2] for row in rows)
    sentence = (
        f"{changes} changes of what a killed run had left: {changes - bad} ended with the right file or a clear error, "
        f"{bad} with anything else. Somebody who computes every checksum anew can still plant wrong vectors."
    )
    table = Table(["format", "state", "changes", *OUTCOMES], rows)
    Record("fault-partial", "Faults: a partial folder changed before --resume (E4)", [table], sentence).write(
        given.results
    )
    return 1 if bad else 0


def _model(work: Path) -> Path:
    tiny_run.tiny_model().save_pretrained(work / "model")
    lines = (f"line {number} of this text" + " word" * (number % 7) for number in range(LINES))
    (work / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return work / "model"


def _one_run(
    work: Path, model: Path, file_format: str, state: str, most: int | None, chance: random.Random
) -> dict[str, str]:
    """What came of each change, by its name."""
    place = work / f"{file_format}-{state}"
    (place / "left").mkdir(parents=True)
    output = place / "left" / f"out.{file_format}"
    _killed(work, model, output, state)

    def embed(path: Path, **settings: bool) -> None:
        embedder = Embedder.from_pretrained(model, device="cpu", state=state, max_tokens=64)
        embed_corpus(embedder, work / "text.txt", path, **settings)

    whole = place / output.name
    embed(whole)
    changes = list(_changes(output.with_name(output.name + ".partial"), chance))
    if most is not None:
        changes = chance.sample(changes, min(most, len(changes)))
    found = {}
    for number, (name, change) in enumerate(changes, start=1):
        if number % 50 == 0:
            print(f"{file_format}, {state}: {number} of {len(changes)}", file=sys.stderr, flush=True)
        found[name] = _tried(place, output, whole, embed, change)
        if found[name] not in (RIGHT, REFUSED):
            print(f"{file_format}, {state}, {name}: {found[name]}", flush=True)
    print(f"{file_format}, {state}: {len(found)} changes", flush=True)
    return found


def _killed(work: Path, model: Path, output: Path, state: str) -> None:
    """A run of a process of its own, killed when it had finished some windows but not all."""
    command = [sys.executable, "-c", _KILLED_RUN, "embed", str(work / "text.txt"), "-o", str(output), "-m", str(model)]
    command += ["--state", state, "--max-tokens", "64", "--device", "cpu", "--quiet"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    run = subprocess.run(command, env=environment)
    parts = list(output.with_name(output.name + ".partial").glob("part-*"))
    if run.returncode != -signal.SIGKILL or not parts or output.exists():
        raise SystemExit(f"the run was not killed on its way: {run.returncode}")


def _tried(place: Path, output: Path, whole: Path, embed: Callable[..., None], change: Change) -> str:
    """Makes the change in a copy of what was left, resumes, and says what came of it."""
    shutil.rmtree(place / "work", ignore_errors=True)
    shutil.copytree(output.parent, place / "work", symlinks=True)
    (place / "precious").write_bytes(PRECIOUS)
    own = place / "work" / output.name
    change(own.with_name(own.name + ".partial"))
    outcome = _outcome(lambda: embed(own, resume=True), own, whole)
    if (place / "precious").read_bytes() != PRECIOUS:
        return THROUGH_A_LINK
    if outcome == REFUSED:
        again = _outcome(lambda: embed(own, resume=True, force=True), own, whole)
        # A folder that is none, or holds what is not ours, is not removed even by force.
        if again not in (RIGHT, REFUSED) or (place / "precious").read_bytes() != PRECIOUS:
            return f"{again} with --force"
    return outcome


def _outcome(resume: Callable[[], None], output: Path, whole: Path) -> str:
    try:
        resume()
    except ElmoError:
        return WRONG if output.exists() else REFUSED
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
        return RAISED
    is_right = not output.is_symlink() and output.read_bytes() == whole.read_bytes()
    left = output.with_name(output.name + ".partial")
    # Somebody else's file is not removed, so its folder stays.
    is_tidy = not left.exists() or [entry.name for entry in left.iterdir()] == [FOREIGN]
    return RIGHT if is_right and is_tidy else WRONG


def _changes(folder: Path, chance: random.Random) -> Iterator[tuple[str, Change]]:
    """Every change, with its name."""
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    for file in files:
        for name, change in _changes_of_a_file(folder / file, chance):
            yield f"{file}: {name}", _at(file, change)
    for one, other in zip(files, files[1:], strict=False):
        yield f"{one} and {other} swapped", _swapped(one, other)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    whole, settings = json.dumps(manifest), json.dumps(manifest["settings"])
    inner = ((f"settings, {name}", whole.replace(settings, text)) for name, text in _json_changes(manifest["settings"]))
    for name, content in (*_json_changes(manifest), *inner):
        yield f"manifest.json: {name}", _at(Path("manifest.json"), _written(content))
    yield "the folder: a link to itself elsewhere", _moved_and_linked
    yield "the folder: a file", lambda path: (shutil.rmtree(path), path.write_bytes(b""))[0]
    yield "the folder: something else in it", lambda path: (path / FOREIGN).write_bytes(PRECIOUS) and None


def _changes_of_a_file(path: Path, chance: random.Random) -> Iterator[tuple[str, Change]]:
    size = path.stat().st_size
    for part in (0.0, 0.3, 0.9):
        yield f"cut to {part:.0%}", lambda file, part=part: os.truncate(file, int(size * part))
    yield "one byte shorter", lambda file: os.truncate(file, size - 1)
    yield "one byte longer", lambda file: _patched(file, size, b"\0")
    for place in sorted({0, size // 4, size // 2, size - 1, *(chance.randrange(size) for _ in range(4))}):
        yield f"bit flipped at {place}", lambda file, place=place: _flipped(file, place, chance.randrange(8))
    yield "zeros in the middle", lambda file: _patched(file, size // 3, bytes(max(1, size // 10)))
    yield "noise in the middle", lambda file: _patched(file, size // 3, chance.randbytes(max(1, size // 10)))
    yield "missing", Path.unlink
    yield "a pipe", lambda file: (file.unlink(), os.mkfifo(file))[0]
    yield "a link to nothing", lambda file: (file.unlink(), file.symlink_to("nowhere"))[0]
    yield "a link to another's file", lambda file: (file.unlink(), file.symlink_to(_precious(file)))[0]
    yield "another's file, linked hard", lambda file: (file.unlink(), file.hardlink_to(_precious(file)))[0]
    yield "a link to a copy of itself", _copied_and_linked


def _at(file: Path, change: Change) -> Change:
    return lambda folder: change(folder / file)


def _precious(file: Path) -> Path:
    """The file that nobody may touch, beside the folder the run works in."""
    place = next(parent for parent in file.parents if parent.name.endswith(".partial"))
    return place.parents[1] / "precious"


def _patched(file: Path, place: int, content: bytes) -> None:
    with file.open("r+b") as stream:
        stream.seek(place)
        stream.write(content)


def _flipped(file: Path, place: int, bit: int) -> None:
    content = file.read_bytes()
    _patched(file, place, bytes([content[place] ^ (1 << bit)]))


def _written(content: str) -> Change:
    return lambda file: file.write_text(content) and None


def _copied_and_linked(file: Path) -> None:
    copy = _precious(file).with_name("copy")
    copy.unlink(missing_ok=True)
    file.rename(copy)
    file.symlink_to(copy)


def _moved_and_linked(folder: Path) -> None:
    elsewhere = folder.parents[1] / "elsewhere"
    shutil.rmtree(elsewhere, ignore_errors=True)
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)


def _swapped(one: Path, other: Path) -> Change:
    def change(folder: Path) -> None:
        (folder / one).rename(folder / "between")
        (folder / other).rename(folder / one)
        (folder / "between").rename(folder / other)

    return change


def _json_changes(values: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Other contents of a JSON file: each value another, missing or of another kind, and no object at all."""
    yield from (("a list", "[]"), ("a number", "5"), ("empty", "{}"), ("deep", "[" * 5000))
    yield "one key more", json.dumps({**values, "extra": 1})
    for key, value in values.items():
        yield f"without {key}", json.dumps({other: values[other] for other in values if other != key})
        for odd in (-5, 1.5, "5", None, [], LINES, True, 10**400):
            if odd != value:
                yield f"{key} = {str(odd)[:12]!r}", json.dumps({**values, key: odd})


if __name__ == "__main__":
    raise SystemExit(main())
