"""Every benchmark runs to its end at its smallest, every fault is survived; no figure of the machine counts."""

import lzma
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from elmo.corpus.prepare import prepare
from elmo.ops.native.kinds import native_types

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
TREES = "(3 (2 It) (4 (2 's) (3 good)))\n(1 (2 Not) (1 (2 so) (1 (1 bad) (2 .))))\n"

# Script: its flags, and what the record says; {} stands for the folder of the files below.
SCRIPTS = {
    "machine_peak.py": (
        "--size 32 --megabytes 1 --rounds 1 --threads 1",
        *("machine-peak_", "float32 plain", "GFLOP/s", "memory copy"),
        *(f"- {fact}: " for fact in ("date", "machine", "load", "versions", "commit", "command")),
    ),
    "vectors/context_index.py": ("--text {}/text.txt --tokens 500 --searches 2", "context-index_", "tokens take"),
    "vectors/corpus.py": (
        "--text {}/text.txt --sentences 20 --rounds 1 --threads 1",
        *(f"\n| {kind} | " for kind in ("memory", "HDF5", "npy", "Parquet")),
    ),
    "vectors/embedding.py": (
        "--size small --text {}/text.txt --sentences 6 --words 10 --batches 1 0 --rounds 1 --against",
        *(f"\n| {row} | " for row in ("float32 | 1", "int8 | all 6", "plain, float32 | 64")),
    ),
    "vectors/engine_table.py": (
        "--sizes small --dtypes float32 --calls 64 --instructions all --threads 1 --sentences 4 --single 2 --rounds 1",
        *("\n| small size (1024/128) | all | float32 | 64 a call", "\n| all | 1 | "),
    ),
    "vectors/few_sentences.py": (
        "--sentences 1 2 --instructions all --threads 1 --rounds 1 --seconds 0",
        *("\n| all | float32 | ", "### Reading"),
    ),
    "vectors/first_vector_memory.py": (
        "--size small --rounds 1",
        *("\n| AllenNLP | float32 | float32 | ", "\n| own | int8 | int8 | "),
    ),
    "vectors/javascript.py": (
        "--sentences 2 --rounds 1 --turns 1",
        *("javascript_", "| small-en | exact | all | one by one | ", "| small-ko | exact | all | one by one | "),
    ),
    "vectors/start_up.py": (
        "--models small-en --text {}/text.txt.xz --sentences 2 --rounds 1",
        *("\n| import elmo | ", "\n| small-en | int8 | "),
    ),
    "pretraining/exactness.py": (
        "--shapes 4 --draws 60 --words 100 --largest 32",
        *("float32 is within 1e-05: yes", "with all words: yes"),
    ),
    "pretraining/freed_memory.py": (
        "--data {}/data --rounds 1 --steps 1 --negatives 9 "
        "--cell-size 8 --projection-size 4 --batch-size 2 --unroll-steps 4",
        *("\n| given back | ", "\n| kept | ", "Kept memory makes a step"),
    ),
    "pretraining/training.py": (
        "--data {}/data --cell-size 16 --projection-size 8 --batch-size 4 --unroll-steps 5 --negatives 20 "
        "--peak-size 32 --rounds 1 --steps 1",
        *(f"\n| {it} | " for it in ("ours, float32", "ours, bfloat16", "plain", "torch LSTM", "torch LSTM, words")),
    ),
    "pretraining/training_memory.py": (
        "--text {}/text.txt --megabytes 0.1 --steps 2 --workers 1 --vocab-size 300",
        *("elmo prepare --workers 1 | ", "elmo pretrain, 2 steps | "),
    ),
    "tasks/dropout.py": ("--rounds 1", "\n| 32 x 20 x 256 | ", "GB/s", "of the time of torch.nn.Dropout"),
    "tasks/idle_threads.py": (
        "--rounds 1 --sentences 20 --epochs 1 --busy 0 1",
        *("\n| 0 | spin | ", "\n| 1 | sleep | ", "\n| 1 | one thread | ", "times beside 1 busy processes"),
    ),
    "tasks/task_steps.py": (
        f"{ROOT}/configs/tasks/sst.toml --train {{}}/trees --dev {{}}/trees --model small --steps 1 --scored 2 "
        "--set batch_size=2",
        *("\n| baseline | ", "\n| + ELMo | "),
    ),
    "tasks/verdicts.py": (
        "--tables 2 --draws 20",
        *("\n| accuracy, ", "\n| F1, ", "Tables in which 'ELMo beats the baseline' agrees"),
    ),
    "serving/serve.py": (
        "--text {}/text.txt --sentences 20 --clients 1 4 --requests 20 --rounds 1 --compared 16",
        *("serve_", "Of 16 requests by 8 threads, 0 got other bits"),
    ),
    "serving/serve_schema.py": ("--cases 16", "| POST /v1/embeddings | 4 |", "0 kinds of wrong answers"),
    "serving/serve_soak.py": (
        "--text {}/text.txt --sentences 20 --minutes 0.1 --readings 3",
        *("0 of them with a status of 5xx", "resident memory changed by"),
    ),
    "faults/disk_full.py": (
        "--places 'checkpoint, while written' metrics.jsonl 'vectors, while written'",
        "In 3 of 3 places",
    ),
    "faults/embed_partial.py": ("--most 70 --states carry --formats npy", "fault-partial_", ", 0 with any"),
    "faults/hostile_texts.py": ("--documents 40 --no-big", "fault-texts_", "40 documents: 40 gave"),
    "faults/mutants.py": ("--mutants 40 --only native AllenNLP", "fault-mutants_", "\n0 of "),
    "faults/streams.py": ("--only '-o taken'", "fault-streams_", ", 0 of which ended otherwise"),
}
# They end with 1 if a target was missed.
WITH_TARGETS = ("pretraining/training.py", "pretraining/training_memory.py", "tasks/verdicts.py")
OTHER_FAULTS = {"ranks.py", "tiny_run.py"}
"""That takes long, and what they share."""


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., str]:
    """Runs a script of benchmarks/ with flags; the name and the text of the one record it wrote."""

    def run(script: str, *flags: str) -> str:
        command = [sys.executable, str(ROOT / "benchmarks" / script), *flags, "--results", str(tmp_path / "results")]
        done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=240)
        assert done.returncode in ((0, 1) if script in WITH_TARGETS else (0,)), (
            done.stdout[-3000:] + done.stderr[-3000:]
        )
        (record,) = (tmp_path / "results").iterdir()
        return record.name + "\n" + record.read_text(encoding="utf-8")

    return run


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A text of 300 sentences, plain, packed and prepared, and some trees."""
    lines = [f"word{n % 90} and the {'x' * (n % 30)} cat of word{n % 7}" for n in range(300)]
    (tmp_path / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "text.txt.xz").write_bytes(lzma.compress((tmp_path / "text.txt").read_bytes()))
    (tmp_path / "trees").write_text(TREES * 8, encoding="utf-8")
    prepare([tmp_path / "text.txt"], tmp_path / "data")
    return tmp_path


def skip_without_what_it_needs(script: str, request: pytest.FixtureRequest) -> None:
    if script in ("vectors/engine_table.py", "vectors/few_sentences.py"):
        request.getfixturevalue("shared")
    if script == "vectors/javascript.py" and (shutil.which("node") is None or "int8" not in native_types()):
        pytest.skip("needs node and the native library")
    if script == "faults/disk_full.py" and (sys.platform != "linux" or os.geteuid() != 0):
        pytest.skip("mounts a tmpfs, which only root may")


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_runs_and_its_record_says_what_was_measured(script, run, files, request):
    skip_without_what_it_needs(script, request)
    flags, *said = SCRIPTS[script]
    record = run(script, *shlex.split(flags.replace("{}", str(files))))
    assert [words for words in said if words not in record and words not in record.replace("\n", " ")] == []


def test_precision_finds_the_bundled_model_near_float64(run, files):
    flags = ["--models", "small-en", "--text", str(files / "text.txt"), "--sentences", "6"]
    record = run("vectors/precision.py", *flags)
    assert "none. Numbers' own size" in record
    errors = {}
    for line in record.splitlines():
        if line.startswith("| small-en |"):
            dtype, layer, _, largest = [part.strip() for part in line.split("|")][2:6]
            errors[dtype, layer] = float(largest)
    assert all(0 < errors["float32", layer] < 2e-5 for layer in "012")
    assert all(errors["float32", layer] < errors["int8", layer] < 1 for layer in "012")


@pytest.mark.parametrize("script", ["vectors/allennlp_speed.py", "faults/ranks.py"])
def test_what_takes_long_or_needs_another_library_finds_what_it_imports(script):
    command = [sys.executable, f"benchmarks/{script}", "--help"]
    shown = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=ENVIRONMENT, timeout=240)
    assert shown.returncode == 0, shown.stderr
    assert f"python benchmarks/{script}" in shown.stdout


def test_every_script_of_faults_is_run():
    run = {script.removeprefix("faults/") for script in SCRIPTS if script.startswith("faults/")}
    assert {path.name for path in (ROOT / "benchmarks" / "faults").glob("*.py")} == run | OTHER_FAULTS
