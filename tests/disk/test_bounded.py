"""Files read whole: regular ones only, and never more than a limit."""

import os

import pytest

from elmo.disk.bounded import is_file, open_regular, read_bytes, shown


def test_a_file_within_the_limit_is_read_whole(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    assert read_bytes(tmp_path / "file", limit=5) == read_bytes(tmp_path / "link", limit=5) == b"12345"


def test_more_is_refused_until_the_limits_are_lifted(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"123456")
    with pytest.raises(OSError, match=r"has more than 5 bytes, the limit for such a file \(set ELMO_NO_LIMITS=1"):
        read_bytes(tmp_path / "file", limit=5)
    monkeypatch.setenv("ELMO_NO_LIMITS", "1")
    assert read_bytes(tmp_path / "file", limit=5) == b"123456"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: path.symlink_to("/dev/zero"), "it is a character device, not a file"),
        (os.mkfifo, r"it is a FIFO \(named pipe\), not a file"),
        (lambda path: path.mkdir(), "it is a folder, not a file|Is a directory"),
        (lambda path: path.symlink_to("nowhere"), "No such file"),
        (lambda path: path.symlink_to(path.name), "symbolic link"),
    ],
    ids=["device", "FIFO", "folder", "dangling link", "link to itself"],
)
def test_what_is_no_regular_file_is_refused_at_once(tmp_path, make, reason):
    make(tmp_path / "file")
    with pytest.raises(OSError, match=reason):
        read_bytes(tmp_path / "file", limit=5)
    with pytest.raises(OSError, match=reason):
        open_regular(tmp_path / "file")


def test_a_file_of_the_kernel_without_a_size_is_bounded_too():
    with pytest.raises(OSError, match="has more than 10 bytes"):
        read_bytes(__import__("pathlib").Path("/proc/self/maps"), limit=10)


def test_a_name_too_long_is_no_file(tmp_path):
    assert not is_file(tmp_path / ("x" * 300))


def test_a_value_in_a_message_is_short():
    assert shown("abc") == "'abc'"
    assert len(shown("x" * 10**6)) == 60
