"""Every benchmark runs to its end at its smallest, and writes its record; no figure of the machine counts."""

import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest

from elmo.corpus.prepare import prepare

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
LINES = [f"word{n % 90} and the {'x' * (n % 30)} cat of word{n % 7}" for n in range(300)]
TINY_SHAPE = [
    *("--cell-size", "16", "--projection-size", "8", "--batch-size", "4", "--unroll-steps", "5", "--negatives", "20"),
    *("--peak-size", "32", "--rounds", "1", "--steps", "1"),
]

pytestmark = pytest.mark.slow
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


def run(script: Path, results: Path, *flags: str, codes: tuple[int, ...] = (0,)) -> str:
    """Runs a script of benchmarks/; the text of the one record it wrote."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(script), *flags, "--results", str(results)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=240)
    assert done.returncode in codes, done.stdout[-3000:] + done.stderr[-3000:]
    (record,) = results.iterdir()
    return record.name + "\n" + record.read_text(encoding="utf-8")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A text of 300 sentences."""
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return path


def test_context_index_runs(tmp_path: Path, text: Path) -> None:
    flags = ["--text", str(text), "--tokens", "500", "--searches", "2"]
    record = run(BENCHMARKS / "context_index.py", tmp_path / "results", *flags)
    assert record.startswith("context-index_") and "tokens take" in record


def test_machine_peak_runs_and_its_record_says_where_and_how(tmp_path: Path) -> None:
    flags = ["--size", "32", "--megabytes", "1", "--rounds", "1", "--threads", "1"]
    record = run(BENCHMARKS / "machine_peak.py", tmp_path / "results", *flags)
    assert record.startswith("machine-peak_")
    for fact in ("date", "machine", "load", "versions", "commit", "command"):
        assert f"- {fact}: " in record
    assert "float32 plain" in record and "GFLOP/s" in record and "memory copy" in record


def test_the_alternating_lstm_stands_beside_the_library(tmp_path: Path) -> None:
    flags = ["--rounds", "1", "--sizes", "2x4", "--dim", "5", "--batch", "3", "--tokens", "4"]
    record = run(BENCHMARKS / "alternating_lstm.py", tmp_path / "results", *flags)
    assert "2 x 4, input 5, 3 rows of half to full length of 4 tokens" in record
    assert "times as long as the library's LSTM" in record


def test_the_gru_stands_beside_the_library_and_its_floor(tmp_path: Path) -> None:
    flags = ["--rounds", "1", "--dims", "5", "7", "--size", "4", "--batch", "3", "--tokens", "6"]
    record = run(BENCHMARKS / "gru.py", tmp_path / "results", *flags)
    assert "\n| 5 -> 2 x 4, 3 rows of 6 tokens | " in record and "\n| 7 -> 2 x 4, 3 rows of 6 tokens | " in record
    assert "of the time of torch.nn.GRU" in record


def test_dropout_stands_beside_torchs_and_the_memory(tmp_path: Path) -> None:
    record = run(BENCHMARKS / "dropout.py", tmp_path / "results", "--rounds", "1")
    assert "\n| 32 x 20 x 256 | " in record and "GB/s" in record
    assert "of the time of torch.nn.Dropout" in record


def test_training_runs_all_contestants(tmp_path: Path, text: Path) -> None:
    prepare([text], tmp_path / "data")
    flags = ["--data", str(tmp_path / "data"), *TINY_SHAPE]
    record = run(BENCHMARKS / "training.py", tmp_path / "results", *flags, codes=(0, 1))  # 1: a target was missed
    for contestant in ("ours, float32", "ours, bfloat16", "plain", "torch LSTM", "torch LSTM, words"):
        assert f"\n| {contestant} | " in record


def test_freed_memory_is_kept_or_given_back(tmp_path: Path, text: Path) -> None:
    prepare([text], tmp_path / "data")
    shape = ["--cell-size", "8", "--projection-size", "4", "--batch-size", "2", "--unroll-steps", "4"]
    flags = ["--data", str(tmp_path / "data"), "--rounds", "1", "--steps", "1", "--negatives", "9", *shape]
    record = run(BENCHMARKS / "freed_memory.py", tmp_path / "results", *flags)
    assert "\n| given back | " in record and "\n| kept | " in record
    assert "Kept memory makes a step" in record


def test_training_memory_prepares_and_trains(tmp_path: Path, text: Path) -> None:
    flags = ["--text", str(text), "--megabytes", "0.1", "--steps", "2", "--workers", "1", "--vocab-size", "300"]
    record = run(BENCHMARKS / "training_memory.py", tmp_path / "results", *flags, codes=(0, 1))
    assert "elmo prepare --workers 1 | " in record and "elmo pretrain, 2 steps | " in record


def test_verdicts_has_a_line_for_every_kind_of_equal_systems(tmp_path: Path) -> None:
    record = run(BENCHMARKS / "verdicts.py", tmp_path / "results", "--tables", "2", "--draws", "20", codes=(0, 1))
    assert record.count("\n| accuracy, ") == 8 and record.count("\n| F1, ") == 2
    assert "Tables in which 'ELMo beats the baseline' agrees" in record


