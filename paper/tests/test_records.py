"""Every record in the documentation says what it was made of, when, by which code and where; its trainings are kept."""

import json
import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elmo.tasks.registry import find
from elmo.tasks.settings import with_table
from elmo_paper.pages.blocks import BLOCK as PAGE_BLOCK
from elmo_paper.pages.blocks import filled
from elmo_paper.pages.write import PAGES, draw
from elmo_paper.places import ANALYSES as FOLDER_OF_ANALYSES
from elmo_paper.places import DOCS, PAPER, RECORDS
from elmo_paper.reproduce.outcomes import counts_of
from elmo_paper.reproduce.systems import System

TAGGERS = sorted(FOLDER_OF_ANALYSES.glob("minilm/*-tagger.json"))
TRAINED = [*sorted(RECORDS.glob("*.json")), *TAGGERS]
COVE = sorted(path for path in (FOLDER_OF_ANALYSES / "cove").glob("*.json") if "." not in path.stem)
ANALYSES = sorted({*FOLDER_OF_ANALYSES.rglob("*.json")} - {*COVE, *TAGGERS})
FINETUNED = sorted((RECORDS / "finetuned").glob("*.json"))
ARCHIVES = sorted(PAPER.glob("finished*/*/*.tar.xz"))

BLOCK = re.DOTALL | re.MULTILINE

ORIGIN = {"date", "commit", "machine"}


def of_trainings(record: Mapping[str, Any], section: str, archives: Sequence[Path] = ARCHIVES) -> Iterator[str]:
    """What a record of trainings lacks; `section`: of the plan, whose archives are its trainings."""
    yield from of_origin(record)
    hashes = record.get("hashes", record["data"])
    wanted = {"train", "dev", "test", *record.get("files", ())}
    yield from ("data" for name in wanted if not is_hash(hashes.get(name)))
    if not record.get("systems"):
        yield "systems"
    for system in record.get("systems", ()):
        inputs, trained, seeds = system["inputs"], system.get("trained", ()), record["seeds"]
        if system["system"] != "baseline" and not is_hash(inputs.get("bilm")):
            yield "biLM"
        if record.get("vectors", True) and not is_hash(inputs.get("static")):
            yield "static vectors"
        if len(trained) != len(seeds) or any(list(of_origin(one)) for one in trained):
            yield "origin of trainings"
        found = [kept for seed in seeds for kept in kept_as(section, system["run"], seed, archives)]
        if not found or {kept.name for kept in found} != {archive_name(system["run"], seed) for seed in seeds}:
            yield "archives"


def of_analysis(record: Mapping[str, Any]) -> Iterator[str]:
    """What a record of an analysis lacks; its examples are counted in one place or another."""
    yield from of_origin(record)
    if not all(is_hash(one) for one in (record["model_hash"], *(own["hash"] for own in record["encoders"].values()))):
        yield "biLM"
    if record.get("static") and not is_hash(record["encoders"].get("static", {}).get("hash")):
        yield "static vectors"
    files = [one for found in record["data"].values() for one in (found if isinstance(found, list) else [found])]
    if not files or not all(is_hash(one["sha256"]) for one in files):
        yield "data"
    if not (record.get("tokens") or record.get("queries") or record.get("sets")):
        yield "counts"


def of_finetuning(record: Mapping[str, Any]) -> Iterator[str]:
    """What a record of table 7 lacks; of each sentence it has the predictions and each model's nats."""
    yield from of_origin(record)
    if not is_hash(record["bilm"]):
        yield "biLM"
    yield from ("data" for split in ("train", "dev") if not is_hash(record["data"].get(split)))
    sentences, models = len(record["counts"]["predictions"]), 1 + len(record["seeds"])
    if not sentences or [len(nats) for nats in record["counts"]["nats"]] != [sentences] * models:
        yield "counts"


def of_cove(record: Mapping[str, Any]) -> Iterator[str]:
    """What the report of a training of CoVe lacks."""
    yield from of_origin(record)
    if not all(is_hash(one) for one in (record["facts"]["vectors"], *record["facts"]["text"])):
        yield "data"


def of_origin(made: Mapping[str, Any]) -> Iterator[str]:
    """Which of date, commit and machine is missing."""
    yield from (name for name in sorted(ORIGIN) if not made.get(name))


