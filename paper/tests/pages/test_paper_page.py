"""docs/paper.md says what the records say; what no record has yet, it says isn't measured."""

import json
from typing import Any

import pytest

from elmo_paper.pages.blocks import filled
from elmo_paper.pages.records import Folders
from elmo_paper.places import PAPER

SNLI = "SNLI, 17,166 pairs (textual entailment)"


@pytest.fixture
def folders(tmp_path):
    """Two empty folders for records."""
    found = Folders(tmp_path / "reproduction", tmp_path / "analysis")
    found.records.mkdir()
    found.analyses.mkdir()
    return found


def record(name: str) -> dict[str, Any]:
    return json.loads((PAPER / "records" / name).read_text(encoding="utf-8"))


def made(block: str, folders: Folders) -> list[list[str]]:
    """The cells of the tables that a block is filled with."""
    text = filled(f"<!-- {block} -->\nold\n<!-- end -->", folders)
    assert "old" not in text
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]


def stopped(own: dict[str, Any]) -> dict[str, Any]:
    """The record as it were if its baselines had stopped improving before the last epoch."""
    for system in own["systems"]:
        system["best_epochs"] = [1] * len(own["seeds"])
    return own


def summary_of(name: str, folders: Folders) -> dict[str, list[str]]:
    """The signs of a table's claims."""
    found: dict[str, list[str]] = {}
    own = ""
    for first, claim, *signs in made("summary", folders):
        own = first or own
        if own.startswith(f"[{name}]"):
            found[claim] = signs
    return found


def test_what_no_record_has_is_not_measured_yet_and_has_its_command(folders):
    _, *rows = made("claims table2", folders)
    assert [row[1] for row in rows] == [
        SNLI,
        "PropBank, English Web Treebank (semantic roles)",
        "new-wiki (question answering)",
    ]
    assert rows[0][-1] == "not measured yet: `elmo-paper tables table2 --tasks snli`"
    _, *rows = made("gains", folders)
    command = "elmo-paper tables table1 --tasks ko-reviews --plan paper/plans/korean.toml"
    assert rows[-1][-1] == f"not measured yet: `{command}`"
    assert summary_of("Gamma", folders) == {"": ["", "none", "", "", "none", ""]}


def test_a_record_takes_the_place_of_what_was_not_measured(folders):
    own = stopped(record("reproduction/snli.table2.json"))
    (folders.records / "snli.table2.json").write_text(json.dumps(own))
    _, *rows = made("claims table2", folders)
    claim = "the top layer alone beats the baseline"
    top = next(row for row in rows if row[0] == claim)
    found = next(one for one in own["claims"] if (one["claim"], one["measured_on"]) == (claim, "test"))
    assert top[1:] == [
        SNLI,
        "SQuAD +3.9, SNLI +1.0, SRL +2.5",
        "{:+.2f} [{:+.2f}, {:+.2f}]".format(found["difference"], *found["interval"]),
        "< 0.001",
        "**[does not agree](../paper/records/reproduction/snli.table2.json)**",
    ]
    assert sum("not measured yet" in row[-1] for row in rows) == 2
    assert summary_of("Table 2", folders)["top layer alone > baseline"] == ["none", "-", "none", "", "", ""]


def test_a_claim_that_agrees_with_the_task_in_which_it_does_not_hold_is_turned_in_the_summary(folders):
    own = record("reproduction/ner.table3.json")
    claim = next(one for one in own["claims"] if "both places beats the input" in one["claim"] and one["verdict"])
    claim |= {"verdict": "agrees with SRL", "difference": -3.0, "interval": [-4.0, -2.0]}
    (folders.records / "ner.table3.json").write_text(json.dumps(own))
    assert summary_of("Table 3", folders)["both places > input alone"][4] == "+ (as SRL)"


def test_a_record_of_fewer_seeds_is_told_apart_and_one_of_more_epochs_needs_as_many_seeds(folders):
    own = record("reproduction/ner.table1.json") | {"planned_seeds": [1, 2, 3, 4, 5, 6]}
    (folders.records / "ner.table1.json").write_text(json.dumps(own))
    for seeds, rows_there in (([1, 2], 1), ([1, 2, 3], 2)):
        longer = own | {"name": "at length", "seeds": seeds, "planned_seeds": seeds}
        (folders.records / "ner-longer.table1.json").write_text(json.dumps(longer))
        rows = [row for row in made("gains", folders) if "->" in row[1]]
        names = ["Broad Twitter Corpus, names (named entities) (partial: 5 of 6 seeds)", "at length (named entities)"]
        assert [row[0] for row in rows] == names[:rows_there]
        assert rows[0][5] == "small-en 5"


def test_a_system_that_the_page_does_not_know_appears_by_itself(folders):
    own = record("reproduction/snli.table2.json") | {"experiment": "whole"}
    (folders.records / "snli.whole.json").write_text(json.dumps(own))
    (folders.records / "small-en.speed.json").write_text(json.dumps({"words": 3}))
    text = filled("<!-- others -->\n<!-- end -->", folders)
    assert "## whole\n" in text
    assert "(reproduction/snli.whole.svg)" in text
    assert "speed" not in text
    assert "top layer alone > baseline" in summary_of("whole", folders)
