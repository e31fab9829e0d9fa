"""Everything that embeds on a CPU works where torch is not installed, and says what to install for the rest."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import elmo
from elmo.weights.native.write import write

# Whoever imports torch in this process is told that it isn't there.
_BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, Blocked())
sys.path.insert(0, {source!r})
"""
_BEGIN = _BLOCKED.format(source=str(Path(elmo.__file__).parents[1]))


def run(code: str, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", _BEGIN + code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, input=stdin, check=False)


def command(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """`elmo ARGUMENTS` without torch."""
    return run("from elmo.cli.main import main\nsys.exit(main(sys.argv[1:]))", *arguments, stdin=stdin)


@pytest.fixture
def model(tiny_checkpoint, tmp_path) -> str:
    write(tiny_checkpoint, tmp_path / "model")
    return str(tmp_path / "model")


def test_the_block_works():
    assert "No module named 'torch'" in run("import torch").stderr


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "auto"])
def test_lines_are_embedded_in_every_type(model, dtype):
    done = command("embed", "-", "--model", model, "--dtype", dtype, "--quiet", stdin="He sat .\n\na b\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert [json.loads(line)["shape"] for line in done.stdout.splitlines()] == [[3, 3, 16], [3, 0, 16], [3, 2, 16]]


@pytest.fixture
def language_model(tiny_checkpoint, tmp_path) -> str:
    """`model`, with a softmax."""
    chance = np.random.default_rng(2)
    softmax = {"weight": chance.standard_normal((5, 8)), "bias": chance.standard_normal(5)}
    softmax = {name: array.astype(np.float32) for name, array in softmax.items()}
    words = ["<S>", "</S>", "<UNK>", "He", "sat"]
    write(dataclasses.replace(tiny_checkpoint, vocabulary=words, softmax=softmax), tmp_path / "lm")
    return str(tmp_path / "lm")


def test_the_language_model_speaks(language_model):
    done = command("perplexity", language_model, "-", "--json", "--quiet", stdin="He sat .\n\na b\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["predictions"] == 7
    for settings in (["--state", "carry"], ["--state", "carry", "--batch-size", "1"]):
        done = command("perplexity", language_model, "-", "--quiet", *settings, stdin="He sat .\na b\n")
        assert (done.returncode, done.stderr) == (0, "")
    done = command("scores", language_model, "-", "--json", stdin="He sat .\na b\n")
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 2)
    done = command("substitutes", language_model, "He [sat] .", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert list(json.loads(done.stdout)) == ["sentence", "place", "forward", "backward", "both"]


def test_an_index_is_made_and_searched(model, tmp_path):
    done = command("index", "-", "-o", str(tmp_path / "index"), "-m", model, "--quiet", stdin="He sat .\nHe lay .\n")
    assert (done.returncode, done.stderr) == (0, "")
    done = command("neighbors", str(tmp_path / "index"), "[He] sat .", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["queries"]


@pytest.mark.parametrize("ending", ["h5", "npy"])
def test_a_file_becomes_a_file_and_can_be_resumed(model, tmp_path, ending):
    (tmp_path / "text.txt").write_text("He sat .\na b\n")
    done = command("embed", str(tmp_path / "text.txt"), "-o", str(tmp_path / f"out.{ending}"), "-m", model, "--resume")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"out.{ending}").is_file()


def test_models_are_listed_inspected_and_converted(model, tmp_path):
    assert command("models").returncode == 0
    assert json.loads(command("inspect", model, "--json").stdout)["layers"] == 2
    for number, settings in enumerate((["--to", "allennlp"], ["--dtype", "int8"])):
        done = command("convert", model, str(tmp_path / str(number)), *settings)
        assert (done.returncode, done.stderr) == (0, "")
        assert command("inspect", str(tmp_path / str(number))).returncode == 0


def test_the_doctor_finds_nothing_broken():
    done = command("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    assert "without torch, the CPU computes" in done.stdout
    assert "  default model " in done.stdout


def test_an_embedder_is_used_in_python(model, tmp_path):
    code = """
import numpy as np
from elmo import Embedder
embedder = Embedder.from_pretrained(sys.argv[1])
assert (embedder.device, embedder.num_layers) == ("cpu", 3)
arrays = embedder.embed(["He sat .", []], layers="average")
warm = embedder.warm_up(["He sat ."])
for state in ("warm", "carry"):
    other = Embedder.from_pretrained(sys.argv[1], state=state, warm_state=warm)
    other.embed(["a b"])
assert other.state_dict()["cell"].shape == (2, 1, 32)
np.save(sys.argv[2], arrays[0])
"""
    done = run(code, model, str(tmp_path / "array.npy"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert np.load(tmp_path / "array.npy").shape == (3, 16)


@pytest.mark.parametrize("name", ["BiLM", "ELMo", "ScalarMix"])
def test_a_name_that_needs_torch_says_what_to_install(name):
    done = run(f"import elmo\ntry:\n    elmo.{name}\nexcept elmo.MissingExtraError as error:\n    print(error)")
    assert done.stdout == (
        f"elmo.{name} needs torch, which is not installed. Install it with: pip install 'pyelmo[torch]'\n"
    )


def test_the_network_of_an_embedder_says_what_to_install(model):
    code = "from elmo import Embedder\nEmbedder.from_pretrained(sys.argv[1]).bilm"
    assert "MissingExtraError: the biLM of an Embedder as a torch module needs torch" in run(code, model).stderr


def test_a_verb_that_needs_torch_says_what_to_install(model, tmp_path):
    done = command("task", "train", "ner", "--train", "a", "-o", str(tmp_path / "tagger"))
    assert done.returncode == 2
    print(done.stderr)
    assert "Traceback" not in done.stderr
    done = command("embed", "He sat .", "--device", "cuda", "--model", model)
    assert done.returncode == 2
    assert done.stderr == (
        "device 'cuda' needs torch, which is not installed. Install it with: pip install 'pyelmo[torch]'\n"
    )
