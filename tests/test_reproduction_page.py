"""docs/reproduction.md says what its records say, and marks every figure that has no record."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from elmo.reproduce.paper import TABLE_1, TABLES

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reproduction.md"
RECORDS = sorted((ROOT / "docs" / "reproduction").glob("*.json"))
NO_RECORD = "†"
# Of the first check of 2026-11-22, and what this page itself states: thresholds, versions.
STATED = {"0.05", "0.1", "0.001"}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """`runs/reproduction_page.py`."""
    spec = importlib.util.spec_from_file_location("reproduction_page", ROOT / "runs" / "reproduction_page.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def figures_in(value: object) -> set[str]:
    """Every number of a record, rounded to 1, 2 and 3 digits."""
    if isinstance(value, dict):
        return {figure for part in value.values() for figure in figures_in(part)}
    if isinstance(value, list):
        return {figure for part in value for figure in figures_in(part)}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {f"{abs(value):.{digits}f}" for digits in (1, 2, 3)}
    return set()


def unrecorded(page: str, recorded: set[str]) -> list[str]:
    """Figures with a decimal point in paragraphs and table rows that have no `NO_RECORD`, and that no record has."""
    text = re.sub(r"`[^`]*`|\(https?://[^)]*\)|\d{4}-\d\d-\d\d|elmo \d\.\d", "", page)
    parts = [part for block in text.split("\n\n") for part in (block.splitlines() if block[:1] == "|" else [block])]
    found = [figure for part in parts if NO_RECORD not in part for figure in re.findall(r"\d+\.\d+", part)]
    return [figure for figure in found if figure not in recorded]


def test_tables_and_claims_are_those_of_the_records(script):
    page = PAGE.read_text(encoding="utf-8")
    assert script.filled(page) == page, "run: python runs/reproduction_page.py"
    named = set(re.findall(r"<!-- table ([\w.-]+) -->", page))
    assert named == {path.stem for path in RECORDS}
    for picture in re.findall(r"\]\((reproduction/[\w.-]+)\)", page):
        assert (PAGE.parent / picture).is_file()


def test_every_other_figure_is_in_a_record_or_marked(script):
    recorded = figures_in([json.loads(path.read_text(encoding="utf-8")) for path in RECORDS])
    recorded |= figures_in([vars(line) for line in TABLE_1.values()]) | figures_in(TABLES) | STATED
    prose = script.without_blocks(PAGE.read_text(encoding="utf-8"))
    assert unrecorded(prose, recorded) == []


def test_a_figure_that_no_record_has_is_noticed():
    page = "ELMo gains 3.05 here.\n\n| a | 77.33 † |\n| b | 12.34 |\n\nAnd 5.67 more."
    assert unrecorded(page, {"3.05"}) == ["12.34", "5.67"]


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_records_are_whole(path):
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record["name"] and record["note"] and record["claims"]
    assert not any("/" in file for file in record["files"].values())
    for system in record["systems"]:
        assert len(system["per_seed"]) == len(record["seeds"]) == len(system["test"]["scores"])


def test_what_is_withdrawn_stays_withdrawn():
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert "is withdrawn" in text
    assert text.count("seen while settings were chosen") >= 6
