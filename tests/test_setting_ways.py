"""The way of a setting: which functions of elmo it passes from the command line to where it acts. They are to be few.

A function is on the way if one of its arguments is the setting, or holds it (the command line, a dictionary or list, an
object of settings), and if it uses it: it reads the setting from that object, or calls a function that does. Checking
and saving count as use; getting an object of which only other settings are read does not. A method of an object of
settings counts if it reads the setting. An object of any other class that keeps the setting counts once, by its
`__init__`, if one of its methods uses it.

Found by running a command under `sys.setprofile` with a value that nothing else has. If a way is too long, the failing
test prints it.
"""

import dataclasses
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import CodeType, FrameType, SimpleNamespace
from typing import Any

import pytest

import elmo
from elmo.cli.main import main
from elmo.embed.embedder import Embedder
from elmo.tasks.task import Task
from elmo.weights.native.write import write

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]

MOST = 31
"""Of a setting's value. So many are passed by the output of an embedding."""
MOST_OF_TRAINING = 32
"""The same of a training: so many are passed by the projection clip, which is checked for the run and for the network,
and 30 by a task's learning rate; 17 if one part of pretraining alone uses it."""
MOST_OF_A_TASK = 36
"""Of the task of `elmo task train`, which nearly every part of a training uses; 8 are methods of the object that
trains, which holds it."""

MOST_OF_A_CALL = 72
"""Of functions of elmo: 70 with the native library on one thread; 86 on 2026-11-25."""

MOST_OF_A_FILE = 60
"""Of stays in files of `cli`, `embed/corpus` and `embed/storage` while a text becomes a file of vectors: 59."""
MOST_OF_A_TRAINING = 32
"""Of stays in files of `tasks/train` and `tasks/tokens` while a tagger is trained: 31; 60 on 2026-11-28."""
MOST_RETURNS = 20
"""Of them to a file that was left before: 20; 49 on 2026-11-29."""

NUMBER = 0.12345678

_SOURCE = str(Path(elmo.__file__).parent)
_DEEPEST = 4  # a job holds a task's settings, they hold a group, which holds the value
_LONGEST = 200  # of a list or dictionary that may hold settings, rather than data


