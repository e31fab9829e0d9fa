"""State dicts of torch: good ones come through, bad ones are refused, nothing in them runs."""

import os
import pickle
import sys
import tarfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from elmo.errors import MissingExtraError, WeightFileError
from elmo.weights.pickle import read_state_dict

MATRIX = np.arange(12, dtype=np.float32).reshape(3, 4)
formats = pytest.mark.parametrize("is_zip", [True, False], ids=["zip", "legacy"])


class Gadget:
    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self):
        return os.system, (f"touch {self.canary}",)


def saved(folder: Path, loaded: object, is_zip: bool = True) -> Path:
    path = folder / "weights.pkl"
    torch.save(loaded, path, _use_new_zipfile_serialization=is_zip)
    return path


def refused(path: Path) -> str:
    with pytest.raises(WeightFileError) as raised:
        read_state_dict(path)
    message = str(raised.value)
    assert message.startswith(f"{path}: ") and "Get the file again" in message and len(message) < 1000
    assert "weights_only" not in message and "safe_globals" not in message
    return message


@formats
def test_every_kind_of_float_tensor_is_read(tmp_path, is_zip):
    good = {
        "matrix": torch.nn.Parameter(torch.tensor(MATRIX)),
        "transposed": torch.tensor(MATRIX).t(),
        "part": torch.tensor(MATRIX)[1:, 1:3],
        "every third": torch.arange(10.0)[::3],
        "half": torch.ones(2, dtype=torch.float16),
        "double": torch.full((), 0.1, dtype=torch.float64),
        "large": torch.zeros(5_000_000),
        "none": torch.zeros(0, 3),
    }
    narrow = torch.randn(5, generator=torch.Generator().manual_seed(0)).bfloat16()
    found = read_state_dict(saved(tmp_path, good | {"narrow": narrow}, is_zip))
    widened = found.pop("narrow")
    assert widened.dtype == np.float32 and np.array_equal(widened, narrow.float().numpy())
    assert found.keys() == good.keys()
    for name, tensor in good.items():
        expected = tensor.detach().numpy()
        assert found[name].dtype == expected.dtype and found[name].flags.c_contiguous and found[name].flags.writeable
        assert np.array_equal(found[name], expected), name


@formats
def test_what_a_module_saves_is_read(tmp_path, is_zip):
    state = torch.nn.LSTM(3, 4, 2, bidirectional=True).state_dict()
    assert hasattr(state, "_metadata")
    found = read_state_dict(saved(tmp_path, state, is_zip))
    assert found.keys() == state.keys()
    assert all(np.array_equal(found[name], tensor) for name, tensor in state.items())


@formats
@pytest.mark.parametrize(
    ("loaded", "reason"),
    [
        ([torch.zeros(1)], "it holds a list"),
        (torch.zeros(1), "it holds a tensor, not a dict"),
        ({1: torch.zeros(1)}, "its entry 1 (torch.float32) is not a dense float tensor with a name"),
        ({"a": 1.0}, "its entry 'a' (float) is not a dense float tensor"),
        ({"a": {"b": torch.zeros(1)}}, "its entry 'a' (dict) is not a dense float tensor"),
        ({"a": torch.zeros(1, dtype=torch.int64)}, "not a dense float tensor"),
        ({"a": torch.zeros(1, dtype=torch.complex64)}, "not a dense float tensor"),
        ({"a": torch.zeros(2, 2).to_sparse()}, "not a dense float tensor"),
        ({"a": torch.zeros(2, device="meta")}, "not a dense float tensor"),
        ({"a": torch.zeros(1).expand(10**12)}, "claims more bytes than the file has"),
        (torch.nn.Linear(2, 2), "torch.nn.modules.linear.Linear"),
    ],
)
def test_anything_but_dense_floats_is_refused(tmp_path, loaded, reason, is_zip):
    assert reason in refused(saved(tmp_path, loaded, is_zip))


@formats
def test_a_call_is_named_and_never_made(tmp_path, is_zip):
    assert "posix.system" in refused(saved(tmp_path, {"matrix": Gadget(tmp_path / "canary")}, is_zip))
    assert not (tmp_path / "canary").exists()


def test_what_is_no_state_dict_is_refused(tmp_path):
    canary = tmp_path / "canary"
    contents = {"plain": pickle.dumps(Gadget(canary)), "empty": b"", "text": b"hello", "half": b"\x80\x02\x8a\x0a"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    with tarfile.open(tmp_path / "tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("storages"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.jit is deprecated, its files are not gone
        torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), tmp_path / "torchscript")
    for name in (*contents, "tar", "torchscript"):
        refused(tmp_path / name)
    with pytest.raises(WeightFileError, match="there is no such file"):
        read_state_dict(tmp_path / "absent")
    assert not canary.exists()


@pytest.mark.parametrize(
    "program",
    [
        b"cos\nsystem\n(S'touch canary'\ntR.",
        b"\x80\x02cos\nsystem\nX\x0c\x00\x00\x00touch canary\x85R.",
        b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x0ctouch canary\x85R.",
        b"(S'touch canary'\nios\nsystem\n.",
        b"\x80\x02csubprocess\nPopen\nX\x05\x00\x00\x00touch\x85\x81.",
        b"\x80\x02ctorch._utils\n_rebuild_parameter\n(cos\nsystem\ntR.",
        b"\x80\x02X\xff\xff\xff\x7fabc.",  # a text of two gigabytes
        b"\x80\x02}a.",
        b"",
        b"\xff",
    ],
)
def test_no_program_runs(tmp_path, monkeypatch, program):
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("hostile", "w") as archive:
        archive.writestr("archive/data.pkl", program)
        archive.writestr("archive/version", "3\n")
    refused(tmp_path / "hostile")
    assert [path.name for path in tmp_path.iterdir()] == ["hostile"]


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9, 0.99])
@formats
def test_a_file_that_is_cut_off_is_refused(tmp_path, is_zip, kept):
    path = saved(tmp_path, {"a": torch.tensor(MATRIX)}, is_zip)
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])
    refused(path)


def test_a_flipped_bit_in_an_archive_is_noticed_by_its_checksum(tmp_path):
    path = saved(tmp_path, {"matrix": torch.tensor(MATRIX)})
    content = bytearray(path.read_bytes())
    content[content.index(MATRIX.tobytes())] ^= 1
    path.write_bytes(bytes(content))
    assert "has another checksum than it had" in refused(path)


@formats
def test_damaged_files_are_refused_or_read(tmp_path, is_zip):
    """Whatever a damaged byte makes of a file, it is read or refused with its name."""
    path = saved(tmp_path, {"a": torch.tensor(MATRIX), "b": torch.ones(3)}, is_zip)
    content = path.read_bytes()
    chance = np.random.default_rng(0)
    for _ in range(500):
        damaged = bytearray(content)
        damaged[chance.integers(len(content))] = chance.integers(256)
        path.write_bytes(bytes(damaged))
        try:
            read_state_dict(path)
        except WeightFileError as error:
            assert str(error).startswith(f"{path}: ")


def test_without_torch_its_extra_and_the_conversion_are_named(tmp_path, monkeypatch):
    path = saved(tmp_path, {"a": torch.tensor(MATRIX)})
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"weights\.pkl.*elmo convert.*pyelmo\[torch\]"):
        read_state_dict(path)
