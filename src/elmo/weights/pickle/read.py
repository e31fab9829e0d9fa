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

import numpy as np
from safetensors.numpy import load_file

from elmo.errors import WeightFileError

_CHILD = Path(__file__).with_name("child.py")
_REFUSED = 3
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
    opening it needs code that is not on torch's allow-list.
    """
    path = Path(path)
    _check_start(path)
    with tempfile.TemporaryDirectory(prefix="elmo-pickle-") as folder:
        target = Path(folder) / "tensors.safetensors"
        _run_child(path, target)
        return load_file(target)


def _check_start(path: Path) -> None:
    """Refuses, without a process, what can't be a file of torch.save."""
    try:
        with path.open("rb") as file:
            start = file.read(len(_LEGACY_START))
    except OSError as error:
        raise WeightFileError(
            f"{path}: can't be read ({error.strerror}). The model's weights are in this file. "
            "Check the folder and the rights, or get the missing file from the model's publisher."
        ) from None
    if not (start.startswith(_ZIP_START) or start == _LEGACY_START):
        raise WeightFileError(
            f"{path}: starts with the bytes {start[:4].hex(' ') or 'of nothing (it is empty)'}, which torch.save never "
            f"writes. The file is damaged or is not a PyTorch state dict. {_NEXT_STEP}"
        )


def _run_child(path: Path, target: Path) -> None:
    seconds = _SECONDS + path.stat().st_size / 10e6
    command = [sys.executable, "-I", "-B", str(_CHILD), str(path.resolve()), str(target), _package_folders()]
    try:
        child = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            cwd=target.parent,
            env=_environment(target.parent),
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise _refusal(path, f"it was not read within {seconds:.0f} seconds") from None
    if child.returncode == _REFUSED:
        lines = child.stdout.decode("utf-8", "replace").strip().splitlines()
        raise _refusal(path, lines[-1] if lines else "no reason given")
    if child.returncode < 0:
        raise _refusal(path, f"the process that opened it was ended by signal {-child.returncode}")
    if child.returncode or not target.exists():
        lines = child.stderr.decode("utf-8", "replace").strip().splitlines()
        raise _refusal(path, f"the process that opens pickles failed ({lines[-1] if lines else 'no message'})")


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