class Way:
    """The functions that a setting has passed so far: name -> the argument that held it."""

    def __init__(self, is_it: Callable[[Any], bool]) -> None:
        self.functions: dict[str, str] = {}
        self._is_it = is_it
        self._received: dict[CodeType, str] = {}
        self._handed_on: set[CodeType] = set()
        self._watched: set[type] = set()
        self._stack = ExitStack()

    def __len__(self) -> int:
        return len(self.functions)

    def __str__(self) -> str:
        return "\n".join(f"{name} ({argument})" for name, argument in self.functions.items())

    def _call(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or code in self._handed_on or not code.co_filename.startswith(_SOURCE):
            return
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        for name in code.co_varnames[:count]:
            value = frame.f_locals.get(name)
            if name == "self" and not is_settings(value):
                continue
            if holder := self._holder(value):
                self._received.setdefault(code, name)
                if holder != "object":  # nobody sees what is read of a list or a dictionary
                    self._handed_on.add(code)
                    self._use(frame)
                return

    def _holder(self, value: Any, depth: int = _DEEPEST) -> str | None:
        """How a value holds the setting: it is the setting, or a list or dictionary with it, or an object; or not."""
        if self._is_it(value):
            return "value"
        if not depth:
            return None
        if isinstance(value, Mapping | list | tuple) and len(value) < _LONGEST:
            parts = list(value.values()) if isinstance(value, Mapping) else value
            found = {self._holder(part, depth - 1) for part in parts}
            return "list" if found & {"value", "list"} else "object" if "object" in found else None
        if is_settings(value):
            own = dict(getattr(value, "__dict__", {}))
            for name in own:
                if self._is_it(own[name]):
                    self._watch(type(value), name)
            return "object" if any(self._holder(part, depth - 1) for part in own.values()) else None
        return None

    def _watch(self, owner: type, field: str) -> None:
        """Notes from now on who reads a field of a class."""
        if owner in self._watched:
            return
        self._watched.add(owner)
        usual = owner.__getattribute__

        def watched(instance: object, name: str) -> Any:
            value = usual(instance, name)
            if name == field and self._is_it(value):
                self._use(sys._getframe(1))
            return value

        owner.__getattribute__ = watched  # type: ignore[method-assign, assignment]
        self._stack.callback(delattr, owner, "__getattribute__")

    def _use(self, frame: FrameType | None) -> None:
        """Whoever got the setting and is running now, uses it or hands it on; as do objects that have kept it."""
        while frame is not None:
            if frame.f_code.co_filename.startswith(_SOURCE):
                made = type(frame.f_locals.get("self")).__init__
                for code in (getattr(made, "__code__", None), frame.f_code):
                    if code in self._received:
                        place = Path(code.co_filename).relative_to(_SOURCE)
                        self.functions.setdefault(f"{place} {code.co_qualname}", self._received[code])
            frame = frame.f_back


def is_settings(value: object) -> bool:
    return isinstance(value, SimpleNamespace) or (dataclasses.is_dataclass(value) and not isinstance(value, type))


@contextmanager
def way_of(is_it: Callable[[Any], bool]) -> Iterator[Way]:
    """Follows the setting of which `is_it` is true, in all threads, until the end of the block."""
    way = Way(is_it)
    before = sys.getprofile()
    threading.setprofile(way._call)
    sys.setprofile(way._call)
    try:
        with way._stack:
            yield way
    finally:
        sys.setprofile(before)
        threading.setprofile(before)


def is_number(value: object) -> bool:
    return isinstance(value, float | str) and value in (NUMBER, str(NUMBER))


def is_tokens(value: object) -> bool:
    return isinstance(value, int | str) and value in (1237, "1237")


def is_task(value: object) -> bool:
    return isinstance(value, Task) or (isinstance(value, str) and value == "ner")


@pytest.fixture
def model(tmp_path, tiny_checkpoint) -> str:
    write(tiny_checkpoint, tmp_path / "model")
    return str(tmp_path / "model")


@pytest.fixture
def labelled(tmp_path) -> str:
    (tmp_path / "ner.txt").write_text("Anna B-PER\nsaw O\nRome B-LOC\n\n" * 12)
    return str(tmp_path / "ner.txt")


TINY = """
cell_size = 12
projection_size = 8
character_dim = 4
filters = [[1, 4], [2, 4]]
num_highway = 1
batch_size = 2
unroll_steps = 4
num_negative_samples = 4
max_steps = 2
"""


@pytest.mark.parametrize(
    ("flag", "acts"), [("--projection-clip", "_Window.forward"), ("--dropout", "RowDropout.__init__"),
                       ("--learning-rate", "learning_rate"), ("--clip-norm", "clip_")]
)  # fmt: skip
def test_a_setting_of_pretraining(data, tmp_path, flag, acts) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    files = [str(tmp_path / "tiny.toml"), "--data", str(data.folder), "-o", str(tmp_path / "run")]
    with way_of(is_number) as way:
        assert main(["pretrain", *files, "--quiet", flag, str(NUMBER)]) == 0
    check(way, acts, MOST_OF_TRAINING)


@pytest.mark.parametrize(
    ("is_it", "flag", "acts", "most"),
    [
        (is_number, "--learning-rate", "rate_at", MOST_OF_TRAINING),
        (is_number, "--dropout", "Tagger.__init__", 26),
        (is_task, "", "_scored", MOST_OF_A_TASK),
    ],
)
def test_a_setting_of_a_task(model, labelled, tmp_path, is_it, flag, acts, most) -> None:
    flags = [flag, str(NUMBER)] if flag else []
    with way_of(is_it) as way:
        files = ["--train", labelled, "-o", str(tmp_path / "run"), "--model", model]
        assert main(["task", "train", "ner", *files, "--epochs", "1", "--hidden-sizes", "8", "--quiet", *flags]) == 0
    check(way, acts, most)


@pytest.mark.parametrize(
    ("is_it", "flags", "acts"),
    [
        (is_tokens, ["--max-tokens", "1237"], "bucket"),
        (is_number, ["--layers", f"{NUMBER},0,0"], "LayerChoice.of"),
        (lambda value: isinstance(value, str | Path) and str(value).endswith("vectors.h5"), [], "put_in_place"),
    ],
    ids=["--max-tokens", "--layers", "--output"],
)
def test_a_setting_of_embedding(model, tmp_path, is_it, flags, acts) -> None:
    (tmp_path / "text.txt").write_text("the cat sat\n")
    with way_of(is_it) as way:
        output = str(tmp_path / "vectors.h5")
        assert main(["embed", str(tmp_path / "text.txt"), "-o", output, "-m", model, *flags]) == 0
    check(way, acts)


def test_the_way_of_sentences_to_vectors(tiny_checkpoint) -> None:
    """Counted are the functions that a call of `embed` runs, whatever they do, once words and weights are known."""
    embedder = Embedder(tiny_checkpoint)
    embedder.embed([["the", "cat"]])
    found: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_SOURCE) and not code.co_name.startswith("<"):
            found[f"{Path(code.co_filename).relative_to(_SOURCE)} {code.co_qualname}"] = None

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        embedder.embed([["the", "cat"]])
    finally:
        sys.setprofile(before)
    assert len(found) <= MOST_OF_A_CALL, f"{len(found)} functions:\n" + "\n".join(found)


