"""Sums: what was changed in a folder since they were written is named."""

import os
from pathlib import Path

import pytest

from elmo.disk.sums import SUMS_FILE, what_changed, write_sums


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    for name in ("a/b", "c"):
        (tmp_path / name).write_bytes(name.encode() * 100)
    write_sums(tmp_path, ["a/b", "c"])
    return tmp_path


def test_files_as_they_were_are_right_and_others_are_not_looked_at(folder):
    (folder / "d").write_text("new")
    assert what_changed(folder) is None


def test_a_folder_without_sums_says_nothing_unless_it_needs_them(folder):
    (folder / SUMS_FILE).unlink()
    (folder / "c").unlink()
    assert what_changed(folder) is None
    assert what_changed(folder, needs_sums=True) == "sha256.json is missing"


@pytest.mark.parametrize("name", ["a/b", "c"])
def test_a_change_is_named(folder, name):
    path = folder / name
    content = path.read_bytes()
    for changed in (b"", content[:-1], content + b"x", b"x" + content[1:]):
        path.write_bytes(changed)
        assert what_changed(folder) == f"{name} was changed (its checksum is another)"
    path.unlink()
    assert what_changed(folder) == f"'{name}' can't be read: No such file or directory"
    os.mkfifo(path)
    assert what_changed(folder) == f"'{name}' can't be read: it is a FIFO (named pipe), not a file"


@pytest.mark.parametrize("content", ["", "[]", "{}", "5", "[" * 5000, '{"c": 5}', '{"\\u0000": "x"}', "\xff"])
def test_sums_that_make_no_sense_are_a_change(folder, content):
    (folder / SUMS_FILE).write_bytes(content.encode("latin-1"))
    assert what_changed(folder)
