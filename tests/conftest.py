"""What several rooms' tests start from."""

import gc
import importlib.util
import inspect
import io
import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import jaxtyping
import numpy as np
import pytest
from beartype import beartype
from hypothesis import settings
from jaxtyping import install_import_hook
from tests.chromium import browser  # noqa: F401 - a fixture

from elmo.config import BiLMConfig
from elmo.process.device import has_torch
from elmo.process.progress.report import Progress
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap, WordMap
from elmo.weights import formats
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.shapes import network_shapes

if TYPE_CHECKING:
    from elmo.corpus.shards import TrainingData
    from elmo.pretrain.settings.config import PretrainConfig


# In the background of a script or under nohup, SIGINT is ignored, here and in every process that a test starts:
# tests of Ctrl-C would wait for what never happens.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# An example's time says how busy the machine is. The examples are the same in every run, so that none fails by chance:
# `--hypothesis-profile hunt` looks for new ones.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("hunt", deadline=None, max_examples=1000)
settings.load_profile("repeatable")


def _shapes_checked(typechecker: Callable) -> Callable:
    """What `jaxtyping.jaxtyped` does, for functions in a third of its time: it checks the arguments of a call twice."""

    def decorated(function: Callable) -> Callable:
        if isinstance(function, type):  # a dataclass
            return jaxtyped(typechecker=typechecker)(function) if _is_network(function) else function
        if function.__module__.endswith(".gate_kernels"):  # Triton compiles its source
            return function
        if inspect.isgeneratorfunction(function):  # its body runs after the call, when the dimensions are forgotten
            return function
        hints = {name: _resolved(hint, function) for name, hint in function.__annotations__.items()}
        if not _is_network(function):
            hints = {name: hint for name, hint in hints.items() if _is_shape(hint)}
        if not hints:
            return function
        function.__annotations__ = hints
        checked = beartype(function)

        @wraps(function)
        def call(*arguments, **keywords):
            with jaxtyped("context"):  # the dimensions' names mean the same size in the whole call
                return checked(*arguments, **keywords)

        return function if checked is function else call

    return decorated


def _resolved(hint: object, function: Callable) -> object:
    """The type that a quoted annotation names; Any if that is imported for type checkers alone."""
    try:
        return eval(hint, function.__globals__) if isinstance(hint, str) else hint
    except NameError:
        return Any


def _is_shape(hint: object) -> bool:
    """Of arrays, or of tuples and the like of arrays; into generic classes of our own beartype can't look."""
    return "jaxtyping." in repr(hint) and "elmo." not in repr(hint)


def _is_network(thing: Callable) -> bool:
    return thing.__module__.startswith(NETWORK)


# The signatures of the network and its operations are checked in every call that a test makes; elsewhere the shapes in
# them, because tests replace models and files by things of other types. `elmo.text` and `elmo.weights` are imported
# above, before the hook.
NETWORK = ("elmo.engine", "elmo.layer", "elmo.model", "elmo.ops", "elmo.reference")
ROOMS_WITH_SHAPES = ("analysis", "corpus", "embed", "explorer", "lm", "pretrain", "serve", "static", "tasks")
jaxtyping.jaxtyped, jaxtyped = _shapes_checked, jaxtyping.jaxtyped
install_import_hook([*NETWORK, *(f"elmo.{room}" for room in ROOMS_WITH_SHAPES)], "beartype.beartype")

# What is about torch, as a whole. Without torch these rooms are left out and these files skipped; all else must pass.
ROOMS_OF_TORCH = ("gpu", "layer", "model", "ops", "pretrain", "runs", "tasks")
FILES_OF_TORCH = (
    *(f"cli/verbs/test_{verb}.py" for verb in ("doctor", "finetune", "pretrain", "static", "task")),
    *(f"embed/test_{name}.py" for name in ("compute_types", "misuse", "recorded", "threads")),
    "embed/results/test_pooling.py",
    *(f"lm/test_{name}.py" for name in ("language_models", "perplexity", "sentence_scores", "substitutes")),
    "static/test_training.py",
    "weights/native/test_narrow.py",
    "test_docs.py",
    "test_public_names.py",
    "test_setting_ways.py",
    "text/test_sentence_checks.py",
    "weights/allennlp/test_state_dict.py",
    "weights/many_langs/test_read.py",
    "weights/test_pickle.py",
)


class _NeedsTorch(pytest.Module):
    """A file of tests that is skipped as a whole."""

    def collect(self):
        pytest.skip("needs torch, which is not installed: pip install 'pyelmo[torch]'")


