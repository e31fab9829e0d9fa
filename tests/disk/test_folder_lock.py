import os
import subprocess
import sys

import pytest

from elmo.disk import folder_lock
from elmo.disk.folder_lock import locked
from elmo.errors import OutputError

pytestmark = pytest.mark.skipif(folder_lock.fcntl is None, reason="needs file locks")


@pytest.fixture(autouse=True)
def no_patience(monkeypatch):
    monkeypatch.setattr(folder_lock, "SECONDS", 0.0)


def refuses(folder):
    message = r"another 'elmo pretrain' is at work there\. Wait until it has ended"
    with pytest.raises(OutputError, match=message), locked(folder, "'elmo pretrain'"):
        pass


def test_a_held_folder_is_refused_until_it_is_free(tmp_path):
    with locked(tmp_path, "'elmo pretrain'"):
        refuses(tmp_path)
    with locked(tmp_path, "'elmo pretrain'"):
        assert list(tmp_path.iterdir()) == []


def test_an_error_in_the_block_frees_the_folder(tmp_path):
    with pytest.raises(ZeroDivisionError), locked(tmp_path, "run"):
        raise ZeroDivisionError
    with locked(tmp_path, "run"):
        pass


def test_a_killed_holder_frees_the_folder(tmp_path, monkeypatch):
    code = (
        "import sys, time; from pathlib import Path; from elmo.disk.folder_lock import locked\n"
        "with locked(Path(sys.argv[1]), 'run'): print('held', flush=True); time.sleep(60)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", code, tmp_path], env=environment, stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(OutputError), locked(tmp_path, "run"):
            pass
        holder.kill()
    monkeypatch.setattr(folder_lock, "SECONDS", 5.0)
    with locked(tmp_path, "run"):
        pass


def test_who_gets_the_descriptor_holds_the_folder_too(tmp_path):
    with locked(tmp_path, "run") as descriptor:
        other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[descriptor])
    with pytest.raises(OutputError), locked(tmp_path, "run"):
        pass
    other.communicate(b"\n")
    with locked(tmp_path, "run"):
        pass


def test_a_file_system_without_locks_is_no_obstacle(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError("no locks here")

    monkeypatch.setattr(folder_lock.fcntl, "flock", refuse)
    with locked(tmp_path, "run"):
        pass
