"""Finished trainings in small files: packed once, unpacked where they are missing, and equal to what was trained."""

import io
import json
import lzma
import shutil
import tarfile
from pathlib import Path

import pytest

from elmo_paper.cli.main import main
from elmo_paper.queue import finished

SYSTEM = "mix-both-lambda-0.001-29368840"


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    """A queue with one finished training, one under way and the caches of both."""
    system = tmp_path / "queue" / "snli" / "runs" / SYSTEM
    done, under_way = system / "seed-1", system / "seed-2"
    for folder in (done / "model", under_way):
        folder.mkdir(parents=True)
    (system / "run.json").write_text('{"task": "snli"}')
    (done / "metrics.jsonl").write_text('{"epoch": 1, "dev": {"accuracy": 50.0}}\n')
    (done / "test.examples.json").write_text('{"kind": "correct", "examples": [1, 0]}')
    (done / "scores.json").write_text('{"epochs": 1}')
    (done / "model" / "model.safetensors").write_bytes(b"large")
    (under_way / "metrics.jsonl").write_text('{"epoch": 1}\n')
    return tmp_path / "queue"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def packed(files: dict[str, bytes], kind: bytes = tarfile.REGTYPE) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.type = len(content) * (kind == tarfile.REGTYPE), kind
            archive.addfile(member, io.BytesIO(content))
    return lzma.compress(buffer.getvalue())


def test_what_is_kept_and_taken_is_the_training_without_its_model(queue, tmp_path):
    assert main(["finished", "keep", str(queue), str(tmp_path / "kept")]) == 0
    assert list(contents(tmp_path / "kept")) == [f"snli/{SYSTEM}.seed-1.tar.xz"]
    assert main(["finished", "take", str(tmp_path / "new"), str(tmp_path / "kept")]) == 0
    whole = contents(queue)
    wanted = ["run.json", "seed-1/metrics.jsonl", "seed-1/scores.json", "seed-1/test.examples.json"]
    names = [f"snli/runs/{SYSTEM}/{name}" for name in wanted]
    assert contents(tmp_path / "new") == {name: whole[name] for name in names}


def test_kept_again_it_is_the_same_file_and_nothing_is_written_twice(queue, tmp_path):
    (first,) = finished.keep(queue, tmp_path / "kept")
    (second,) = finished.keep(queue, tmp_path / "again")
    assert first.read_bytes() == second.read_bytes()
    assert list(finished.keep(queue, tmp_path / "kept")) == []


def test_what_a_queue_has_of_a_training_is_left_as_it_is(queue, tmp_path):
    list(finished.keep(queue, tmp_path / "kept"))
    new = tmp_path / "new" / "snli" / "runs" / SYSTEM / "seed-1"
    new.mkdir(parents=True)
    (new / "metrics.jsonl").write_text('{"epoch": 3}\n')
    assert list(finished.take(tmp_path / "new", tmp_path / "kept")) == []
    assert contents(new) == {"metrics.jsonl": b'{"epoch": 3}\n'}


def test_a_training_is_taken_whole_or_not_at_all(queue, tmp_path, monkeypatch):
    list(finished.keep(queue, tmp_path / "kept"))

    def stopped(path: Path, content: bytes) -> int:
        if path.name == "scores.json":
            raise KeyboardInterrupt
        return write_bytes(path, content)

    write_bytes = Path.write_bytes
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Path, "write_bytes", stopped)
        list(finished.take(tmp_path / "new", tmp_path / "kept"))
    assert len(list(finished.take(tmp_path / "new", tmp_path / "kept"))) == 1


def begun_with(queue: Path, bilm: str) -> None:
    (queue / "snli" / "runs" / SYSTEM / "run.json").write_text(json.dumps({"task": "snli", "bilm": bilm}))


