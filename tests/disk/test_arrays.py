"""NumPy's files: what NumPy writes is read as it was, and nothing else ends in anything but an ArraysError."""

import io
import os
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

import elmo
from elmo.disk.arrays import ArraysError, mapped, read_npz

SHAPES = [(), (0,), (3,), (2, 3), (2, 0), (2, 3, 4)]


def array(shape: tuple[int, ...], dtype: str, order: str = "C") -> np.ndarray:
    return np.asarray(np.arange(np.prod(shape)).reshape(shape).astype(dtype), order=order)


@pytest.mark.parametrize("dtype", ["<f4", "<f2", ">f8", "<i8", "|u1", "|b1", "<c16"])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_numpy_writes_is_read_as_it_was(tmp_path, shape, dtype):
    for order in "CF":
        written = array(shape, dtype, order)
        np.save(tmp_path / "a.npy", written)
        for save in (np.savez, np.savez_compressed):
            content = io.BytesIO()
            save(content, a=written)
            for found in (mapped(tmp_path / "a.npy"), read_npz(content)["a"]):
                assert found.dtype == written.dtype
                assert found.shape == written.shape
                np.testing.assert_array_equal(found, written)
    mapped(tmp_path / "a.npy", dtype, tuple(None for _ in shape))


def test_another_type_or_shape_is_told(tmp_path):
    np.save(tmp_path / "a.npy", array((2, 3), "<f4"))
    for dtype, shape in (("<f8", (2, 3)), ("<f4", (3, 3)), ("<f4", (2,)), (None, (None, 4)), ("<i4", None)):
        with pytest.raises(ArraysError, match=r"holds float32 of shape \(2, 3\), not "):
            mapped(tmp_path / "a.npy", dtype, shape)


def test_every_damage_to_an_npy_is_an_error_or_another_number(tmp_path):
    """Every byte of the header, with other bits; every length. NumPy raises many kinds of errors."""
    path = tmp_path / "a.npy"
    np.save(path, array((2, 3), "<f4"))
    content, refused = path.read_bytes(), 0
    mutants = [content[:end] for end in range(len(content))] + [content + b"x"]
    for place in range(len(content)):
        for bits in (0x01, 0x04, 0x10, 0x80, 0xFF):
            mutants.append(content[:place] + bytes([content[place] ^ bits]) + content[place + 1 :])
    mutants += [content.replace(b"(2, 3)", shape) for shape in (b"(2, (3", b"(2,3,,", b"(-2,3)", b"(2e3,)", b"(9**9)")]
    mutants += [content.replace(b"<f4", kind) for kind in (b"|O8", b"<U4", b"<f3", b"<M8")]
    for mutant in mutants:
        path.write_bytes(mutant)
        try:
            mapped(path)
        except ArraysError:
            refused += 1
    assert refused > 2 * 128 + len(content)


def test_every_damage_to_an_npz_is_an_error_or_changes_nothing():
    for save in (np.savez, np.savez_compressed):
        file = io.BytesIO()
        save(file, a=array((2, 3), "<f4"), b=array((4,), "|u1"))
        content, refused = file.getvalue(), 0
        for place in range(len(content)):
            for mutant in (
                content[:place],
                content[:place] + bytes([content[place] ^ 0x04]) + content[place + 1 :],
                content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :],
            ):
                try:
                    read_npz(io.BytesIO(mutant))
                except ArraysError:
                    refused += 1
        assert refused > 2 * len(content)


@pytest.mark.parametrize("names", [["a.npy", "b.txt"], ["b.npy"], ["a.npy", "b.npy"], []])
def test_other_arrays_than_expected_are_told(names):
    npy, file = io.BytesIO(), io.BytesIO()
    np.save(npy, array((3,), "<f4"))
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, npy.getvalue())
    with pytest.raises(ArraysError, match="read as an .npz file|does not hold the arrays a"):
        read_npz(file, {"a": (3,)})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "No such file"),
        (Path.mkdir, "it is a folder|Is a directory"),
        (os.mkfifo, "it is a FIFO"),
        (lambda path: path.write_bytes(b""), "can't be read"),
        (lambda path: path.write_bytes(b"\x93NUMPY\x01\x00\xff"), "can't be read"),
    ],
)
def test_what_is_no_file_of_arrays_is_told(tmp_path, make, message):
    make(tmp_path / "a.npy")
    with pytest.raises(ArraysError, match=message):
        mapped(tmp_path / "a.npy")


def test_nobody_reads_numpys_files_in_another_way():
    root = Path(elmo.__file__).parent
    found = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if re.search(r"np\.load\(|read_array|numpy\.load|NpzFile", path.read_text(encoding="utf-8"))
    }
    assert found <= {"disk/arrays.py"}
