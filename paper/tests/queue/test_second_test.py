"""Second test data of a section: scored by the same models, resampled by article, with a claim and a row of its own."""

import json
import tarfile
from pathlib import Path

import pytest

from elmo.disk.json_file import read_toml
from elmo.weights.native.write import write
from elmo_paper.cli.main import main
from elmo_paper.places import PLAN
from elmo_paper.queue import finished, tables
from elmo_paper.queue.plan import planned_parts

SECTION = """
[table1]
tasks = ["squad"]
seeds = [1, 2]

[squad]
name = "cities"
config = "squad.toml"
data = "cities"
train = "train.json"
dev = "dev.json"
test = "test.json"
second_test = "../towns/test.json"
second_name = "towns"
settings = { epochs = 1 }
minutes = { baseline = 1, elmo = 1 }
"""


def squad_json(articles: int, questions: int, seed: int) -> str:
    """Articles of a paragraph with some questions each."""
    data = []
    for article in range(articles):
        city = ("Rome", "Oslo", "Bern")[(article + seed) % 3]
        context = f"she often lives in {city} ."
        answers = [{"text": city, "answer_start": context.index(city)}]
        asked = [
            {"id": f"{seed}-{article}-{number}", "question": "Where does she live ?", "answers": answers}
            for number in range(questions)
        ]
        data.append({"title": f"A{article}", "paragraphs": [{"context": context, "qas": asked}]})
    return json.dumps({"version": "1.1", "data": data})


@pytest.fixture
def asked(tmp_path: Path, tiny_bilm) -> list[str]:
    """The arguments of a queue with one section."""
    for number, (file, sizes) in enumerate(
        {"cities/train": (8, 4), "cities/dev": (3, 2), "cities/test": (2, 3), "towns/test": (5, 2)}.items()
    ):
        path = tmp_path / "data" / f"{file}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(squad_json(*sizes, seed=number))
    (tmp_path / "plan.toml").write_text(SECTION)
    (tmp_path / "squad.toml").write_text("hidden_size = 4\ncharacter_filters = 4\ncharacter_vector = 4\n")
    (tmp_path / "vectors.txt").write_text("she 1 0\nlives 0 1\nWhere 1 1\ndoes 0 2\nlive 2 0\n")
    write(tiny_bilm.to_checkpoint(), tmp_path / "model")
    files = ["--data", str(tmp_path / "data"), "--static", str(tmp_path / "vectors.txt")]
    return ["table1", str(tmp_path / "out"), *files, "--model", str(tmp_path / "model"),
            "--plan", str(tmp_path / "plan.toml")]  # fmt: skip


def test_its_file_and_its_name_belong_to_the_section(asked, tmp_path, capsys):
    (part,) = planned_parts(tables._arguments(asked))
    assert part.job.files.present()["second_test"] == tmp_path / "data" / "cities" / ".." / "towns" / "test.json"
    assert part.second_name == "towns"
    (tmp_path / "plan.toml").write_text(SECTION.replace("towns/test", "nowhere/test"))
    assert main(["tables", *asked, "--status"]) == 2
    assert "there is no such file, but the plan's 'squad' needs it" in capsys.readouterr().err


def test_question_answering_reads_xquad_as_such():
    section = read_toml(PLAN)["squad"]
    assert (section["data"], section["second_test"]) == ("qa/new-wiki", "../xquad-en/test.json")


@pytest.mark.slow
def test_the_same_models_are_scored_on_it(asked, tmp_path, one_thread):
    assert main(["tables", *asked]) == 0
    assert main(["tables", *asked, "--record", str(tmp_path / "records")]) == 0
    record = json.loads((tmp_path / "records" / "squad.table1.json").read_text())
    assert record["decided_on"] == "test"
    # Questions about one article are drawn together.
    assert record["bootstrap"]["units"] == {"dev": 3, "test": 2, "second_test": 5}
    assert len(record["data"]["second_test"]) == 64
    for system in record["systems"]:
        assert [one["second_test"]["f1"] for one in system["per_seed"]] == system["second_test"]["scores"]
    assert [(one["measured_on"], one["verdict"] is None) for one in record["claims"]] == [
        ("dev", True), ("test", False), ("second_test", False),
    ]  # fmt: skip

    for kept in finished.keep(tmp_path / "out", tmp_path / "kept"):
        with tarfile.open(kept) as archive:
            counts = json.load(archive.extractfile(f"{kept.name.split('.')[-3]}/second_test.examples.json"))
        assert len(counts["examples"]) == 10
