"""What bears the name of an output and may not be replaced."""

import os
import socket
from pathlib import Path

import pytest

from elmo.disk.atomic import new_file
from elmo.disk.output import require_file_or_nothing, require_free
from elmo.errors import OutputError

OTHERS = {
    "FIFO": os.mkfifo,
    "socket": lambda path: _socket(path),
    "folder": lambda path: path.mkdir(),
    "character device": lambda path: path.symlink_to(os.devnull),
}


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))  # an absolute path may be too long for one


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs and sockets with names")
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_not_a_regular_file_is_never_replaced(tmp_path, monkeypatch, kind, force):
    monkeypatch.chdir(tmp_path)
    output = tmp_path / "output"
    OTHERS[kind](output)
    before = output.lstat()
    for refused in (require_free, lambda path, force: new_file(path, size=0, force=force).__enter__()):
        with pytest.raises(OutputError, match=f"output: is a {kind}"):
            refused(output, force=force)
    assert os.path.samestat(output.lstat(), before)
    assert list(tmp_path.iterdir()) == [output]


def test_what_takes_the_place_while_a_file_is_written_is_not_replaced(tmp_path):
    output = tmp_path / "output"
    with pytest.raises(OutputError, match="is a FIFO"), new_file(output, size=0, force=True) as unfinished:
        unfinished.write_text("new")
        os.mkfifo(output)
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.skipif(not Path("/dev/stdout").is_symlink(), reason="needs /dev/stdout")
def test_links_of_the_system_are_never_replaced():
    with pytest.raises(OutputError, match="/dev/stdout: is a link of the system"):
        require_file_or_nothing(Path("/dev/stdout"))


def test_a_file_is_replaced_by_force_and_a_link_is_written_through(tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    for name, target in (("link", "file"), ("dangling", "nowhere"), ("loop", "loop"), ("file", "file")):
        if name != "dangling":
            with pytest.raises(OutputError, match="exists already"):
                require_free(tmp_path / name, force=False)
        with new_file(tmp_path / name, size=0, force=True) as unfinished:
            unfinished.write_text(f"through {name}")
        assert (tmp_path / target).read_text() == f"through {name}"
        assert (tmp_path / name).is_symlink() == (name in ("link", "dangling"))