def called(command: list[str]) -> tuple[list[str], list[str]]:
    """The names of the functions that a command calls, each time, and their files, each function counted once."""
    found: dict[CodeType, str] = {}
    names: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_SOURCE) and not code.co_name.startswith("<"):
            names.append(code.co_name)
            found.setdefault(code, Path(code.co_filename).relative_to(_SOURCE).as_posix())

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        assert main(command) == 0
    finally:
        sys.setprofile(before)
    return names, list(found.values())


def stays_in(files: list[str], rooms: tuple[str, ...]) -> list[str]:
    """The files of these rooms, each as often as the one before is another."""
    own = [file for file in files if file.startswith(rooms)]
    return [file for place, file in enumerate(own) if not place or own[place - 1] != file]


def test_the_walk_of_a_text_to_a_file_of_vectors(model, tmp_path) -> None:
    """Of the functions that are called, each counted the first time, how often the next one is in another file; and the
    text is read into sentences once."""
    (tmp_path / "text.txt").write_text("the cat sat\n")
    command = ["embed", str(tmp_path / "text.txt"), "-m", model, "--quiet", "-o"]
    assert main([*command, str(tmp_path / "first.h5")]) == 0  # everything is imported
    names, files = called([*command, str(tmp_path / "second.h5")])
    stays = stays_in(files, ("cli/", "embed/corpus/", "embed/storage/"))
    assert len(stays) <= MOST_OF_A_FILE, f"{len(stays)} stays:\n" + "\n".join(stays)
    assert names.count("placed_sentences") == 1


def test_the_walk_of_a_training(model, labelled, tmp_path) -> None:
    """Likewise; and the biLM is found, read and hashed once."""
    flags = ["--model", model, "--epochs", "1", "--hidden-sizes", "8", "--quiet"]
    command = ["task", "train", "ner", "--train", labelled, *flags, "-o"]
    assert main([*command, str(tmp_path / "first")]) == 0
    names, files = called([*command, str(tmp_path / "second")])
    stays = stays_in(files, ("tasks/train/", "tasks/tokens/"))
    returns = len(stays) - len(set(stays))
    shown = f"{len(stays)} stays, {returns} returns:\n" + "\n".join(stays)
    assert len(stays) <= MOST_OF_A_TRAINING and returns <= MOST_RETURNS, shown
    assert [names.count(name) for name in ("resolve", "find_encoder", "from_pretrained")] == [1, 1, 1]


def check(way: Way, acts: str, most: int = MOST) -> None:
    assert any(name.endswith(f" {acts}") for name in way.functions), f"it never came to {acts}:\n{way}"
    assert len(way) <= most, f"{len(way)} functions:\n{way}"
