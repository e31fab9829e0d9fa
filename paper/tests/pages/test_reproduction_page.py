"""docs/reproduction.md says what its records say; it and docs/paper.md have no figure that no record has."""

import json
import re
import shutil
import tomllib

import pytest

from elmo.errors import ConfigError
from elmo_paper import places
from elmo_paper.pages.blocks import filled, without_blocks
from elmo_paper.pages.records import Folders
from elmo_paper.places import DOCS
from elmo_paper.reproduce.paper import TABLE_1, TABLES

PAGE, PAPER_PAGE = DOCS / "reproduction.md", DOCS / "paper.md"
RECORDS = sorted(places.RECORDS.glob("*.json"))
ANALYSES = sorted(places.ANALYSES.glob("*.json"))
# The level of claims, and a score of data that isn't used any more.
STATED = {"0.05", "58.3"}
# Of a data set's name, SQuAD's and CoVe's gains in the paper (section 4).
STATED_OF_PAPER = {"5.0", "1.1", "1.8", "1.0", "1.4"}


@pytest.fixture
def folders(tmp_path) -> Folders:
    """A folder of records."""
    return Folders(tmp_path, tmp_path)


def figures_in(value: object) -> set[str]:
    """Every number of a record, rounded to 1, 2 and 3 digits."""
    if isinstance(value, dict):
        return {figure for part in value.values() for figure in figures_in(part)}
    if isinstance(value, list):
        return {figure for part in value for figure in figures_in(part)}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {f"{abs(value):.{digits}f}" for digits in (1, 2, 3)}
    return set()


def unrecorded(prose: str, recorded: set[str]) -> list[str]:
    """Figures with a decimal point that no record has."""
    text = re.sub(r"`[^`]*`|\(https?://[^)]*\)|\d{4}-\d\d-\d\d|elmo \d\.\d", "", prose)
    return [figure for figure in re.findall(r"\d+\.\d+", text) if figure not in recorded]


def test_what_people_wrote_has_no_figure_that_no_record_has():
    recorded = figures_in([json.loads(path.read_text(encoding="utf-8")) for path in RECORDS])
    recorded |= figures_in([vars(line) for line in TABLE_1.values()]) | figures_in(TABLES) | STATED
    assert unrecorded(without_blocks(PAGE.read_text(encoding="utf-8")), recorded) == []


def test_what_people_wrote_on_the_papers_page_has_no_figure_that_no_record_has():
    recorded = figures_in([json.loads(path.read_text(encoding="utf-8")) for path in (*RECORDS, *ANALYSES)])
    recorded |= figures_in([vars(line) for line in TABLE_1.values()]) | STATED_OF_PAPER
    assert unrecorded(without_blocks(PAPER_PAGE.read_text(encoding="utf-8")), recorded) == []


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_records_are_whole_and_have_no_path_of_a_machine(path):
    record = json.loads(path.read_text(encoding="utf-8"))
    if path.name.endswith(".unseen.json"):
        assert record["seeds"] and "/" not in path.read_text(encoding="utf-8").replace('"runs/', "")
        return
    assert record["name"] and record["claims"] and record["rules"]
    assert "/" not in "".join([record["settings"]["model"], *record["settings"]["static"], *record["files"].values()])
    for system in record["systems"]:
        assert len(system["per_seed"]) == len(record["seeds"]) == len(system["test"]["scores"])


def test_what_is_withdrawn_stays_withdrawn():
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert "baseline with all of them has been withdrawn" in text
    assert "Test scores were known when settings were chosen" in text


def test_a_block_of_the_page_may_name_its_sections(tmp_path, folders):
    record = places.RECORDS / "ner.table1.json"
    shutil.copy(record, tmp_path / "wnut17.table1.json")
    shutil.copy(record, tmp_path / "ner.table1.json")
    told = filled("<!-- table1 wnut17 gum -->\nold\n<!-- end -->", folders)
    assert told == filled("<!-- table1 -->\n<!-- end -->", folders).replace("table1", "table1 wnut17 gum")
    none = "<!-- table1 gum -->\nNo record yet.\n<!-- end -->"
    assert filled("<!-- table1 gum -->\nold\n<!-- end -->", folders) == none


def test_a_record_of_fewer_seeds_than_planned_is_marked(tmp_path, folders):
    record = json.loads((places.RECORDS / "ner.table1.json").read_text(encoding="utf-8"))
    for table in ("table1", "table2"):
        assert "partial" not in filled(f"<!-- {table} -->\n<!-- end -->", folders)
        (tmp_path / f"ner.{table}.json").write_text(json.dumps(record | {"planned_seeds": [*record["seeds"], 99]}))
        count = len(record["seeds"])
        assert f"(partial: {count} of {count + 1} seeds)" in filled(f"<!-- {table} -->\n<!-- end -->", folders)


def test_a_bilm_without_a_name_is_an_error_that_says_where_to_add_it(tmp_path, folders):
    record = json.loads((places.RECORDS / "ner.table1.json").read_text(encoding="utf-8"))
    record["systems"][1]["inputs"]["bilm"] = "0123"
    (tmp_path / "ner.table1.json").write_text(json.dumps(record))
    with pytest.raises(ConfigError, match=r"bilms\.toml: has no name for the biLM of hash 0123.*Add a line"):
        filled("<!-- table1 -->\n<!-- end -->", folders)


def test_epochs_are_compared_with_one_bilm_alone(tmp_path, folders):
    for name in ("coref", "coref-longer"):
        shutil.copy(places.RECORDS / "coref.table1.json", tmp_path / f"{name}.table1.json")
    assert "No record yet." not in filled("<!-- longer -->\n<!-- end -->", folders)
    newer = json.loads((tmp_path / "coref.table1.json").read_text(encoding="utf-8"))
    names = tomllib.loads(places.BILMS.read_text(encoding="utf-8"))
    newer["systems"][1]["inputs"]["bilm"] = next(own for own, name in names.items() if name == "small-ko 3")
    (tmp_path / "coref.table1.json").write_text(json.dumps(newer))
    with pytest.raises(
        ConfigError, match=r"the records of coref with different epochs are of small-en \d and small-ko \d:"
    ):
        filled("<!-- longer -->\n<!-- end -->", folders)
