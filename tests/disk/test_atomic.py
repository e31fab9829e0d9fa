"""Folders and files that appear whole or not at all, whatever happens while they are written."""

import errno
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from elmo.disk.atomic import copied_folder, new_file, new_folder, recover
from elmo.errors import OutputError

FILES = frozenset(("a", "b", "sub"))
HIDDEN = ".model.0123456789ab"


def fill(folder: Path, content: str) -> None:
    with new_folder(folder, size=10, force=True, replaceable=FILES) as unfinished:
        (unfinished / "a").write_text(content)
        (unfinished / "sub").mkdir(exist_ok=True)
        (unfinished / "sub" / "deep").write_text(content)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_replaced_folder_is_the_new_one_and_nothing_is_left(tmp_path):
    for content in ("one", "two", "three"):
        fill(tmp_path / "model", content)
        assert (tmp_path / "model" / "a").read_text() == content
        assert (tmp_path / "model" / "sub" / "deep").read_text() == content
        assert names(tmp_path) == ["model"]


def test_an_error_while_writing_leaves_what_was_there(tmp_path):
    fill(tmp_path / "model", "one")
    with (
        pytest.raises(RuntimeError, match="halfway"),
        new_folder(tmp_path / "model", size=1, force=True, replaceable=FILES) as unfinished,
    ):
        (unfinished / "a").write_text("two")
        raise RuntimeError("halfway")
    assert (tmp_path / "model" / "a").read_text() == "one"
    assert names(tmp_path) == ["model"]


def test_a_folder_that_cant_get_its_name_leaves_what_was_there(tmp_path, monkeypatch):
    fill(tmp_path / "model", "one")
    rename = Path.rename

    def refuse(self, target):
        if self.suffix == ".unfinished":
            raise OSError(errno.EACCES, "Permission denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(OutputError, match="Permission denied"):
        fill(tmp_path / "model", "two")
    assert (tmp_path / "model" / "a").read_text() == "one"
    assert names(tmp_path) == ["model"]


KILLED = """
import os, sys
from pathlib import Path
from elmo.disk import atomic
renamed = []
def die(self, target):
    os.rename(self, target)
    renamed.append(target)
    if len(renamed) == int(sys.argv[2]):
        os._exit(9)
Path.rename = die
with atomic.new_folder(Path(sys.argv[1]), size=1, force=True, replaceable=frozenset("a")) as unfinished:
    (unfinished / "a").write_text("two")
"""


def test_a_process_killed_between_the_two_steps_loses_nothing(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "a").write_text("one")
    result = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "model"), "1"])
    assert result.returncode == 9 and not (tmp_path / "model").exists()
    assert recover(tmp_path / "model") and not recover(tmp_path / "model")
    assert (tmp_path / "model" / "a").read_text() == "one"
    age(tmp_path)
    fill(tmp_path / "model", "three")
    assert (tmp_path / "model" / "a").read_text() == "three"
    assert names(tmp_path) == ["model"]


def test_a_process_killed_after_the_second_step_has_replaced_it(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "a").write_text("one")
    assert subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "model"), "2"]).returncode == 9
    assert (tmp_path / "model" / "a").read_text() == "two"
    assert not recover(tmp_path / "model")
    age(tmp_path)
    fill(tmp_path / "model", "three")
    assert names(tmp_path) == ["model"]


def age(folder: Path, seconds: float = 10) -> None:
    """Makes everything in a folder older."""
    for path in folder.iterdir():
        os.utime(path, (time.time() - seconds,) * 2)


def test_leftovers_of_dead_processes_are_removed_by_the_next_writer(tmp_path):
    (tmp_path / f"{HIDDEN}.unfinished").mkdir()
    (tmp_path / f"{HIDDEN}.unfinished" / "a").write_text("half")
    (tmp_path / ".another.0123456789ab.unfinished").mkdir()
    (tmp_path / ".model.notours.unfinished").mkdir()
    age(tmp_path)
    fill(tmp_path / "model", "one")
    assert names(tmp_path) == [".another.0123456789ab.unfinished", ".model.notours.unfinished", "model"]


def test_what_another_process_is_at_work_on_is_left_alone(tmp_path):
    with new_folder(tmp_path / "model", size=1, force=True, replaceable=FILES) as first:
        (first / "a").write_text("first")
        age(tmp_path)
        fill(tmp_path / "model", "second")
        assert (first / "a").read_text() == "first"
    assert (tmp_path / "model" / "a").read_text() == "first"


def test_half_written_files_are_removed_unless_a_process_is_at_work_on_them(tmp_path):
    left = tmp_path / ".file.0123456789ab.unfinished"
    left.write_text("half")
    with new_file(tmp_path / "file", size=1, force=True) as first:
        first.write_text("first")
        age(tmp_path, 60)
        with new_file(tmp_path / "file", size=1, force=True) as second:
            second.write_text("second")
        assert not left.exists()
        assert first.exists()
    assert (tmp_path / "file").read_text() == "first"
    assert names(tmp_path) == ["file"]


def test_a_link_with_a_hidden_name_is_not_followed(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "a").write_text("precious")
    (tmp_path / f"{HIDDEN}.unfinished").symlink_to(tmp_path / "precious")
    fill(tmp_path / "model", "one")
    assert (tmp_path / "precious" / "a").read_text() == "precious"


def test_folders_that_can_not_be_flushed_are_no_obstacle(tmp_path, monkeypatch):
    def flush(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", flush)
    fill(tmp_path / "model", "new")
    with new_file(tmp_path / "x", size=1, force=False) as unfinished:
        unfinished.write_text("x")
    assert names(tmp_path) == ["model", "x"]


def test_a_copy_of_a_folder_that_may_not_be_written_may_be(tmp_path, monkeypatch):
    fill(tmp_path / "model", "content")
    (tmp_path / "model" / "sub").chmod(0o555)
    (tmp_path / "model" / "a").chmod(0o444)
    monkeypatch.setattr(shutil, "copystat", lambda *_, **__: pytest.fail("a drive may refuse permissions and times"))
    copied_folder(tmp_path / "model", tmp_path / "copy")
    assert (tmp_path / "copy" / "sub" / "deep").read_text() == "content"
    assert (tmp_path / "copy" / "sub").stat().st_mode & 0o200
    assert (tmp_path / "copy" / "a").stat().st_mode & 0o200


def test_a_drive_that_does_not_say_its_size_has_room(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=0, used=0, free=0))
    fill(tmp_path / "model", "new")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=9, used=9, free=0))
    with pytest.raises(OutputError, match="not enough disk"):
        fill(tmp_path / "other", "new")
