"""docs/paper.md says what the records say; what no record has yet, it says isn't measured."""

import json
from typing import Any

import pytest

from elmo_paper.pages.blocks import filled
from elmo_paper.pages.records import REPOSITORY, Folders
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


def test_table_7_has_what_an_epoch_did_and_no_verdict_where_the_paper_did_not_tune(folders):
    (folders.records / "finetuned").mkdir()
    ratio = {"mean": 0.8, "interval": [0.7, 0.9]}
    for text, task, name in (("coref", "coref", "OntoGUM"), ("squad-questions", "squad", "new-wiki, questions")):
        found = {"task": task, "name": name, "perplexity": {"before": 50.0, "after": [39.0, 41.0]}, "ratio": ratio}
        (folders.records / "finetuned" / f"{text}.json").write_text(json.dumps(found | {"verdict": "agrees"}))
    _, *rows = made("claims table7", folders)
    by_data = {row[1]: row[2:] for row in rows}
    assert by_data["OntoGUM (coreference)"] == [
        "CoNLL-2012: 92.3, not tuned",
        "50.0 -> 40.0, x 0.80 [0.70, 0.90]",
        "**[measured](../paper/records/reproduction/finetuned/coref.json)**",
    ]
    assert by_data["new-wiki, questions (question answering)"][::2] == [
        "SQuAD, questions: 158.2 -> 52.0, x 0.33",
        "**[agrees](../paper/records/reproduction/finetuned/squad-questions.json)**",
    ]
    assert by_data["snli"][-1] == "not measured yet: `elmo-paper finetuned --texts snli`"


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


def test_a_record_of_fewer_seeds_or_of_another_edition_is_told_apart(folders):
    own = record("reproduction/ner.table1.json") | {"planned_seeds": [1, 2, 3, 4, 5, 6]}
    (folders.records / "ner.table1.json").write_text(json.dumps(own))
    (folders.records / "ner-before.table1.json").write_text(json.dumps(own))
    rows = [row for row in made("gains", folders) if "->" in row[1]]
    assert [row[0] for row in rows] == ["Broad Twitter Corpus, names (named entities) (partial: 5 of 6 seeds)"]
    assert rows[0][5] == "small-en 5"


def test_second_test_data_have_a_row_of_their_own(folders):
    own = stopped(record("reproduction/squad.table1.json"))
    own["gains"][0]["test"] |= {"difference": 1.5, "interval": [-1.0, 4.0]}
    own["gains"][0]["second_test"] |= {"difference": 2.5, "interval": [1.0, 4.0]}
    first_claim, second_claim = own["claims"][-2:]
    first_claim |= {"verdict": "not decided", "difference": 1.5, "interval": [-1.0, 4.0]}
    second_claim |= {"verdict": "agrees", "difference": 2.5, "interval": [1.0, 4.0]}
    (folders.records / "squad.table1.json").write_text(json.dumps(own))
    first, then, *_ = made("gains", folders)[1:]
    scores = " -> ".join(f"{system['second_test']['mean']:.1f}" for system in own["systems"])
    assert first[0] == "new-wiki (question answering)"
    assert then[0] == "XQuAD, English, by the models of new-wiki (question answering)"
    assert then[2:4] == [f"{scores} F1", "+2.50 [+1.00, +4.00]"]
    assert summary_of("Table 1", folders)["ELMo > baseline"][0] == "open (XQuAD: +)"


def test_a_system_that_the_page_does_not_know_appears_by_itself(folders):
    own = record("reproduction/snli.table2.json") | {"experiment": "whole"}
    (folders.records / "snli.whole.json").write_text(json.dumps(own))
    (folders.records / "small-en.speed.json").write_text(json.dumps({"words": 3}))
    text = filled("<!-- others -->\n<!-- end -->", folders)
    assert "## whole\n" in text
    assert "(reproduction/snli.whole.svg)" in text
    assert "speed" not in text
    assert "top layer alone > baseline" in summary_of("whole", folders)


def test_cove_appears_in_tables_5_and_6_as_soon_as_it_is_measured(folders):
    own = record("analysis/wsd-small-en.json")
    _, *rows = made("layers table5", REPOSITORY)
    layer = next(one for one in own["systems"] if (one["encoder"], one["layer"]) == ("biLM", "layer 1"))
    low = [value - 20 for value in layer["minus_first_sense"]]
    without = [one for one in own["systems"] if not one["encoder"].startswith("CoVe")]
    own["systems"] = [*without, layer | {"encoder": "CoVe", "layer": "layer 2", "minus_first_sense": low}]
    (folders.analyses / "wsd-small-en.json").write_text(json.dumps(own))
    rows = {row[0]: row[1:] for row in made("layers table5", folders)}
    assert rows["CoVe, layer 2"] == ["64.7", f"{layer['sets']['all']['f1']:.1f}"]
    assert rows["CoVe, layer 1"] == ["59.4", "not measured yet"]
    claims = {row[0]: row[-1] for row in made("claims table5", folders)}
    assert claims["layer 2 is better than CoVe"] == "**[agrees](../paper/records/analysis/wsd-small-en.json)**"
    assert summary_of("Table 5", folders)["layer 2 > CoVe"] == ["+"]


def test_a_baseline_that_was_still_rising_is_told_in_place_of_a_verdict(folders):
    own = stopped(record("reproduction/srl.table2.json"))
    baseline, *_ = own["systems"]
    baseline["best_epochs"] = [3, len(baseline["curves"][1]), 4]
    (folders.records / "srl.table2.json").write_text(json.dumps(own))
    verdicts = {row[0]: row[-1] for row in made("claims table2", folders) if "EWT" not in row[0]}
    told = "**: the baseline's best epoch is its last (3, 16, 4 of 16)"
    assert verdicts["the top layer alone beats the baseline"].endswith(told)
    assert "no verdict" not in verdicts["all layers (lambda 1) beat the top layer alone"]
    assert summary_of("Table 2", folders)["top layer alone > baseline"][2] == "short"
