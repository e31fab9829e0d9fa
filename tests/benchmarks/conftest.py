"""What tests of benchmarks start from: their scripts run at their smallest; no figure of the machine counts."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., str]:
    """Runs a script of benchmarks/ with flags; the name and the text of the one record it wrote."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    results = tmp_path / "results"

    def run(script: str, *flags: str, codes: tuple[int, ...] = (0,)) -> str:
        command = [sys.executable, str(ROOT / "benchmarks" / script), *flags, "--results", str(results)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=240)
        assert done.returncode in codes, done.stdout[-3000:] + done.stderr[-3000:]
        (record,) = results.iterdir()
        return record.name + "\n" + record.read_text(encoding="utf-8")

    return run


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A text of 300 sentences."""
    path = tmp_path / "text.txt"
    lines = [f"word{n % 90} and the {'x' * (n % 30)} cat of word{n % 7}" for n in range(300)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
