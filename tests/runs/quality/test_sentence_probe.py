"""The linear probe of sentences: it finds what stands in the vectors, layer by layer."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("sklearn")
SCRIPT = Path(__file__).parents[3] / "runs" / "quality" / "sentence_probe.py"
WORDS = {"good": "pos", "fine": "pos", "bad": "neg", "dull": "neg"}


@pytest.fixture
def files(tmp_path) -> Path:
    """Labelled sentences whose label stands in one word, and vectors that know it."""
    rows = [f"{label}\ta {word} film number {number}" for number in range(12) for word, label in WORDS.items()]
    for part in ("train", "dev", "test"):
        (tmp_path / part).write_text("\n".join(rows) + "\n")
    chance = np.random.default_rng(0)
    vectors = {"a": chance.normal(size=4), "film": chance.normal(size=4)}
    vectors |= {word: 9 * np.eye(4)[int(label == "pos")] for word, label in WORDS.items()}
    lines = [f"{word} {' '.join(map(str, vector))}\n" for word, vector in vectors.items()]
    (tmp_path / "known.txt").write_text(f"{len(lines)} 4\n" + "".join(lines))
    return tmp_path


def probe(files: Path, *flags: str) -> subprocess.CompletedProcess:
    parts = [flag for part in ("train", "dev", "test") for flag in (f"--{part}", str(files / part))]
    command = [sys.executable, str(SCRIPT), *parts, *flags]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_each_source_of_vectors_has_a_line(files):
    found = probe(files, "--static", str(files / "known.txt"), "--model", "small-en")
    assert found.returncode == 0, found.stderr
    lines = [line.strip("| ").split(" | ") for line in found.stdout.splitlines()[2:]]
    names = ["layer 0", "layer 1", "layer 2", "all layers", f"all layers, and {files / 'known.txt'}"]
    assert [line[0] for line in lines] == [str(files / "known.txt"), *(f"small-en, {name}" for name in names)]
    assert [line[1] for line in lines] == ["12", "1,536", "1,536", "1,536", "4,608", "4,620"]
    assert lines[0][2:] == ["100.0", "100.0"]
    assert all(float(score) > 90 for line in lines for score in line[2:])


@pytest.mark.parametrize(
    ("part", "content", "message"),
    [
        ("dev", "pos\n", "dev:1: has 1 tab-separated columns"),
        ("train", "pos\ta good film\n", "the training data have one label, 'pos', so nothing can be learned"),
        ("test", "pos\ta good film\nodd\ta film\n", "test:2: the label 'odd' isn't one of the training data's"),
    ],
)
def test_what_nothing_can_be_learned_from_is_told(files, part, content, message):
    (files / part).write_text(content)
    found = probe(files, "--static", str(files / "known.txt"))
    assert (found.returncode, "Traceback" in found.stderr) == (2, False)
    assert message in found.stderr


def test_without_scikit_learn_the_command_that_installs_it_is_named(files, monkeypatch):
    (files / "sklearn.py").write_text("raise ImportError\n")
    monkeypatch.setenv("PYTHONPATH", str(files))
    found = probe(files, "--static", str(files / "known.txt"))
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.endswith("Install it with: pip install 'pyelmo[scikit-learn]'\n")
    assert found.stderr.count("\n") == 1
