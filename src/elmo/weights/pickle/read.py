"""Reads the tensors of a PyTorch pickle without ever opening it in this process.

A pickle is a program. It is opened by a fresh child process (`child.py`) that has no network where the
system allows that, limits on memory, time, files and processes, none of this process's environment, and torch's
allow-list; the child hands the tensors back as a safetensors file, which is data only.
"""

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

import numpy as np
from safetensors.numpy import load_file

from elmo.disk.bounded import open_regular
from elmo.errors import WeightFileError
from elmo.process.device import require_torch

_CHILD = Path(__file__).with_name("child.py")
_REFUSED = 3
_MAX_SAID, _MAX_LINE = 1 << 16, 400
# Starting torch from a cold disk takes most of it.
_SECONDS = 60
# Both serializations of torch.save: a zip archive, and (before 1.6) a pickle that starts with this magic number.
_ZIP_START = b"PK\x03\x04"
_LEGACY_START = bytes.fromhex("80028a0a6cfc9c46f9206aa850192e")
_KEPT_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
_NEXT_STEP = "Get the file again from its publisher, and check its hash if one is published."


def read_state_dict(path: Path) -> dict[str, np.ndarray]:
    """Every tensor of a file written by `torch.save(module.state_dict(), path)`, in either serialization.

    Returns name -> float16, float32 or float64 array. Costs the start of one process (about 2 s). Raises
    `WeightFileError` if the file is missing, damaged, holds anything but a flat dict of dense float tensors, or if
    opening it needs code that is not on torch's allow-list; MissingExtraError without torch.
    """
    path = Path(path)
    require_torch(f"{path}: opening a Python pickle")
    with _opened(path) as file, tempfile.TemporaryDirectory(prefix="elmo-pickle-") as folder:
        target = Path(folder) / "tensors.safetensors"
        _run_child(path, file, target)
        return load_file(target)


def _opened(path: Path) -> BinaryIO:
    """The file, open for the child. Refuses, without a process, what can't be a file of torch.save."""
    try:
        file = open_regular(path)
    except OSError as error:
        raise WeightFileError(
            f"{path}: can't be read ({error.strerror or error}). The model's weights are in this file. "
            "Check the folder and its permissions, or get the missing file from the model's publisher."
        ) from None
    start = file.read(len(_LEGACY_START))
    if start.startswith(_ZIP_START) or start == _LEGACY_START:
        return file
    file.close()
    raise WeightFileError(
        f"{path}: starts with the bytes {start[:4].hex(' ') or 'of nothing (it is empty)'}, which torch.save never "
        f"writes. The file is damaged or is not a PyTorch state dict. {_NEXT_STEP}"
    )


def _run_child(path: Path, file: BinaryIO, target: Path) -> None:
    seconds = _SECONDS + os.fstat(file.fileno()).st_size / 10e6
    command = [sys.executable, "-I", "-B", str(_CHILD), str(target), _package_folders()]
    # Into files, whose size the child's limits bound.
    said, errors = target.with_name("stdout"), target.with_name("stderr")
    try:
        with said.open("wb") as stdout, errors.open("wb") as stderr:
            child = subprocess.run(
                command,
                stdin=file,
                stdout=stdout,
                stderr=stderr,
                timeout=seconds,
                cwd=target.parent,
                env=_environment(target.parent),
                start_new_session=True,
            )
    except subprocess.TimeoutExpired:
        raise _refusal(path, f"it was not read within {seconds:.0f} seconds") from None
    if child.returncode == _REFUSED:
        lines = _lines(said)
        raise _refusal(path, lines[-1] if lines else "no reason given")
    if child.returncode < 0:
        raise _refusal(path, f"the process that opened it was ended by signal {-child.returncode}")
    if child.returncode or not target.exists():
        lines = _lines(errors)
        raise _refusal(path, f"the process that opens pickles failed ({lines[-1] if lines else 'no message'})")


def _lines(path: Path) -> list[str]:
    """The last lines of what the child said."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _MAX_SAID))
        return [line[-_MAX_LINE:] for line in file.read().decode("utf-8", "replace").strip().splitlines()]


def _refusal(path: Path, reason: str) -> WeightFileError:
    return WeightFileError(
        f"{path}: refused: {reason}. A pickle can run code when opened, so it is opened in a confined process that "
        f"takes a flat dict of dense float tensors and nothing else. {_NEXT_STEP}"
    )


def _package_folders() -> str:
    """Where this process finds torch, numpy and safetensors: an isolated child knows no user or PYTHONPATH folders."""
    specs = [find_spec(name) for name in ("torch", "numpy", "safetensors")]
    return json.dumps(sorted({str(Path(spec.origin).parents[1]) for spec in specs if spec and spec.origin}))


def _environment(folder: Path) -> dict[str, str]:
    """Only what finding libraries needs: no tokens, no proxies, no home."""
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    one_thread = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    return {**kept, **one_thread, "HOME": str(folder), "TMPDIR": str(folder)}
