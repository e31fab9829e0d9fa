"""Every fault is survived, a few times each."""

import os
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "faults"
FAULTS = {
    "save_faults.py": (["--times", "2"], "fault-save", "In 10 of 10 saves"),
    "mutants.py": (["--mutants", "40", "--only", "native", "AllenNLP"], "fault-mutants", "\n0 of "),
    "hostile_models.py": (["--only", "tables"], "fault-hostile-models", "9 of 9 hostile models were refused"),
    "repeat.py": (["--steps", "30", "--recipes", "tiny, float32"], "fault-repeat", "1 of 1 recipes"),
    "kill.py": (["--times", "1"], "fault-kill", "| 1 of 1 |"),
    "stop_signals.py": (["--times", "5", "--megabytes", "2.5"], "fault-stop", "5 of 5 runs"),
    "nan.py": (["--times", "1"], "fault-nan", "6 of 6 injected"),
    "threads.py": (["--calls", "32"], "fault-threads", ", 0 with other bits"),
    "hostile_texts.py": (["--documents", "40", "--no-big"], "fault-texts", "40 documents: 40 gave"),
    "embed_partial.py": (["--most", "70", "--states", "carry", "--formats", "npy"], "fault-partial", ", 0 with any"),
    "streams.py": (["--only", "-o taken"], "fault-streams", ", 0 of which ended otherwise"),
}


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


def test_all_faults_know_every_script() -> None:
    listed = (FOLDER / "all.py").read_text(encoding="utf-8")
    for script in FOLDER.glob("*.py"):
        assert script.name in ("all.py", "tiny_run.py") or f'("{script.name}", ' in listed