def is_hash(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def archive_name(run: str, seed: int) -> str:
    return f"{Path(run).name}.seed-{seed}.tar.xz"


def kept_as(section: str, run: str, seed: int, archives: Sequence[Path] = ARCHIVES) -> list[Path]:
    """The archives of a training: one, or one for each edition of its biLM."""
    return [path for path in archives if (path.parent.name, path.name) == (section, archive_name(run, seed))]


def inputs_of(run: Mapping[str, Any]) -> dict[str, str]:
    """The hashes of what a training read besides the data, as a record has them."""
    return {**({} if run["bilm"] is None else {"bilm": run["bilm"]}), **run["vectors"]}


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def members(path: Path) -> dict[str, Any]:
    """What an archive holds, its JSON files read."""
    with tarfile.open(path) as archive:
        content = {one.name: stream.read() for one in archive if (stream := archive.extractfile(one)) is not None}
    return {name: json.loads(text) if name.endswith(".json") else text for name, text in content.items()}


@pytest.mark.parametrize("path", TRAINED, ids=lambda path: path.stem)
def test_a_record_of_trainings_says_what_it_was_made_of(path):
    assert not list(of_trainings(read(path), path.name.split(".")[0]))


@pytest.mark.parametrize("path", ANALYSES, ids=lambda path: path.stem)
def test_a_record_of_an_analysis_says_what_it_was_made_of(path):
    assert not list(of_analysis(read(path)))


@pytest.mark.parametrize("path", COVE, ids=lambda path: path.stem)
def test_a_record_of_cove_says_what_it_was_made_of(path):
    assert not list(of_cove(read(path)))


@pytest.mark.parametrize("path", FINETUNED, ids=lambda path: path.stem)
def test_a_record_of_table_7_says_what_it_was_made_of_and_its_counts_give_its_perplexities(path):
    record = read(path)
    assert not list(of_finetuning(record))
    predictions, nats = (np.array(record["counts"][name]) for name in ("predictions", "nats"))
    perplexities = [record["perplexity"]["before"], *record["perplexity"]["after"]]
    # Each count is rounded to 0.005 nats.
    rounding = 0.005 * len(predictions) / predictions.sum()
    assert np.log(perplexities) == pytest.approx(nats.sum(axis=1) / predictions.sum(), abs=rounding)


@pytest.mark.parametrize("folder", sorted({path.parent for path in ARCHIVES}), ids=lambda path: path.name)
def test_an_archive_says_what_was_trained_when_and_where_and_has_the_counts_of_each_example(folder):
    for path in sorted(folder.glob("*.tar.xz")):
        found, seed = members(path), path.name.removesuffix(".tar.xz").rsplit(".", 1)[1]
        run = found["run.json"]
        assert not list(of_origin(found[f"{seed}/env.json"])), path
        assert all(map(is_hash, run["data"].values())) and {"train", "dev", "test"} <= set(run["data"]), path
        assert is_hash(run["bilm"]) or run["settings"]["encoder"] == "none", path
        assert all(map(is_hash, run["vectors"].values())) and len(run["vectors"]) == len(run["settings"]["static"])
        # The queue looks for it there. A new setting changes the name: add it to `systems._LATER`, with its default.
        settings = with_table(find(run["task"]).settings(), run["settings"], str(path))
        assert archive_name(System("", "", settings).folder, int(seed.removeprefix("seed-"))) == path.name
        for data in set(run["data"]) - {"train"}:
            assert found[f"{seed}/{data}.examples.json"]["examples"], path


@pytest.mark.parametrize("path", [one for one in TRAINED if "unseen" not in one.name], ids=lambda path: path.stem)
def test_the_counts_that_are_kept_give_the_scores_of_the_record(path, tmp_path):
    record, section = read(path), path.name.split(".")[0]
    scored = sorted(set(record["files"]) - {"train"})
    for system in record["systems"]:
        run = tmp_path / system["run"]
        for seed, made in zip(record["seeds"], system["trained"], strict=True):
            found = [members(kept) for kept in kept_as(section, system["run"], seed)]
            (own,) = [one for one in found if inputs_of(one["run.json"]) == system["inputs"]]
            assert own["run.json"]["data"] == record["data"]
            assert own[f"seed-{seed}/env.json"] == made
            (run / f"seed-{seed}").mkdir(parents=True)
            for data in scored:
                name = f"seed-{seed}/{data}.examples.json"
                (run / name).write_text(json.dumps(own[name]))
        # Raises CountsDontFit if they don't.
        assert all(counts_of(run, system["per_seed"], record["metric"], data) for data in scored)


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.relative_to(DOCS).as_posix())
def test_no_page_has_a_table_without_a_record(page):
    assert "No record" not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_made_of_the_records_byte_for_byte(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    empty = PAGE_BLOCK.sub(r"\1\5", text)
    assert empty != text
    assert filled(empty) == text, "run: elmo-paper pages"


@pytest.mark.slow
def test_pictures_are_made_of_the_records_byte_for_byte(tmp_path):
    drawn = [path for folder in ("reproduction", "analysis") for path in sorted((DOCS / folder).glob("*.svg"))]
    made_by = re.findall(r"Matplotlib v([\d.]+)", drawn[0].read_text(encoding="utf-8"))
    if made_by != [pytest.importorskip("matplotlib").__version__]:
        pytest.skip(f"pictures of another Matplotlib differ from those of {made_by}")
    for folder in ("reproduction", "analysis"):
        (tmp_path / folder).mkdir()
    draw(tmp_path)
    assert len([*tmp_path.rglob("*.svg")]) == len(drawn)
    for path in drawn:
        assert (tmp_path / path.relative_to(DOCS)).read_bytes() == path.read_bytes(), "run: elmo-paper pages"


@pytest.mark.parametrize("section", ["squad", "snli", "srl", "coref", "sst-phrases"])
def test_a_recipe_says_the_scores_of_the_record(section):
    recipe = (PAPER.parent / "configs" / "tasks" / f"{section.partition('-')[0]}.toml").read_text(encoding="utf-8")
    found = re.search(r"(\d\d\.\d)(?: \+- [\d.]+)? without ELMo, (\d\d\.\d)", recipe)
    systems = read(RECORDS / f"{section}.table1.json")["systems"]
    assert found and [*found.groups()] == [f"{one['test']['mean']:.1f}" for one in systems]
