"""Reliability S2, S3: hostile model files and folders are refused, run no code, and take little time and memory.

    python benchmarks/faults/hostile_models.py

    gadgets   pickles whose opening would run code, in both serializations of torch.save
    HDF5      links, virtual and external storage, unknown types and filters, huge shapes, bombs of gzip
    folders   a device, a FIFO, an endless or dangling link, an empty file or a folder in the place of each file
    tables    TensorFlow indexes that grow when they are read
    values    JSON of deep nesting, of long values, of numbers that are none

Each is read in a child process with 1 GB of memory beyond what it has. What must happen: an error of this package that
is shorter than 2,000 characters, within a minute; a file that a gadget would write never appears.
"""

import json
import multiprocessing
import os
import pickle
import resource
import shutil
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import h5py
import mutants
import numpy as np
import torch
from record import Record, Table, parser

from elmo.errors import ElmoError
from elmo.weights import formats

SECONDS = 60
OUTCOMES = ("refused", "canary", "crash", "hang", "raw exception", "out of memory", "long message", "accepted")
Case = tuple[str, Callable[[Path], Path]]
_LAYER = "RNN_0/RNN/MultiRNNCell/Cell0/LSTMCell/B"


def main() -> int:
    """Runs the cases and writes the record; exit code 1 if one was not refused."""
    arguments = parser(__doc__)
    arguments.add_argument("--only", nargs="*", choices=KINDS, help="these kinds")
    given = arguments.parse_args()
    rows, failed, longest, largest = [], [], 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ELMO_CACHE"] = f"{folder}/cache"
        for kind in given.only or KINDS:
            cases, found = KINDS[kind], Counter[str]()
            for number, (name, make) in enumerate(cases()):
                outcome, seconds, megabytes = once(make, Path(folder) / f"{kind}-{number}")
                found[outcome] += 1
                longest, largest = max(longest, seconds), max(largest, megabytes)
                if outcome != "refused":
                    failed.append(f"{kind}: {name}: {outcome}")
                    print(failed[-1], flush=True)
            rows.append([kind, sum(found.values()), *(found[outcome] for outcome in OUTCOMES)])
            print(*rows[-1], sep="  ", flush=True)
    total = sum(row[1] for row in rows)
    text = (
        f"{total - len(failed)} of {total} hostile models were refused, the slowest within {longest:.1f} s; memory "
        f"grew by at most {largest} MB."
    )
    title = "Faults: hostile models (S2, S3)"
    Record("fault-hostile-models", title, [Table(["kind", "cases", *OUTCOMES], rows)], text).write(given.results)
    return int(bool(failed))


def once(make: Callable[[Path], Path], folder: Path) -> tuple[str, float, int]:
    """The outcome of one case, its seconds and the growth of memory in MB."""
    folder.mkdir()
    path = make(folder)
    near, far = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_work, args=(path, far))
    begin = time.monotonic()
    child.start()
    far.close()
    try:
        outcome, megabytes = near.recv() if near.poll(SECONDS) else ("hang", 0)
    except EOFError:
        outcome, megabytes = "crash", 0
    child.kill()
    child.join()
    if any(folder.rglob("canary")):
        outcome = "canary"
    shutil.rmtree(folder, ignore_errors=True)
    return outcome, time.monotonic() - begin, megabytes


def _work(path: Path, answers: Connection) -> None:
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + (1 << 30),) * 2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = _outcome(path)
    answers.send((outcome, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024))