def test_exactness_holds_for_a_few_shapes(tmp_path: Path) -> None:
    flags = ["--shapes", "4", "--draws", "60", "--words", "100", "--largest", "32"]
    record = run(BENCHMARKS / "exactness.py", tmp_path / "results", *flags)
    assert "float32 is within 1e-05: yes" in record and "with all words: yes" in record


def test_embedding_runs_beside_the_plain_operations(tmp_path: Path, text: Path) -> None:
    flags = ["--size", "small", "--text", str(text), "--sentences", "6", "--words", "10", "--batches", "1", "0"]
    record = run(BENCHMARKS / "embedding.py", tmp_path / "results", *flags, "--rounds", "1", "--against")
    for row in ("float32 | 1", "int8 | all 6", "plain, float32 | 64"):
        assert f"\n| {row} | " in record


def test_precision_finds_the_bundled_model_near_float64(tmp_path: Path, text: Path) -> None:
    flags = ["--models", "small-en", "--text", str(text), "--sentences", "6"]
    record = run(BENCHMARKS / "precision.py", tmp_path / "results", *flags)
    assert "none. Numbers' own size" in record
    errors = {}
    for line in record.splitlines():
        if line.startswith("| small-en |"):
            dtype, layer, _, largest = [part.strip() for part in line.split("|")][2:6]
            errors[dtype, layer] = float(largest)
    assert all(0 < errors["float32", layer] < 2e-5 for layer in "012")
    assert all(errors["float32", layer] < errors["int8", layer] < 1 for layer in "012")


def test_a_corpus_goes_into_every_format(tmp_path: Path, text: Path) -> None:
    flags = ["--text", str(text), "--sentences", "20", "--rounds", "1", "--threads", "1"]
    record = run(BENCHMARKS / "corpus.py", tmp_path / "results", *flags)
    for kind in ("memory", "HDF5", "npy", "Parquet"):
        assert f"\n| {kind} | " in record


def test_start_up_waits_for_the_first_vector(tmp_path: Path) -> None:
    packed = tmp_path / "text.txt.xz"
    packed.write_bytes(lzma.compress("\n".join(LINES[:3]).encode()))
    flags = ["--models", "small-en", "--text", str(packed), "--sentences", "2", "--rounds", "1"]
    record = run(BENCHMARKS / "start_up.py", tmp_path / "results", *flags)
    assert "\n| import elmo | " in record and "\n| small-en | int8 | " in record


def test_memory_at_the_first_vector_is_set_beside_its_floor(tmp_path: Path) -> None:
    script = BENCHMARKS / "first_vector_memory.py"
    record = run(script, tmp_path / "results", "--size", "small", "--rounds", "1")
    for row in ("| AllenNLP | float32 | float32 | ", "| own | int8 | int8 | "):
        assert f"\n{row}" in record


@pytest.mark.parametrize("script", FAULTS)
def test_a_fault_is_survived(script: str, tmp_path: Path) -> None:
    flags, subject, passed = FAULTS[script]
    record = run(BENCHMARKS / "faults" / script, tmp_path / "results", *flags)
    assert record.startswith(f"{subject}_") and passed in record


def test_a_full_disk_is_survived(tmp_path: Path) -> None:
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("mounts a tmpfs, which only root may")
    script = BENCHMARKS / "faults" / "disk_full.py"
    places = ("checkpoint, while written", "metrics.jsonl", "vectors, while written")
    record = run(script, tmp_path / "results", "--places", *places)
    assert "In 3 of 3 places" in record


def test_all_faults_know_every_script(tmp_path: Path) -> None:
    listed = (BENCHMARKS / "faults" / "all.py").read_text(encoding="utf-8")
    for script in (BENCHMARKS / "faults").glob("*.py"):
        assert script.name in ("all.py", "tiny_run.py") or f'("{script.name}", ' in listed


def test_the_cost_of_http_is_measured_and_its_vectors_are_compared(text: Path, tmp_path: Path) -> None:
    flags = ["--text", str(text), "--sentences", "20", "--clients", "1", "4", "--requests", "20", "--rounds", "1"]
    record = run(BENCHMARKS / "serve.py", tmp_path / "results", *flags, "--compared", "16")
    assert record.startswith("serve_")
    assert "Of 16 requests by 8 threads, 0 got other bits" in record


def test_a_server_is_watched_at_half_load(text: Path, tmp_path: Path) -> None:
    flags = ["--text", str(text), "--sentences", "20", "--minutes", "0.1", "--readings", "3"]
    record = run(BENCHMARKS / "serve_soak.py", tmp_path / "results", *flags)
    assert "0 of them with a status of 5xx" in record.replace("\n", " ") and "resident memory changed by" in record


def test_good_requests_are_timed_beside_slow_sockets(text: Path, tmp_path: Path) -> None:
    flags = ["--text", str(text), "--sockets", "30", "--requests", "24", "--rounds", "1"]
    record = run(BENCHMARKS / "serve_slow_sockets.py", tmp_path / "results", *flags, codes=(0, 1))  # 1: it was slow
    assert "p95 of 24 ordinary requests" in record and "All had status 200" in record


def test_requests_are_made_from_the_schema(tmp_path: Path) -> None:
    record = run(BENCHMARKS / "serve_schema.py", tmp_path / "results", "--cases", "8")
    assert "| POST /v1/embeddings | 2 |" in record and "0 kinds of wrong answers" in record
