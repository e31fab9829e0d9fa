"""What a killed run left, changed in any way, gives the right file or an error. `benchmarks/faults/` has many more."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from elmo.embed.corpus.embed_corpus import embed_corpus
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError, Interrupted, OutputError

pytestmark = pytest.mark.slow

SUFFIXES = (".hdf5", ".npy", ".parquet")


class Left:
    """A run that ended after 8 of 27 lines."""

    def __init__(self, embedder: Embedder, text: Path, folder: Path, suffix: str) -> None:
        self.embedder, self.text = embedder, text
        self.whole, self.output = folder / f"whole{suffix}", folder / f"vectors{suffix}"
        embed_corpus(embedder, text, self.whole, window=4)
        self.embedder.reset()
        calls = iter(range(99))
        with pytest.raises(Interrupted):
            embed_corpus(embedder, text, self.output, window=4, stop_asked=lambda: next(calls) > 2)
        self.folder = folder / f"vectors{suffix}.partial"
        self.copy = folder / "copy"
        shutil.copytree(self.folder, self.copy)

    def restore(self) -> None:
        for path in self.output.parent.glob(f"{self.output.name}*"):
            if not path.is_dir():
                path.unlink()
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.copy, self.folder)

    def resume(self, **settings: bool) -> dict[str, Any]:
        return embed_corpus(self.embedder, self.text, self.output, window=4, resume=True, **settings)

    def is_right(self) -> bool:
        return self.output.read_bytes() == self.whole.read_bytes()


@pytest.fixture(params=SUFFIXES)
def left(tiny_checkpoint, text, tmp_path, request) -> Left:
    return Left(Embedder(tiny_checkpoint, state="carry"), text, tmp_path, request.param)


def changed(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(content)


def test_whatever_happens_to_a_file_the_result_is_right_or_refused(left):
    refused = 0
    files = sorted(path.relative_to(left.folder) for path in left.folder.rglob("*") if path.is_file())
    assert {"manifest.json", "progress.json", "windows.jsonl", "state-8.npz"} <= {str(file) for file in files}
    for file in files:
        path, size = left.folder / file, (left.folder / file).stat().st_size
        for change in (
            lambda: os.truncate(path, 0),  # noqa: B023 - called in this turn
            lambda: os.truncate(path, size - 1),  # noqa: B023
            lambda: changed(path, size // 2),  # noqa: B023
            path.unlink,
            lambda: (path.unlink(), path.mkdir()),  # noqa: B023
        ):
            change()
            try:
                left.resume()
            except OutputError as error:
                refused += 1
                assert "can't be resumed" in str(error) and "--force" in str(error)
                assert not left.output.exists()
                left.resume(force=True)
            assert left.is_right(), file
            left.restore()
    assert refused > 2 * len(files)


@pytest.mark.parametrize("kind", ["symlink", "hard link"])
def test_nothing_is_read_or_written_through_a_link(left, tmp_path, kind):
    precious = tmp_path / "precious"
    for file in ("manifest.json", "progress.json", "windows.jsonl", "state-8.npz", "vectors", "positions.npy"):
        path = left.folder / file
        content = path.read_bytes() if path.exists() else b"?"
        precious.unlink(missing_ok=True)
        precious.write_bytes(content)
        path.unlink(missing_ok=True)
        path.symlink_to(precious) if kind == "symlink" else path.hardlink_to(precious)
        with pytest.raises(OutputError, match=f"{file} is a link"):
            left.resume()
        left.resume(force=True)
        assert precious.read_bytes() == content
        assert left.is_right()
        assert not left.output.is_symlink()
        left.restore()


def test_a_folder_that_is_a_link_is_refused_even_by_force(left, tmp_path):
    left.folder.rename(tmp_path / "elsewhere")
    left.folder.symlink_to(tmp_path / "elsewhere")
    for force in (False, True):
        with pytest.raises(OutputError, match="it is a link or a file"):
            left.resume(force=force)
    assert (tmp_path / "elsewhere" / "manifest.json").exists()


@pytest.mark.parametrize("odd", [-5, 1.5, "5", None, [], True, 27, 10**400])
def test_records_that_make_no_sense_are_refused(left, odd):
    path = left.folder / "progress.json"
    values = json.loads(path.read_text())
    for key in values:
        path.write_text(json.dumps({**values, key: odd}))
        with pytest.raises(OutputError, match="can't be resumed"):
            left.resume()
    for content in (b"", b"[]", b"\xff", b"[" * 9999, b"5"):
        path.write_bytes(content)
        with pytest.raises(OutputError, match="can't be resumed: progress.json"):
            left.resume()


def test_records_that_agree_with_each_other_but_not_with_the_text_are_refused(left):
    """Whoever claims that all is done must have checksums for it."""
    path = left.folder / "progress.json"
    values = json.loads(path.read_text())
    values |= {"lines": 27, "tokens": sum(len(line.split()) for line in left.text.read_text().splitlines())}
    path.write_text(json.dumps(values))
    with pytest.raises(OutputError, match="do not agree"):
        left.resume()


def test_another_kept_standard_input_is_another_text(tiny_checkpoint, text, tmp_path, monkeypatch):
    from types import SimpleNamespace

    output, calls = tmp_path / "vectors.npy", iter(range(99))
    with text.open("rb") as stream:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stream))
        with pytest.raises(Interrupted):
            embed_corpus(Embedder(tiny_checkpoint), "-", output, window=4, stop_asked=lambda: next(calls) > 2)
    kept = tmp_path / "vectors.npy.partial" / "input.txt"
    kept.write_bytes(kept.read_bytes().replace(b"cat", b"dog"))
    with pytest.raises(ConfigError, match="was begun with text_sha256"):
        embed_corpus(Embedder(tiny_checkpoint), "-", output, window=4, resume=True)
    kept.unlink()
    with pytest.raises(OutputError, match=r"input\.txt, the copy of the text, is missing"):
        embed_corpus(Embedder(tiny_checkpoint), "-", output, window=4, resume=True)


@pytest.mark.parametrize("moment", ["before", "complete", "without a manifest"])
def test_somebody_elses_file_stays_and_the_run_ends_well(left, moment, tmp_path):
    if moment != "before":
        left.resume()
        if moment == "complete":  # killed between the last two steps
            shutil.copytree(left.copy, left.folder)
        else:
            left.folder.mkdir()
    theirs = left.folder / "theirs.txt"
    theirs.write_text("precious")
    report = left.resume()
    assert left.is_right()
    assert report["left_behind"] == [str(theirs)]
    assert [entry.name for entry in left.folder.iterdir()] == ["theirs.txt"]
    assert theirs.read_text() == "precious"
    theirs.unlink()
    assert "left_behind" not in left.resume()
    assert not left.folder.exists()
