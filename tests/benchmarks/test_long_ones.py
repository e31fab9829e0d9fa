"""Benchmarks that take long even at their smallest, or need another library: they start, and say what they measure."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("script", ["vectors/allennlp_speed.py", "faults/ranks.py"])
def test_a_script_finds_what_it_imports(script: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, f"benchmarks/{script}", "--help"]
    shown = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=240)
    assert shown.returncode == 0, shown.stderr
    assert f"python benchmarks/{script}" in shown.stdout


def test_the_worker_of_the_engines_table_ends_with_its_input() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "benchmarks/vectors/engine_worker.py"]
    ended = subprocess.run(command, input="", capture_output=True, text=True, cwd=ROOT, env=environment, timeout=240)
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr
