"""Pickles are opened in a confined child: good ones come through, bad ones are refused, nothing in them runs."""

import os
import pickle
import subprocess
import sys
import tarfile
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

from elmo.errors import WeightFileError
from elmo.weights.pickle import child as confined_pickle_child
from elmo.weights.pickle import read as confined_pickle
from elmo.weights.pickle.read import read_state_dict


class Gadget:
    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self):
        return os.system, (f"touch {self.canary}",)


MATRIX = np.arange(12, dtype=np.float32).reshape(3, 4)


def write_files(folder: Path) -> None:
    canary = folder / "canary"
    good = {
        "matrix": torch.nn.Parameter(torch.tensor(MATRIX)),
        "transposed": torch.tensor(MATRIX).t(),
        "half": torch.ones(2, dtype=torch.float16),
        "brain": torch.ones(2, dtype=torch.bfloat16),
        "double": torch.full((), 0.1, dtype=torch.float64),
        "large": torch.zeros(5_000_000),
    }
    torch.save(good, folder / "good_zip")
    legacy = {"_use_new_zipfile_serialization": False}
    torch.save({"matrix": torch.tensor(MATRIX)}, folder / "good_legacy", **legacy)
    torch.save({"matrix": Gadget(canary)}, folder / "gadget_zip")
    torch.save({"matrix": Gadget(canary)}, folder / "gadget_legacy", **legacy)
    (folder / "truncated").write_bytes((folder / "good_legacy").read_bytes()[:-20])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.jit is deprecated, its files are not gone
        torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), folder / "torchscript")
    write_bomb(folder / "good_zip", folder / "bomb")


def write_bomb(source: Path, target: Path) -> None:
    """A file of half a megabyte whose tensor unpacks to 290 MB."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        for name in old.namelist():
            new.writestr(name, bytes(290_000_000) if name.endswith("data/0") else old.read(name)[:100_000])


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What reading each file gave; the processes are started side by side, because starting torch takes a second."""
    folder = tmp_path_factory.mktemp("pickles")
    write_files(folder)
    names = sorted(path.name for path in folder.iterdir())
    with ThreadPoolExecutor(4) as pool:
        found = dict(zip(names, pool.map(outcome, (folder / name for name in names)), strict=True))
    found["canary"] = (folder / "canary").exists()
    return found


def outcome(path: Path):
    try:
        return read_state_dict(path)
    except WeightFileError as error:
        assert str(error).startswith(f"{path}: ")
        return str(error)


def test_zip_serialization_loads_under_the_limits(outcomes):
    arrays = outcomes["good_zip"]
    assert np.array_equal(arrays["matrix"], MATRIX)
    assert np.array_equal(arrays["transposed"], MATRIX.T)
    assert arrays["half"].dtype == np.float16
    assert arrays["brain"].dtype == np.float32 and arrays["brain"].tolist() == [1, 1]
    assert arrays["double"] == np.float64(0.1)
    assert arrays["large"].shape == (5_000_000,) and not arrays["large"].any()


def test_serialization_before_torch_1_6_loads(outcomes):
    assert np.array_equal(outcomes["good_legacy"]["matrix"], MATRIX)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gadget_zip", "posix.system"),
        ("gadget_legacy", "posix.system"),
        ("truncated", "unexpected EOF"),
        ("torchscript", "TorchScript"),
        ("bomb", "can't allocate memory"),
    ],
)
def test_bad_file_is_refused_with_its_reason(outcomes, name, reason):
    if name == "bomb" and not Path("/proc/self/statm").exists():
        pytest.skip("this system has no limit on memory")
    assert reason in outcomes[name]
    assert "Get the file again" in outcomes[name]
    assert "weights_only` to `False" not in outcomes[name]


def test_no_gadget_ran(outcomes):
    assert outcomes["canary"] is False


def test_what_torch_never_writes_is_refused_without_a_process(tmp_path, monkeypatch):
    monkeypatch.setattr(subprocess, "run", None)
    canary = tmp_path / "canary"
    contents = {"plain": pickle.dumps(Gadget(canary)), "empty": b"", "text": b"hello", "half": b"\x80\x02\x8a\x0a"}
    with tarfile.open(tmp_path / "tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("storages"))
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    for name in (*contents, "tar"):
        with pytest.raises(WeightFileError, match="which torch.save never writes"):
            read_state_dict(tmp_path / name)
    with pytest.raises(WeightFileError, match="can't be read"):
        read_state_dict(tmp_path / "absent")
    assert not canary.exists()


@pytest.mark.parametrize(
    ("loaded", "reason"),
    [
        ([torch.zeros(1)], "it holds a list"),
        ({1: torch.zeros(1)}, "a key of type int"),
        ({"a": 1.0}, "a float, not a tensor"),
        ({"a": {"b": torch.zeros(1)}}, "its entry 'a' is a dict, not a tensor"),
        ({"a": torch.zeros(1, dtype=torch.int64)}, "not a dense float tensor"),
        ({"a": torch.zeros(1, dtype=torch.complex64)}, "not a dense float tensor"),
        ({"a": torch.zeros(2, 2).to_sparse()}, "not a dense float tensor"),
        ({"a": torch.zeros(2, device="meta")}, "not a dense float tensor"),
        ({"a": torch.zeros(1).expand(10**12)}, "claim 4000000000000 bytes, the file has 100"),
    ],
)
def test_anything_but_dense_floats_is_refused(loaded, reason):
    with pytest.raises(ValueError, match=reason):
        confined_pickle_child.checked(loaded, file_size=100)


def run_in_child(code: str, folder: Path) -> str:
    """Runs code beside the child's functions, in a process of its own."""
    source = f"import sys; sys.path.insert(0, {str(Path(confined_pickle_child.__file__).parent)!r})\n"
    source += f"import os, socket\nimport child\n{code}"
    result = subprocess.run([sys.executable, "-I", "-c", source], capture_output=True, text=True, cwd=folder)
    return result.stdout + result.stderr


@pytest.mark.parametrize(
    "action",
    [
        "os.system('touch canary')",
        "os.fork()",
        "os.execv('/usr/bin/touch', ['touch', 'canary'])",
        "open('canary', 'w')",
        "os.open('canary', os.O_CREAT)",
        "os.mkdir('canary')",
        "import subprocess; subprocess.run(['touch', 'canary'])",
        "socket.socket().connect(('127.0.0.1', 9))",
    ],
)
def test_code_that_passed_torch_could_still_do_nothing(action, tmp_path):
    text = run_in_child(f"child.forbid_actions(); {action}; print('do' + 'ne')", tmp_path)  # tracebacks quote it
    assert "tried a forbidden action" in text and "done" not in text
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits on memory need Linux")
def test_memory_beyond_the_files_size_is_refused(tmp_path):
    enough, too_much = (f"child.limit_resources(1000); bytearray({size} << 20); print('done')" for size in (100, 400))
    assert "done" in run_in_child(enough, tmp_path)
    assert "MemoryError" in run_in_child(too_much, tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="network namespaces need Linux")
def test_child_is_in_an_empty_network_where_the_system_allows(tmp_path):
    before = run_in_child("print(os.readlink('/proc/self/ns/net'))", tmp_path)
    after = run_in_child("child.leave_network(); print(os.readlink('/proc/self/ns/net'))", tmp_path)
    if before == after:
        pytest.skip("this system does not allow network namespaces")
    assert run_in_child("child.leave_network(); print(socket.if_nameindex())", tmp_path) == "[(1, 'lo')]\n"


def test_secrets_of_the_environment_stay_out_of_the_child(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "secret")
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    environment = confined_pickle._environment(tmp_path)
    assert "secret" not in environment.values() and "PYTHONPATH" not in environment
    assert environment["HOME"] == str(tmp_path)


def zip_file(folder: Path) -> Path:
    path = folder / "weights.pkl"
    torch.save({"matrix": torch.tensor(MATRIX)}, path)
    return path


def test_a_flipped_bit_in_an_archive_is_noticed_by_its_checksum(tmp_path):
    path = zip_file(tmp_path)
    content = bytearray(path.read_bytes())
    content[content.index(np.array(MATRIX, dtype=np.float32).tobytes())] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(WeightFileError, match="refused: BadZipFile: Bad CRC-32"):
        read_state_dict(path)


def test_child_that_takes_too_long_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(confined_pickle, "_SECONDS", 0.05)
    with pytest.raises(WeightFileError, match="was not read within 0 seconds"):
        read_state_dict(zip_file(tmp_path))


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os; os.kill(os.getpid(), 11)", "ended by signal 11"),
        ("raise ImportError('no torch here')", "failed .ImportError: no torch here."),
        ("", "failed .no message."),
    ],
)
def test_child_that_dies_is_an_error_with_the_reason(tmp_path, monkeypatch, code, reason):
    child = tmp_path / "child.py"
    child.write_text(code)
    monkeypatch.setattr(confined_pickle, "_CHILD", child)
    with pytest.raises(WeightFileError, match=reason):
        read_state_dict(zip_file(tmp_path))
