"""The page: our figures and the paper's side by side, and a sentence for each claim."""

import re

from elmo_paper.pages.record_page import cautions, markdown

RULES = [{"rule": "handles", "label": "rule: handles", "dev": 31.5, "test": 30.5}]


def rows(page: str) -> list[list[str]]:
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_table1_has_gain_and_error_reduction_beside_the_papers_line(record_of):
    record = record_of("table1", [[40.0, 42.0], [50.0, 52.0]], test=[[39.0, 40.0], [49.0, 51.0]], rules=RULES)
    page = markdown(record, ["a fact"])
    assert page.startswith("# What ELMo adds (table 1 of the paper): tweets (named entities)\n")
    table = rows(page)
    assert table[0][1:] == ["baseline, F1", "+ ELMo, F1", "gain [95 % interval]", "relative error reduction"]
    assert table[2][:3] == ["here, test", "39.50 ± 0.71", "50.00 ± 1.41"]
    assert re.fullmatch(r"\+10\.50 \[\+3\.\d\d, \+17\.\d\d\]", table[2][3])
    assert table[2][4] == "17.4 %"  # 10.5 of 60.5
    assert table[4][:2] == ["here, test: rule: handles", "30.50"]
    assert table[5] == ["paper, test (CoNLL-2003, F1)", "90.15", "92.22 ± 0.10", "+2.06", "21.0 %"]
    assert "- a fact\n" in page


def test_dev_data_are_shown_without_a_verdict_where_test_data_decide(record_of):
    scores = [[40.0, 40.1], [50.0, 50.1], [51.0, 51.1]]
    page = markdown(record_of("table3", scores, test=scores), [])
    assert "Claims about scores are decided on test data" in page
    (found,) = [row for row in rows(page) if row[0].startswith("ELMo at the input beats")]
    assert found[2].startswith("-11.00 [")
    assert found[3:] == ["< 0.001", "**does not agree**"]


def test_a_claim_stands_beside_the_papers(record_of):
    page = markdown(record_of("table2", [[40.0, 42.0], [50.0, 52.0], [51.0, 53.0], [52.0, 54.0]]), [])
    (found,) = [row for row in rows(page) if row[0].startswith("ELMo (all layers")]
    assert found[1] == "SQuAD +4.4, SNLI +1.4, SRL +3.2"
    assert re.fullmatch(r"\+12.00 \[\+\d.\d\d, \+\d\d.\d\d\]", found[2])
    assert found[3:] == ["0.068", "**not decided**"]


def test_table3_has_no_baseline_and_so_no_gain(record_of):
    page = markdown(record_of("table3", [[40.0], [50.0], [51.0]]), [])
    assert rows(page)[2][:2] == ["input & output", "50.00"]
    assert "One seed: 1." in page
    (found,) = [row for row in rows(page) if row[0].startswith("ELMo at the input beats")]
    assert found[2:] == ["-11.00", "**not decided**"]


def test_the_page_says_what_its_intervals_cover(record_of):
    scores = [[40.0, 42.0], [50.0, 52.0]]
    assert "cover the seeds alone" in markdown(record_of("table1", scores), [])
    page = markdown(record_of("table1", scores, units=300), [])
    assert "a paired bootstrap over 300 units of dev data (10,000 draws, random seed 0)" in page


def test_systems_that_are_no_better_than_a_rule_are_said_to_show_nothing(record_of):
    rules = [
        {"rule": "never", "label": "rule: never", "dev": 20.0},
        {"rule": "words", "label": "rule: words", "dev": 55.0},
    ]
    page = markdown(record_of("table1", [[50.0, 52.0], [60.0, 62.0]], rules=rules), [])
    assert 'on dev data the rule "words" scores 55.00, "baseline (no ELMo)" 51.00. The models' in page
    page = markdown(record_of("table1", [[60.0, 52.0], [60.0, 62.0]], rules=rules), [])
    assert "Nothing follows" not in page and "with care" not in page
    page = markdown(record_of("table2", [[60.0], [54.0], [61.0], [62.0]], rules=rules), [])
    assert '**Take "top layer only" with care**: on dev data the rule "words" scores 55.00' in page
    assert ', "top layer only" 54.00. What has not learned the task may do better' in page
    # A small share of the data may well teach less than a rule made from all of it.
    scores = [[10.0], [20.0], [60.0], [70.0]]
    assert "with care" not in markdown(record_of("figure1", scores, shares=[1, 100], rules=rules), [])


def test_test_data_that_were_trained_on_are_said_to_show_nothing(record_of):
    record = {**record_of("table1", [[50.0, 52.0], [60.0, 62.0]]), "trained_on": {"test": [60, 60]}}
    assert "**Nothing follows from these scores**: 60 of the 60 examples of the test data are" in markdown(record, [])


def test_one_unit_of_data_is_said_to_decide_nothing(record_of):
    page = markdown(record_of("table1", [[50.0, 52.0], [60.0, 62.0]], units=1), [])
    assert "data are one unit" in page and "**not decided**" in page and "at most 5 %" not in page


def test_what_is_decided_on_second_test_data_is_compared_with_the_rules_there(record_of):
    scores = [[60.0, 62.0], [70.0, 72.0]]
    rules = [{"rule": "words", "label": "rule: words", "dev": 30.0, "test": 30.0, "second_test": 65.0}]
    record = record_of("table1", scores, test=scores, second_test=scores, rules=rules)
    said = '**Nothing follows from these scores**: on second test data the rule "words" scores 65.00, "baseline'
    (caution,) = cautions(record)
    assert caution.startswith(said)
    assert caution in markdown(record, [])


def test_systems_trained_on_a_part_of_the_data_are_compared_with_the_rules_too(record_of):
    rules = [{"rule": "words", "label": "rule: words", "dev": 55.0}]
    record = record_of("table1", [[50.0, 52.0], [50.0, 53.0]], rules=rules)
    for system in record["systems"]:
        system["share"] = 50
    assert '**Nothing follows from these scores**: on dev data the rule "words" scores 55.00' in markdown(record, [])


def test_a_task_and_a_metric_without_a_name_of_ours_keep_theirs(record_of):
    page = markdown(record_of("table1", [[1.0, 2.0], [3.0, 4.5]], task="parsing", name=""), [])
    assert page.startswith("# What ELMo adds (table 1 of the paper): parsing\n")
    assert "paper, test" not in page


def test_tiny_p_values_are_not_shown_as_0(record_of):
    page = markdown(record_of("table1", [[40.0, 40.001, 40.002], [90.0, 90.001, 90.002]]), [])
    assert rows(page)[-1][2:] == ["< 0.001", "**agrees**"]
