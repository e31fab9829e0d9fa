"""The machine's own speed is measured, and a record says where and how."""

import pytest

pytestmark = pytest.mark.slow


def test_machine_peak_runs_and_its_record_says_where_and_how(run) -> None:
    flags = ["--size", "32", "--megabytes", "1", "--rounds", "1", "--threads", "1"]
    record = run("machine_peak.py", *flags)
    assert record.startswith("machine-peak_")
    for fact in ("date", "machine", "load", "versions", "commit", "command"):
        assert f"- {fact}: " in record
    assert "float32 plain" in record and "GFLOP/s" in record and "memory copy" in record
