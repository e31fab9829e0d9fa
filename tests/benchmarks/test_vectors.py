"""Every benchmark of vectors runs to its end at its smallest."""

import lzma
import shutil
from pathlib import Path

import pytest

from elmo.ops.native.kinds import native_types

pytestmark = pytest.mark.slow


def test_context_index_runs(run, text: Path) -> None:
    flags = ["--text", str(text), "--tokens", "500", "--searches", "2"]
    record = run("vectors/context_index.py", *flags)
    assert record.startswith("context-index_") and "tokens take" in record


def test_embedding_runs_beside_the_plain_operations(run, text: Path) -> None:
    flags = ["--size", "small", "--text", str(text), "--sentences", "6", "--words", "10", "--batches", "1", "0"]
    record = run("vectors/embedding.py", *flags, "--rounds", "1", "--against")
    for row in ("float32 | 1", "int8 | all 6", "plain, float32 | 64"):
        assert f"\n| {row} | " in record


def test_precision_finds_the_bundled_model_near_float64(run, text: Path) -> None:
    flags = ["--models", "small-en", "--text", str(text), "--sentences", "6"]
    record = run("vectors/precision.py", *flags)
    assert "none. Numbers' own size" in record
    errors = {}
    for line in record.splitlines():
        if line.startswith("| small-en |"):
            dtype, layer, _, largest = [part.strip() for part in line.split("|")][2:6]
            errors[dtype, layer] = float(largest)
    assert all(0 < errors["float32", layer] < 2e-5 for layer in "012")
    assert all(errors["float32", layer] < errors["int8", layer] < 1 for layer in "012")


def test_a_corpus_goes_into_every_format(run, text: Path) -> None:
    flags = ["--text", str(text), "--sentences", "20", "--rounds", "1", "--threads", "1"]
    record = run("vectors/corpus.py", *flags)
    for kind in ("memory", "HDF5", "npy", "Parquet"):
        assert f"\n| {kind} | " in record


def test_start_up_waits_for_the_first_vector(run, text: Path) -> None:
    packed = text.with_suffix(".txt.xz")
    packed.write_bytes(lzma.compress(text.read_bytes()))
    flags = ["--models", "small-en", "--text", str(packed), "--sentences", "2", "--rounds", "1"]
    record = run("vectors/start_up.py", *flags)
    assert "\n| import elmo | " in record and "\n| small-en | int8 | " in record


def test_memory_at_the_first_vector_is_set_beside_its_floor(run) -> None:
    record = run("vectors/first_vector_memory.py", "--size", "small", "--rounds", "1")
    for row in ("| AllenNLP | float32 | float32 | ", "| own | int8 | int8 | "):
        assert f"\n{row}" in record


def test_javascript_runs_beside_the_engine(run) -> None:
    if shutil.which("node") is None or "int8" not in native_types():
        pytest.skip("needs node and the native library")
    record = run("vectors/javascript.py", "--sentences", "2", "--rounds", "1", "--turns", "1")
    assert record.startswith("javascript_")
    for model in ("small-en", "small-ko"):
        assert f"| {model} | exact | all | one by one | " in record


@pytest.mark.usefixtures("shared")
def test_the_engines_table_has_a_row_and_a_peak(run) -> None:
    flags = ["--sizes", "small", "--dtypes", "float32", "--calls", "64", "--instructions", "all", "--threads", "1"]
    record = run("vectors/engine_table.py", *flags, "--sentences", "4", "--single", "2", "--rounds", "1")
    assert "\n| small size (1024/128) | all | float32 | 64 a call" in record and "\n| all | 1 | " in record