def _outcome(path: Path) -> str:
    try:
        formats.read(path)
    except ElmoError as error:
        return "refused" if len(str(error)) < 2000 else "long message"
    except MemoryError:
        return "out of memory"
    except Exception as error:
        print(f"{path}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
        return "raw exception"
    return "accepted"


class Gadget:
    """Calls a function when it is unpickled."""

    def __init__(self, function: Callable[..., object], *arguments: object) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self.call


def gadgets() -> Iterator[Case]:
    """Pickles that would make a file named canary."""
    import builtins
    import subprocess

    text = "open('canary', 'w').close()"
    calls = {
        "os.system": (os.system, "touch {canary}"),
        "os.popen": (os.popen, "touch {canary}"),
        "os.mkdir": (os.mkdir, "{canary}"),
        "subprocess.run": (subprocess.run, ["touch", "{canary}"]),
        "subprocess.Popen": (subprocess.Popen, ["touch", "{canary}"]),
        "eval": (builtins.eval, text),
        "exec": (builtins.exec, text),
        "open": (builtins.open, "{canary}", "w"),
        "shutil.copy": (shutil.copy, "/etc/hostname", "{canary}"),
        "partial": (partial, os.system, "touch {canary}"),
        "pickle.loads": (pickle.loads, pickle.dumps(Gadget(os.system, "touch canary"))),
        "torch.load": (torch.load, "{canary}"),
        "getattr": (builtins.getattr, "canary", "upper"),
        "map": (builtins.map, os.system, ["touch {canary}"]),
        "import": (builtins.__import__, "antigravity"),
    }
    for name, call in calls.items():
        for zipped in (True, False):
            yield (
                f"{name}, {'zip' if zipped else 'legacy'}",
                lambda folder, call=call, zipped=zipped: gadget(folder, call, zipped),
            )


def gadget(folder: Path, call: tuple, zipped: bool) -> Path:
    """A folder of ELMoForManyLangs whose first pickle has the gadget."""
    mutants.many_langs(folder / "model")
    path = folder / "model" / "token_embedder.pkl"
    canary = str(folder / "canary")
    function, *arguments = call
    placed = [_placed(argument, canary) for argument in arguments]
    state = {"projection.weight": torch.zeros(2), "x": Gadget(function, *placed)}
    torch.save(state, path, _use_new_zipfile_serialization=zipped)
    return folder / "model"


def _placed(argument: object, canary: str) -> object:
    if isinstance(argument, str):
        return argument.replace("{canary}", canary).replace("'canary'", repr(canary))
    return [_placed(one, canary) for one in argument] if isinstance(argument, list) else argument


def hdf5() -> Iterator[Case]:
    """Weight files that lead elsewhere, or claim more than they hold."""

    def edited(change: Callable[[h5py.File, np.ndarray], object]) -> Callable[[Path], Path]:
        def make(folder: Path) -> Path:
            mutants.published(folder / "model")
            with h5py.File(folder / "model" / "weights.hdf5", "a") as file:
                values = file[_LAYER][()]
                del file[_LAYER]
                change(file, values)
            return folder / "model"

        return make

    def virtual(file: h5py.File, values: np.ndarray) -> None:
        layout = h5py.VirtualLayout(values.shape, "<f4")
        layout[:] = h5py.VirtualSource("elsewhere.h5", "data", values.shape)
        file.create_virtual_dataset(_LAYER, layout)

    def bomb(file: h5py.File, values: np.ndarray, size: int) -> None:
        chunk = np.zeros(1 << 20, "<f4")
        packed = zlib.compress(chunk.tobytes(), 9)
        dataset = file.create_dataset(_LAYER, (size,), "<f4", chunks=chunk.shape, compression="gzip")
        for begin in range(0, size, len(chunk)):
            dataset.id.write_direct_chunk((begin,), packed)

    def sparse(file: h5py.File, values: np.ndarray) -> None:
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_alloc_time(h5py.h5d.ALLOC_TIME_LATE)
        space = h5py.h5s.create_simple((10**12,))
        h5py.h5d.create(file.id, b"huge", h5py.h5t.IEEE_F32LE, space, creation)

    external = [("/etc/passwd", 0, h5py.h5f.UNLIMITED)]
    changes = {
        "soft link": lambda f, v: f.__setitem__(_LAYER, h5py.SoftLink("/CNN_proj/b_proj")),
        "external link": lambda f, v: f.__setitem__(_LAYER, h5py.ExternalLink("/etc/passwd", "/x")),
        "loop of links": lambda f, v: f.__setitem__(_LAYER, f["/"]),
        "external storage": lambda f, v: f.create_dataset(_LAYER, v.shape, "<f4", external=external),
        "virtual storage": virtual,
        "strings": lambda f, v: f.create_dataset(_LAYER, data=["x"] * len(v)),
        "integers": lambda f, v: f.create_dataset(_LAYER, data=v.astype("<i4")),
        "big-endian": lambda f, v: f.create_dataset(_LAYER, data=v.astype(">f4")),
        "objects": lambda f, v: f.create_dataset(_LAYER, v.shape, h5py.special_dtype(vlen=np.float32)),
        "lzf": lambda f, v: f.create_dataset(_LAYER, data=v, compression="lzf"),
        "unwritten chunks": lambda f, v: f.create_dataset(_LAYER, v.shape, "<f4", chunks=(3,), compression="gzip"),
        "no values": lambda f, v: f.create_dataset(_LAYER, data=h5py.Empty("<f4")),
        "10**12 values": sparse,
        "NaN": lambda f, v: f.create_dataset(_LAYER, data=v * np.nan),
        "a named type": lambda f, v: f.__setitem__(_LAYER, np.dtype("<f4")),
        "many groups": lambda f, v: [f.create_group(f"group{number}") for number in range(30_000)],
        "deep groups": lambda f, v: f.create_group("/".join("abcdefghijklmnop")),
        "bomb of 256 MB": lambda f, v: bomb(f, v, 1 << 26),
        "bomb of 2 GB": lambda f, v: bomb(f, v, 1 << 29),
    }
    for name, change in changes.items():
        yield name, edited(change)


def folders() -> Iterator[Case]:
    """Something that is not a file, in the place of each file."""

    native, native_of_words = map(mutants.native_of, (mutants.small_model(), mutants.word_model()))
    kinds = {
        "FIFO": lambda path: os.mkfifo(path),
        "endless device": lambda path: path.symlink_to("/dev/zero"),
        "random device": lambda path: path.symlink_to("/dev/urandom"),
        "link to itself": lambda path: path.symlink_to(path.name),
        "folder": lambda path: path.mkdir(),
        "memory of the process": lambda path: path.symlink_to("/proc/self/mem"),
    }
    makers = {
        "native": (native, ("config.json", "model.safetensors", "vocab.txt", "softmax.safetensors")),
        "native of words": (native_of_words, ("tokens.json",)),
        "AllenNLP": (mutants.published, ("options.json", "weights.hdf5", "softmax.hdf5", "vocab.txt")),
        "bilm-tf": (mutants.training_checkpoint, ("options.json", "model.ckpt-7.index", "vocab.txt")),
        "bilm-tf data": (mutants.training_checkpoint, ("model.ckpt-7.data-00000-of-00001",)),
    }
    for format_name, (make, files) in makers.items():
        for file in files:
            for kind, place in kinds.items():
                yield f"{format_name}: {file} is a {kind}", _with(make, file, place)


def _with(make: Callable[[Path], object], file: str, place: Callable[[Path], object]) -> Callable[[Path], Path]:
    def made(folder: Path) -> Path:
        make(folder / "model")
        (folder / "model" / file).unlink()
        place(folder / "model" / file)
        return folder / "model"

    return made


def tables() -> Iterator[Case]:
    """Indexes whose keys share their beginnings in a chain, and tensors of odd shapes."""

    def table(entries: bytes) -> Callable[[Path], object]:
        return lambda path: path.write_bytes(mutants.sorted_table(entries))

    chain = b"".join(mutants.table_entry(b"k", b"", shared) for shared in range(200_000))
    shape = b"".join(b"\x12\x02\x08\x01" for _ in range(200_000))
    many = mutants.table_entry(b"", b"\x08\x01") + mutants.table_entry(b"lm/x", b"\x08\x01" + mutants.message(2, shape))
    same = b"".join(mutants.table_entry(b"lm/x", b"\x08\x01") for _ in range(100_000))
    for name, entries in (("chain of keys", chain), ("200,000 dimensions", many), ("one key 100,000 times", same)):
        yield name, _with(mutants.training_checkpoint, "model.ckpt-7.index", table(entries))
    for target in ("../../etc/passwd", "/", "..", ".", "a" * 300, "a" * 5000):
        content = f'model_checkpoint_path: "{target}"\n'
        yield (
            f"latest is {target[:20]}",
            _with(mutants.training_checkpoint, "checkpoint", lambda path, content=content: path.write_text(content)),
        )


def values() -> Iterator[Case]:
    """JSON and lists of words of every bad kind."""
    texts = {
        "empty": b"",
        "a list": b"[1]",
        "deep": b"[" * 100_000,
        "deep object": b'{"a":' * 50_000,
        "NaN": b'{"lstm": NaN}',
        "a number of 5,000 digits": b'{"lstm": ' + b"9" * 5000 + b"}",
        "bad UTF-8": b'{"lstm": "\xff"}',
        "2 MB": b" " * (2 << 20),
        "a long value": json.dumps({"lstm": "x" * 900_000}).encode(),
        "a long key": json.dumps({"lstm": {"x" * 900_000: 1}}).encode(),
        "misspelt": b'{"lstn": {}, "char_cnn": {}}',
        "a million layers": b'{"lstm": {"dim": 12, "projection_dim": 6, "n_layers": 1000000, "cell_clip": 3,'
        b' "proj_clip": 3, "use_skip_connections": true}}',
        "infinite clip": b'{"lstm": {"dim": 12, "projection_dim": 6, "cell_clip": 1e999, "proj_clip": 3,'
        b' "use_skip_connections": true}}',
    }
    for name, content in texts.items():
        for make, file in (
            (mutants.published, "options.json"),
            (mutants.native_of(mutants.small_model()), "config.json"),
        ):
            yield f"{file}: {name}", _with(make, file, lambda path, content=content: path.write_bytes(content))
    words = {
        "100 MB of words": b"word\n" * (20 << 20),
        "bad UTF-8": b"the\n\xff\n",
        "33 million lines": b"\n" * (33 << 20),
    }
    for name, content in words.items():
        yield (
            f"vocab.txt: {name}",
            _with(mutants.published, "vocab.txt", lambda path, content=content: path.write_bytes(content)),
        )
    tokens = b"[" + b"[]," * (60 << 20) + b"[]]"
    word_model = mutants.native_of(mutants.word_model())
    yield "tokens.json: 180 MB", _with(word_model, "tokens.json", lambda path: path.write_bytes(tokens))


KINDS: dict[str, Callable[[], Iterator[Case]]] = {
    "gadgets": gadgets,
    "HDF5": hdf5,
    "folders": folders,
    "tables": tables,
    "values": values,
}


if __name__ == "__main__":
    sys.exit(main())