def pytest_report_header() -> str | None:
    """What is left out."""
    return None if has_torch() else f"without torch: left out are {', '.join(ROOMS_OF_TORCH)}"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Rooms as a whole: their conftest files need torch."""
    parts = collection_path.relative_to(Path(__file__).parent).parts if not has_torch() else ()
    return True if parts and parts[0] in ROOMS_OF_TORCH else None


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """The usual module, or one that is skipped."""
    if has_torch() or module_path.relative_to(Path(__file__).parent).as_posix() not in FILES_OF_TORCH:
        return None
    return _NeedsTorch.from_parent(parent, path=module_path)


GOLDEN_CASES = (
    "relu_hw2_l2_skip_mixed",
    "tanh_hw1_l1_empties",
    "relu_hw0_l3_skip_longwords",
    "tanh_hw2_l2_noskip_english",
    "relu_hw1_l2_noclip_singles",
    "relu_hw1_l2_stateful",
    "tanh_hw1_l2_noskip_stateful",
)


@dataclass(frozen=True)
class GoldenCase:
    """Inputs and outputs computed with AllenNLP's own modules; golden/README.md says how they lie."""

    folder: Path
    batches: list[list[list[str]]]
    mixes: list[dict]
    expected: dict[str, np.ndarray]
    rounding: float
    """How far the expected layers and states, which are float32, are from float64: golden/cases.json."""

    @property
    def files(self) -> tuple[Path, Path]:
        """Options and weights."""
        return self.folder / "options.json", self.folder / "weights.hdf5"

    @property
    def tolerance(self) -> float:
        """For float32: their rounding, and ours, of the same equations but of sums in another order.

        Of six kernels of OpenBLAS, numpy's and the library's, none was further from float64 than 3.2 times `rounding`.
        """
        return (1 + 4) * self.rounding


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests, and the processes they start, have a cache of their own."""
    os.environ["ELMO_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(autouse=True, scope="session")
def no_waiting_for_the_disk() -> Iterator[None]:
    """Bytes are safe from a loss of power once they are on the disk, which no test can see; waiting takes a minute."""
    before, os.fsync = os.fsync, lambda _: None
    yield
    os.fsync = before


def pytest_collection_finish() -> None:
    """Leaves out of garbage collections what is there for good: modules, and the tests themselves."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def environment_stays(own_cache: None) -> Iterator[None]:
    """A setting that a test leaves behind decides what the tests after it run, in an order that differs each time."""
    ours = lambda: {name: value for name, value in os.environ.items() if name.startswith("ELMO_")}  # noqa: E731
    before = ours()
    yield
    assert ours() == before, "this test has left other settings behind: use monkeypatch"


@contextmanager
def native_library(**environment: str) -> Iterator[None]:
    """Inside the block the native library is loaded with these variables; `ELMO_NATIVE="0"` switches it off."""
    from elmo.ops import native

    try:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            native.library.cache_clear()
            yield
    finally:
        native.library.cache_clear()
        native.library()  # with the limit there was before


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Small products are slower on several threads, much so on a busy machine."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class RecordedProgress(Progress):
    """What an operation reported."""

    def __init__(self) -> None:
        self.stages: dict[str, list[tuple[int, int | None]]] = {}
        """Each stage's `done` and `total`, by its name."""
        self.units: dict[str, set[str]] = {}
        self.notes: list[str] = []
        self.lines: list[str] = []

    def show(self, what: str, done: int, total: int | None, unit: str, note: str = "") -> None:
        self.stages.setdefault(what, []).append((done, total))
        self.units.setdefault(what, set()).add(unit)
        self.notes.append(note)

    def say(self, line: str) -> None:
        self.lines.append(line)

    def require_stages(self, **units: str) -> None:
        """Exactly these stages were gone through, each from its beginning to its total, in these units."""
        self.require({what.replace("_", " "): unit for what, unit in units.items()})

    def require(self, units: dict[str, str]) -> None:
        """The same, for names that are no identifiers."""
        assert {what: {unit} for what, unit in units.items()} == self.units
        for what, reports in self.stages.items():
            done = [one for one, _ in reports]
            assert done == sorted(done), f"{what} falls: {done}"
            assert len(reports) > 1, f"{what} did not say where it begins"
            assert reports[-1][0] == reports[-1][1], f"{what} ends at {reports[-1]}"


@pytest.fixture
def recorded_progress() -> RecordedProgress:
    """To be passed to an operation, which then must have reported as it should."""
    return RecordedProgress()


