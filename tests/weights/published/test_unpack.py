"""Archives that are damaged or hostile: refused, and nothing is written outside of the folder."""

import io
import stat
import zipfile
from pathlib import Path

import pytest

from elmo.errors import WeightFileError
from elmo.weights.published.archive import MAX_ENTRIES, unpack, unpacked_size


def made(path: Path, files: dict[str, bytes], *, mode: int = 0) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = mode << 16
            archive.writestr(entry, content)
    return path


def opened(archive: Path, folder: Path) -> dict[str, bytes]:
    folder.mkdir()
    unpacked_size(archive)
    unpack(archive, folder)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a", "b"], ["a", "b"]),
        (["x/a", "x/y/b"], ["a", "y/b"]),
        (["x/a", "y/b"], ["x/a", "y/b"]),
        (["x/x", "x/y/x"], ["x", "y/x"]),
        (["x/a", "__MACOSX/x/._a"], ["a"]),
        (["x/a", "x"], None),
    ],
)
def test_files_keep_their_folders_but_for_one_around_all(tmp_path, names, expected):
    archive = made(tmp_path / "a.zip", {name: name.encode() for name in names})
    assert unpacked_size(archive) == sum(map(len, names))
    if expected is None:
        with pytest.raises((WeightFileError, OSError)):
            opened(archive, tmp_path / "out")
    else:
        assert sorted(opened(archive, tmp_path / "out")) == expected


@pytest.mark.parametrize("name", ["../out", "a/../../out", "/etc/out", "..\\out", "C:out"])
def test_no_name_leads_out_of_the_folder(tmp_path, name):
    found = opened(made(tmp_path / "a.zip", {"fine": b"1", name: b"2"}), tmp_path / "inside")
    assert sorted(found.values()) == [b"1", b"2"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip", "inside"]


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_become_plain_files(tmp_path, kind):
    opened(made(tmp_path / "a.zip", {"a": b"/etc/passwd"}, mode=kind | 0o777), tmp_path / "out")
    assert stat.S_ISREG((tmp_path / "out" / "a").lstat().st_mode)


def test_bombs_are_refused_before_they_are_unpacked(tmp_path):
    many = made(tmp_path / "many.zip", {str(number): b"" for number in range(MAX_ENTRIES + 1)})
    with pytest.raises(WeightFileError, match="has 65 files of 0 bytes, a model's archive of its size at most 64 of"):
        opened(many, tmp_path / "two")
    large = made(tmp_path / "large.zip", {str(number): bytes(1 << 20) for number in range(11)})
    with pytest.raises(WeightFileError, match=r"has 11 files of 11,534,336 bytes, a model's archive of its size at"):
        opened(large, tmp_path / "three")


def test_a_file_larger_than_the_archive_states_is_refused(tmp_path):
    archive = made(tmp_path / "a.zip", {"a": b"x" * 5000})
    content = bytearray(archive.read_bytes())
    for signature, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        place = content.index(signature) + offset
        content[place : place + 4] = (100).to_bytes(4, "little")
    archive.write_bytes(content)
    with pytest.raises(WeightFileError):
        opened(archive, tmp_path / "out")


def test_every_damaged_byte_is_noticed_or_harmless(tmp_path):
    """The archive's checksums cover the contents; what else is flipped must not escape as another error."""
    content = {"options.json": b'{"a": 1}' * 20, "weights.hdf5": bytes(range(256)) * 4}
    good = made(tmp_path / "good.zip", content).read_bytes()
    for place in range(0, len(good), 7):
        damaged = bytearray(good)
        damaged[place] ^= 0x10
        path = tmp_path / f"{place}.zip"
        path.write_bytes(damaged)
        try:
            found = opened(path, tmp_path / f"out{place}")
        except WeightFileError:
            continue
        assert sorted(found.values()) == sorted(content.values()), place


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no zip at all" * 100])
def test_what_is_no_archive_says_so(tmp_path, content):
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(WeightFileError, match=r"a\.zip: is not a valid zip archive"):
        unpacked_size(tmp_path / "a.zip")


def test_an_encrypted_file_is_refused(tmp_path):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("a", b"secret")
    content = bytearray(target.getvalue())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(WeightFileError, match="is encrypted"):
        opened(tmp_path / "a.zip", tmp_path / "out")