def test_trainings_of_two_editions_of_a_model_come_into_no_folder_together(queue, tmp_path, capsys):
    begun_with(queue, "of the second edition")
    assert main(["finished", "keep", str(queue), str(tmp_path / "kept")]) == 0
    shutil.copytree(queue, tmp_path / "new")
    shutil.rmtree(tmp_path / "new" / "snli" / "runs" / SYSTEM / "seed-1")
    begun_with(tmp_path / "new", "of the fourth edition")
    before = contents(tmp_path / "new")
    capsys.readouterr()
    assert main(["finished", "take", str(tmp_path / "new"), str(tmp_path / "kept")]) == 2
    told = capsys.readouterr().err
    assert 'its training was begun with the bilm "of the second edition"' in told
    assert 'run.json says "of the fourth edition": one table would hold both' in told
    assert contents(tmp_path / "new") == before

    begun_with(queue, "of the fourth edition")
    assert main(["finished", "keep", str(queue), str(tmp_path / "kept")]) == 2
    assert f"{SYSTEM}.seed-1.tar.xz: its training was begun with" in capsys.readouterr().err


def test_sections_can_be_chosen(queue, tmp_path, capsys):
    shutil.copytree(queue / "snli", queue / "srl")
    assert [path.parent.name for path in finished.keep(queue, tmp_path / "kept", ["srl"])] == ["srl"]
    assert main(["finished", "take", str(tmp_path / "new"), str(tmp_path / "kept"), "--tasks", "snli"]) == 2
    assert "there is no SECTION/SYSTEM.seed-N.tar.xz to take" in capsys.readouterr().err


def test_a_folder_without_finished_trainings_is_named(tmp_path, capsys):
    assert main(["finished", "keep", str(tmp_path / "nowhere"), str(tmp_path / "kept")]) == 2
    assert f"{tmp_path / 'nowhere'}: no training is finished there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no archive", "can't be unpacked (Input format not supported by decoder): it is damaged"),
        (lzma.compress(b"no tar"), "can't be unpacked"),
        (packed({"seed-1/scores.json": b"{}"})[:60], "can't be unpacked"),
        (packed({"../seed-1/scores.json": b"{}"}), "holds ../seed-1/scores.json, which isn't what"),
        (packed({"seed-1/scores.json": b"{}", "run.sh": b"rm"}), "holds run.sh, seed-1/scores.json, which isn't what"),
        (packed({"seed-1/scores.json": b""}, tarfile.SYMTYPE), "holds nothing, which isn't what"),
        (packed({"run.json": b"{}"}), "holds run.json, which isn't what"),
    ],
    ids=["noise", "no tar", "cut", "outside", "more", "link", "no scores"],
)
def test_nothing_is_taken_from_a_file_that_keep_did_not_write(tmp_path, capsys, content, message):
    archive = tmp_path / "kept" / "snli" / f"{SYSTEM}.seed-1.tar.xz"
    archive.parent.mkdir(parents=True)
    archive.write_bytes(content)
    assert main(["finished", "take", str(tmp_path / "new"), str(tmp_path / "kept")]) == 2
    assert f"{archive}: {message}" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_a_table_of_taken_trainings_is_the_table_of_those_that_were_trained(place, capsys, one_thread):
    files = ["--data", str(place / "data"), "--static", str(place / "vectors.txt"), "--model", str(place / "model")]
    options = [*files, "--plan", str(place / "plan.toml"), "--tasks", "ner"]
    assert main(["tables", "table1", str(place / "out"), *options]) == 0
    assert len(list(finished.keep(place / "out", place / "kept"))) == 4
    assert len(list(finished.take(place / "new", place / "kept"))) == 4
    capsys.readouterr()
    assert main(["tables", "table1", str(place / "new"), *options, "--status"]) == 0
    assert "left: nothing" in capsys.readouterr().out
    assert main(["tables", "table1", str(place / "new"), *options]) == 0
    told = capsys.readouterr().err
    assert told.count("finished before") == 4 + 2
    assert "layers, once" not in told  # of the biLM, which nothing needs
    records = [json.loads((place / name / "ner" / "table1.json").read_text()) for name in ("out", "new")]
    assert all(one.pop("date") for one in records)  # in minutes: one may have begun between them
    assert records[0] == records[1]