class Terminal(io.StringIO):
    """Applies carriage returns and line feeds as a terminal does; tqdm's other codes move between lines."""

    def isatty(self):
        return True

    @property
    def screen(self):
        """The lines that can be read now, without blanks at their ends."""
        rows, row, column = [[]], 0, 0
        for part in re.findall(r"\x1b\[A|\r|\n|[^\x1b\r\n]", self.getvalue()):
            if part == "\x1b[A":
                row -= 1
            elif part == "\r":
                column = 0
            elif part == "\n":
                row, column = row + 1, 0
                rows += [[]] if row == len(rows) else []
            else:
                rows[row] += " " * (column + 1 - len(rows[row]))
                rows[row][column] = part
                column += 1
        return ["".join(one).rstrip() for one in rows]


@pytest.fixture
def terminal(monkeypatch) -> Terminal:
    """On which everything is drawn at once, and stays however short it was."""
    from elmo.process.progress import shown

    monkeypatch.setattr(shown, "_UNSEEN", 0)
    monkeypatch.setattr(shown, "_SHORT", 0)
    return Terminal()


@pytest.fixture(scope="session")
def load_script() -> Callable[[str], ModuleType]:
    """Loads a script by its path in the repository, each time anew. It finds what lies beside it, as if run."""

    def load(path: str) -> ModuleType:
        script = Path(__file__).resolve().parents[1] / path
        spec = importlib.util.spec_from_file_location(script.stem, script)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "path", [str(script.parent), *sys.path])
            spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of specification, golden vectors and data beside the repository; without it, its tests are skipped."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("needs the folder 'shared' beside the repository")
    return folder


@pytest.fixture(scope="session")
def golden_folder() -> Path:
    """Inputs and outputs computed with the original modules; its README says how."""
    return Path(__file__).parent / "golden"


@pytest.fixture(scope="session")
def many_langs_checkpoint(golden_folder) -> Checkpoint:
    """The golden model of ELMoForManyLangs, whose pickles torch reads."""
    pytest.importorskip("torch")
    return formats.read(golden_folder / "efml_word_and_char")


@pytest.fixture(params=GOLDEN_CASES)
def golden(request, golden_folder) -> GoldenCase:
    """Every golden case in turn."""
    folder = golden_folder / request.param
    inputs = json.loads((folder / "inputs.json").read_text(encoding="utf-8"))
    with np.load(folder / "expected.npz") as arrays:
        expected = dict(arrays)
    cases = {case["case"]: case for case in json.loads((golden_folder / "cases.json").read_text(encoding="utf-8"))}
    rounding = max(cases[request.param]["fp32_vs_fp64"].values())
    return GoldenCase(folder, inputs["batches"], inputs["mixes"], expected, rounding)


@pytest.fixture(scope="session")
def require_near_product() -> Callable:
    """Fails unless `found` is as near to inputs @ weight.T + bias as its arithmetic allows (see `allowed_error`)."""

    def require(found, inputs, weight, bias, dtype: str, case: str) -> None:
        inputs, weight, bias = (np.asarray(part, np.float64) for part in (inputs, weight, bias))
        error = np.abs(np.asarray(found) - (inputs @ weight.T + bias))
        share = (error / allowed_error(inputs, weight, bias, dtype)).max(initial=0)
        assert share <= 1, f"{case}: the error is {share:.2f} times what rounding explains"

    return require


def allowed_error(inputs: np.ndarray, weight: np.ndarray, bias: np.ndarray, dtype: str) -> np.ndarray:
    """How far each number of inputs @ weight.T + bias may be from the exact one; `dtype`: of the factors.

    Rounding errors are taken as independent, and 4 times their sum's size is allowed.

    - The sum in float32: each of the n additions rounds a partial sum by up to eps/2 of it. Partial sums of n products
      that point both ways are of the size of these products' norm, or smaller, so their errors add up to about
      eps * sqrt(n) * norm, however the sum is cut into parts; the result and the bias are rounded once more each.
      Over five BLAS kernels, seven shapes and twelve seeds no error was larger than 1.56 times that.
    - bfloat16 factors: each is rounded by up to 2^-8 of itself, so each product by up to 2^-7.
    - int8 factors: each is rounded by up to half a step, 1/254 of its row's largest.

    The certain bound, n * eps * sum |products|, is a thousand times wider and would find nothing.
    """
    exact, squares = inputs @ weight.T + bias, (inputs**2) @ (weight**2).T
    norm = np.sqrt(squares)
    allowed = 2.0**-23 * (inputs.shape[1] ** 0.5 * norm + np.abs(exact) + np.abs(bias))
    if dtype == "bfloat16":
        allowed += 2.0**-7 * norm
    if dtype == "int8":
        steps = [np.abs(part).max(axis=1) / 127 for part in (inputs, weight)]
        sizes = [np.linalg.norm(part, axis=1) for part in (inputs, weight)]
        allowed += np.hypot(np.outer(steps[0], sizes[1]), np.outer(sizes[0], steps[1])) / 2
    return 4 * allowed


