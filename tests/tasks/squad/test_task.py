"""Question answering from files to predictions, as it is typed."""

import io
import json
import random
import shlex
import sys
from pathlib import Path

import pytest
from tests.tasks.test_pages import commands

from elmo.cli.main import main

CITIES = ["Rome", "Oslo", "Bern", "New York"]
WORDS = ["she", "sleeps", "often", "he", "was", "seen"]


def squad_json(count: int, seed: int) -> dict:
    """`count` paragraphs with a question each, in articles of four."""
    chance = random.Random(seed)
    paragraphs = []
    for number in range(count):
        city = chance.choice(CITIES)
        before = " ".join(chance.choices(WORDS, k=chance.randrange(5)))
        context = f"{before} lives in {city} {chance.choice(WORDS)} .".strip()
        answers = [{"text": city, "answer_start": context.index(city)}]
        answers += [{"text": f"in {city}", "answer_start": context.index(f"in {city}")}] if number % 3 == 0 else []
        qas = [{"id": f"{seed}-{number}", "question": "Where does she live?", "answers": answers}]
        paragraphs.append({"context": context, "qas": qas})
    data = [{"title": f"A{start}", "paragraphs": paragraphs[start : start + 4]} for start in range(0, count, 4)]
    return {"version": "1.1", "data": data}


def write_files(folder: Path) -> Path:
    """train.json with 48 questions, dev.json with 16, and a small network's settings."""
    for name, count, seed in (("train", 48, 1), ("dev", 16, 2)):
        (folder / f"{name}.json").write_text(json.dumps(squad_json(count, seed)), encoding="utf-8")
    (folder / "small.toml").write_text(
        "hidden_size = 6\ncharacter_filters = 8\ncharacter_vector = 6\nepochs = 6\nbatch_size = 8\n"
        "learning_rate = 0.02\ndropout = 0.0\nmin_character_count = 1\n"
    )
    return folder


@pytest.fixture
def squad_files(tmp_path) -> Path:
    return write_files(tmp_path)


def train(files, *flags):
    data = ["--train", str(files / "train.json"), "--dev", str(files / "dev.json"), "--test", str(files / "dev.json")]
    return main(["task", "train", "squad", str(files / "small.toml"), *data, "-o", str(files / "run"), *flags])


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> str:
    """A model of one epoch, for tests that only use it."""
    folder = write_files(tmp_path_factory.mktemp("trained"))
    assert train(folder, "--encoder", "none", "--epochs", "1", "--quiet") == 0
    return str(folder / "run")


def test_questions_without_answers_are_answered_from_every_layout(squad_files, run, capsys, monkeypatch):
    unlabelled = json.loads((squad_files / "dev.json").read_text())
    for article in unlabelled["data"]:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                del question["answers"]
    (squad_files / "new.json").write_text(json.dumps(unlabelled, indent=1))
    rows = [
        {"question": "Where?", "context": "Anna lives in Rome."},
        {"id": "b", "question": "Who?", "context": "Anna."},
    ]
    (squad_files / "new.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    (squad_files / "new.txt").write_text("Where?\tAnna lives in Rome.\n\nWho?\tAnna.\n")
    expected = {"new.json": [f"2-{number}" for number in range(16)], "new.jsonl": ["1", "b"], "new.txt": ["1", "3"]}
    for name, ids in expected.items():
        capsys.readouterr()
        assert main(["task", "predict", run, str(squad_files / name)]) == 0
        assert list(json.loads(capsys.readouterr().out)) == ids
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Where?\tAnna lives in Rome.\n")))
    assert main(["task", "predict", run, "-", "--json"]) == 0
    line = json.loads(capsys.readouterr().out)
    assert line["question"] == "Where?"
    assert line["prediction"]["text"] in "Anna lives in Rome."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Where is it?\n", "new.txt:1: has 1 tab-separated columns, but 2 are expected: question TAB context"),
        (" \tAnna lives in Rome.\n", "new.txt:1: question is empty or has no token"),
        ("\nWho?\t\n", "new.txt:2: context is empty or has no token"),
        ('{"question": "Who?"}\n', "new.txt:1: has no 'context'"),
        ('{"data": [}\n', "new.txt: is not valid JSON"),
        ('{"question": "Who?", "context": "Ann \\ud800"}\n', "new.txt:1: context has one half of a surrogate pair"),
        (
            '{"question": "Who?", "context": "Ann", "id": "1"}\n' * 2,
            "new.txt:2: '1' is the name of another example too",
        ),
    ],
)
def test_input_that_does_not_fit_ends_with_2_and_its_line(squad_files, run, capsys, text, message):
    (squad_files / "new.txt").write_text(text)
    assert main(["task", "predict", run, str(squad_files / "new.txt")]) == 2
    assert message in capsys.readouterr().err


def test_answers_for_two_files_of_the_same_ids_never_share_an_object(squad_files, run, capsys):
    for name in ("one", "two"):
        (squad_files / name).write_text("Who?\tAnna.\n")
    files, answers = [str(squad_files / "one"), str(squad_files / "two")], squad_files / "answers.json"
    assert main(["task", "predict", run, *files, "-o", str(answers)]) == 2
    assert "two:1: '1' is the name of another example too (in " in capsys.readouterr().err
    assert not answers.exists()
    assert main(["task", "predict", run, *files, "--json"]) == 0
    assert [json.loads(line)["file"] for line in capsys.readouterr().out.splitlines()] == files


def test_lines_that_do_not_fit_may_be_skipped(squad_files, run, capsys):
    (squad_files / "new.txt").write_bytes(b"Where is it?\nWho?\tAnna.\nWho?\tBj\xf6rn.\n")
    assert main(["task", "predict", run, str(squad_files / "new.txt"), "--errors", "skip"]) == 1
    shown = capsys.readouterr()
    assert list(json.loads(shown.out)) == ["2"]
    assert "skipped: " in shown.err
    assert "new.txt:1: has 1 tab-separated columns, but 2 are expected: question TAB context" in shown.err
    assert "new.txt:3: not valid UTF-8 (byte 0xF6" in shown.err


def test_every_command_of_the_page_runs(squad_files, monkeypatch):
    lines = commands("squad")
    assert len(lines) >= 5
    (squad_files / "questions.txt").write_text("Where?\tAnna lives in Rome.\n", encoding="utf-8")
    monkeypatch.chdir(squad_files)
    quick = ["--encoder", "none", "--epochs", "1", "--hidden-size", "4", "--quiet"]
    for line in lines:
        program, *words = shlex.split(line)
        assert program == "elmo"
        assert main([*words, *(quick if words[1] == "train" else [])]) == 0, line
