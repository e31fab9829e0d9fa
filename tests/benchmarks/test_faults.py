"""Every fault is survived, a few times each."""

import os
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "faults"
FAULTS = {
    "mutants.py": (["--mutants", "40", "--only", "native", "AllenNLP"], "fault-mutants", "\n0 of "),
    "hostile_texts.py": (["--documents", "40", "--no-big"], "fault-texts", "40 documents: 40 gave"),
    "embed_partial.py": (["--most", "70", "--states", "carry", "--formats", "npy"], "fault-partial", ", 0 with any"),
    "streams.py": (["--only", "-o taken"], "fault-streams", ", 0 of which ended otherwise"),
}
OTHERS = ("disk_full.py", "ranks.py", "tiny_run.py")
"""Run below, started by test_long_ones, and what they share."""


@pytest.mark.parametrize("script", FAULTS)
def test_a_fault_is_survived(run, script: str) -> None:
    flags, subject, passed = FAULTS[script]
    record = run(f"faults/{script}", *flags)
    assert record.startswith(f"{subject}_") and passed in record


def test_a_full_disk_is_survived(run) -> None:
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("mounts a tmpfs, which only root may")
    places = ("checkpoint, while written", "metrics.jsonl", "vectors, while written")
    record = run("faults/disk_full.py", "--places", *places)
    assert "In 3 of 3 places" in record


def test_every_script_is_run() -> None:
    assert {script.name for script in FOLDER.glob("*.py")} == {*FAULTS, *OTHERS}