@pytest.fixture
def tiny_config() -> BiLMConfig:
    """The published shape in small: characters, a highway, two layers, skip connections, clips."""
    return BiLMConfig(cell_size=16, projection_size=8, filters=((1, 4), (2, 4)), character_dim=4, num_highway=1)


def checkpoint_of(config: BiLMConfig, *, scale: float = 1, words: Sequence[str] = (), **parts: Any) -> Checkpoint:
    """A checkpoint made without torch, whose random weights are always the same; the first word has the id 1."""
    chance = np.random.default_rng(1)
    tensors = {
        name: (scale * chance.standard_normal(shape) / shape[-1] ** 0.5).astype(np.float32)
        for name, shape in network_shapes(config)
    }
    for name in {"token_encoder.character_embedding", "token_encoder.word_embedding"} & tensors.keys():
        tensors[name][0] = 0
    characters = CharacterMap.for_bytes(config.max_characters_per_token) if config.has_characters else None
    word_map = WordMap({word: number for number, word in enumerate(words, start=1)}) if config.has_words else None
    return Checkpoint(config, tensors, TokenMap(characters, word_map), **parts)


@pytest.fixture
def tiny_checkpoint(tiny_config) -> Checkpoint:
    """A checkpoint of `tiny_config`."""
    return checkpoint_of(tiny_config)


@pytest.fixture
def tiny_bilm(tiny_config):
    """A biLM of `tiny_config`; its random weights are always the same."""
    torch = pytest.importorskip("torch")
    from elmo.model.bilm import BiLM

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return BiLM(tiny_config).eval()


@pytest.fixture
def open_pipe(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """A pipe that brings one line and then nothing. Whoever has read the line gets a signal, of the given number, and
    must not wait for the end."""
    pipe, main, is_over = tmp_path / "pipe", threading.main_thread().ident, threading.Event()
    writers: list[threading.Thread] = []
    was_soon: list[bool] = []

    def opened(number: int) -> Path:
        import fcntl  # not on Windows
        import termios

        def write() -> None:
            with pipe.open("wb", buffering=0) as file:
                file.write(b"a line\n")
                while any(fcntl.ioctl(file, termios.FIONREAD, bytes(4))):  # so many bytes are still in it
                    time.sleep(0.01)
                signal.pthread_kill(main, number)
                was_soon.append(is_over.wait(60))

        os.mkfifo(pipe)
        writers.append(threading.Thread(target=write))
        writers[0].start()
        return pipe

    yield opened
    is_over.set()
    for writer in writers:
        writer.join()
    assert was_soon == [True]


@pytest.fixture
def tiny_corpus() -> list[list[str]]:
    """A few sentences of very different lengths, with an empty one, an empty token and one token twice."""
    longer = "a longer line of words , of which some are longer than others , comes here"
    return [
        ["the", "cat", "sat", "on", "the", "mat", "."],
        ["no"],
        [],
        ["un", "", "café"],
        longer.split(),
    ]


TEXT = """the cat sat on the mat
the dog sat on the log
a cat and a dog
밥 을 먹었다
he went to the bank to get money
the bank of the river
mats and logs and cats and dogs sat and sat and sat
money
"""


@pytest.fixture
def data(tmp_path: Path) -> "TrainingData":
    """The text as training data, its first lines as validation data, in two shards."""
    from elmo.corpus.prepare import prepare
    from elmo.corpus.settings import CorpusSettings
    from elmo.corpus.shards import TrainingData

    train, valid = tmp_path / "train.txt", tmp_path / "valid.txt"
    train.write_text(TEXT, encoding="utf-8")
    valid.write_text("the cat sat\nthe zebra went to the bank\n", encoding="utf-8")
    prepare([train], tmp_path / "data", CorpusSettings(tokens_per_shard=20), valid=[valid])
    return TrainingData.open(tmp_path / "data")


@pytest.fixture
def recipe() -> "PretrainConfig":
    """Tiny, with everything switched on that takes part in a step."""
    from elmo.pretrain.settings.config import PretrainConfig

    return PretrainConfig(
        cell_size=12,
        projection_size=8,
        character_dim=4,
        filters=((1, 4), (2, 4), (3, 6)),
        num_highway=1,
        epochs=3,
        batch_size=3,
        unroll_steps=4,
        num_negative_samples=6,
        state_reset=0.5,
        dropout=0.1,
        log_every=1,
        save_every=2,
        evaluate_every=4,
    )
