"""What a killed run left, changed in any way, gives the right file. `benchmarks/faults/` has many more changes."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from elmo.embed.corpus.embed_corpus import embed_corpus
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError, OutputError, TextError

pytestmark = pytest.mark.slow

SUFFIXES = (".hdf5", ".npy", ".parquet")
Interrupt = Callable[..., None]


class Left:
    """A run that ended after 8 of 27 lines."""

    def __init__(self, embedder: Embedder, text: Path, folder: Path, suffix: str, interrupt: Interrupt) -> None:
        self.embedder, self.text = embedder, text
        self.whole, self.output = folder / f"whole{suffix}", folder / f"vectors{suffix}"
        embed_corpus(embedder, text, self.whole, window=4)
        self.embedder.reset()
        interrupt(2, embedder, text, self.output, window=4)
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
def left(tiny_checkpoint, text, tmp_path, request, interrupt) -> Left:
    return Left(Embedder(tiny_checkpoint, state="carry"), text, tmp_path, request.param, interrupt)


def changed(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(content)


def ways_of_damage(path: Path) -> list[Callable[[], object]]:
    size = path.stat().st_size
    return [
        lambda: os.truncate(path, 0),
        lambda: os.truncate(path, size - 1),
        lambda: os.truncate(path, size + 1),
        lambda: changed(path, size // 2),
        path.unlink,
        lambda: (path.unlink(), os.mkfifo(path)),
    ]


def test_whatever_happens_to_a_file_the_result_is_right(left):
    files = sorted(path.name for path in left.folder.iterdir())
    assert files == ["manifest.json", "part-000000000000", "part-000000000004"]
    for file in files:
        for number in range(6):
            ways_of_damage(left.folder / file)[number]()
            kept = left.resume()["resumed_at_line"]
            assert left.is_right(), file
            # What was carried into the second window comes from the first. A manifest that is gone takes all with it.
            damaged = {files[0]: 8 if number != 4 else 0, files[1]: 0, files[2]: 4}
            assert kept == damaged[file], (file, number)
            left.restore()


def test_a_damaged_part_alone_is_made_anew_where_nothing_is_carried(tiny_checkpoint, text, tmp_path, interrupt):
    left = Left(Embedder(tiny_checkpoint), text, tmp_path, ".npy", interrupt)
    changed(left.folder / "part-000000000000", 100)
    assert left.resume()["resumed_at_line"] == 4
    assert left.is_right()


def test_parts_in_each_others_places_and_of_another_run_are_made_anew(left, tmp_path, interrupt):
    one, other = (left.folder / f"part-00000000000{row}" for row in (0, 4))
    one.rename(tmp_path / "between")
    other.rename(one)
    (tmp_path / "between").rename(other)
    assert left.resume()["resumed_at_line"] == 0
    assert left.is_right()
    left.restore()
    embedder = Embedder(left.embedder.bilm, state="carry", keep_boundaries=True)
    interrupt(2, embedder, left.text, tmp_path / "v.npy", window=4)
    shutil.copy(tmp_path / "v.npy.partial" / one.name, one)
    assert left.resume()["resumed_at_line"] == 0
    assert left.is_right()


def test_a_folder_that_is_a_link_is_refused_even_by_force(left, tmp_path):
    left.folder.rename(tmp_path / "elsewhere")
    left.folder.symlink_to(tmp_path / "elsewhere")
    for force in (False, True):
        with pytest.raises(OutputError, match="the folder for unfinished work"):
            left.resume(force=force)
    assert (tmp_path / "elsewhere" / "manifest.json").exists()


@pytest.mark.parametrize("content", [b"", b"[]", b"5", b"\xff", b"[" * 9999, b'{"settings": 5, "sha256": ""}', b"{}"])
def test_a_manifest_that_makes_no_sense_is_written_anew(left, content):
    (left.folder / "manifest.json").write_bytes(content)
    assert left.resume()["resumed_at_line"] == 8
    assert left.is_right()


def test_a_manifest_changed_by_hand_lets_no_other_part_in(left):
    path = left.folder / "manifest.json"
    values = json.loads(path.read_text())
    values["settings"]["layers"] = "top"
    path.write_text(json.dumps(values))  # its checksum is that of the settings before
    with pytest.raises(OutputError, match="an earlier run did not finish"):
        embed_corpus(left.embedder, left.text, left.output, window=4)
    assert left.resume()["resumed_at_line"] == 8
    assert left.is_right()


def test_another_kept_standard_input_is_another_text(tiny_checkpoint, text, tmp_path, monkeypatch, interrupt):
    output = tmp_path / "vectors.npy"
    with text.open("rb") as stream:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stream))
        interrupt(2, Embedder(tiny_checkpoint), "-", output, window=4)
    kept = tmp_path / "vectors.npy.partial" / "input.txt"
    kept.write_bytes(kept.read_bytes().replace(b"cat", b"dog"))
    with pytest.raises(ConfigError, match="was begun with text_sha256"):
        embed_corpus(Embedder(tiny_checkpoint), "-", output, window=4, resume=True)
    kept.unlink()
    with pytest.raises(TextError, match="stdin: there is no such file"):
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
    left.resume()
    assert left.is_right()
    assert [entry.name for entry in left.folder.iterdir()] == ["theirs.txt"]
    assert theirs.read_text() == "precious"
    theirs.unlink()
    left.resume()
    assert not left.folder.exists()
