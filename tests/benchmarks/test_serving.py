"""Every benchmark of the server runs to its end at its smallest."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def test_the_cost_of_http_is_measured_and_its_vectors_are_compared(run, text: Path) -> None:
    flags = ["--text", str(text), "--sentences", "20", "--clients", "1", "4", "--requests", "20", "--rounds", "1"]
    record = run("serving/serve.py", *flags, "--compared", "16")
    assert record.startswith("serve_")
    assert "Of 16 requests by 8 threads, 0 got other bits" in record


def test_a_server_is_watched_at_half_load(run, text: Path) -> None:
    flags = ["--text", str(text), "--sentences", "20", "--minutes", "0.1", "--readings", "3"]
    record = run("serving/serve_soak.py", *flags)
    assert "0 of them with a status of 5xx" in record.replace("\n", " ") and "resident memory changed by" in record


def test_requests_are_made_from_the_schema(run) -> None:
    record = run("serving/serve_schema.py", "--cases", "16")
    assert "| POST /v1/embeddings | 4 |" in record and "0 kinds of wrong answers" in record
