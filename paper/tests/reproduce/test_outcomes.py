"""Finished runs: what their files say becomes an outcome."""

import json
from pathlib import Path

import pytest

from elmo.tasks.ner.data import NerSettings
from elmo_paper.reproduce.outcomes import CountsDontFit, Trained, outcome_of
from elmo_paper.reproduce.systems import systems_of

# Micro F1 of the first seed: 2 of 4 counts right; of the second: all.
EXAMPLES = [[{"PER": [1, 0, 0]}, {}, {"LOC": [0, 1, 1]}], [{"PER": [1, 0, 0]}, {}, {"LOC": [1, 0, 0]}]]


@pytest.fixture
def trained(tmp_path) -> Trained:
    """A run of two seeds and three dev examples."""
    run = tmp_path / "runs" / "baseline"
    scores = [50.0, 100.0]
    for seed, (score, examples) in enumerate(zip(scores, EXAMPLES, strict=True), start=1):
        folder = run / f"seed-{seed}"
        folder.mkdir(parents=True)
        lines = [{"epoch": 1, "dev": {"f1": 10.0}}, {"epoch": 2, "dev": {"f1": score}}]
        (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        counts = {"metric": "f1", "kind": "f1", "examples": examples}
        (folder / "dev.examples.json").write_text(json.dumps(counts))
    (run / "run.json").write_text(json.dumps({"bilm": "320b", "vectors": {"static": "dd58"}}))
    per_seed = [{"seed": seed, "dev": {"f1": score}} for seed, score in enumerate(scores, start=1)]
    summary = {"metric": "f1", "seeds": [1, 2], "per_seed": per_seed}
    return Trained(systems_of("table1", NerSettings())[0], run, summary)


def test_scores_curves_and_resamples_are_those_of_the_run(trained, tmp_path):
    found = outcome_of(trained, tmp_path, {"dev": [0, 1, 2]})
    assert (found.name, found.run) == ("baseline", "runs/baseline")
    assert found.curves == [[10.0, 50.0], [10.0, 100.0]]
    assert found.summary("dev")["scores"] == [50.0, 100.0]
    assert found.resampled["dev"].shape == (10_000, 2)
    # Drawn without the second example alone, the second seed is always right; without any entity it scores 0.
    assert set(found.resampled["dev"][:, 1]) == {0.0, 100.0}
    assert found.num_units == {"dev": 3}


def test_the_hashes_of_the_bilm_and_of_static_vectors_are_those_of_the_run(trained, tmp_path):
    assert outcome_of(trained, tmp_path, {}).table()["inputs"] == {"bilm": "320b", "static": "dd58"}
    (trained.run / "run.json").write_text(json.dumps({"bilm": None}))  # a baseline, by elmo 0.1.0 of before
    assert outcome_of(trained, tmp_path, {}).table()["inputs"] == {}


def test_when_and_where_each_seed_was_trained_is_said_where_it_was_noted(trained, tmp_path):
    (trained.run / "seed-2" / "env.json").write_text('{"date": "2026-11-25", "commit": "0a1b"}')
    found = outcome_of(trained, tmp_path, {}).table()
    assert found["trained"] == [{}, {"date": "2026-11-25", "commit": "0a1b"}]


def test_examples_of_a_unit_are_drawn_together(trained, tmp_path):
    found = outcome_of(trained, tmp_path, {"dev": ["a", "a", "b"]})
    assert found.num_units == {"dev": 2}
    # Sizes of 2 and 3: the seeds' counts, without the 1 for each example.
    assert found.effective_units["dev"] == pytest.approx((2 + 3) ** 2 / (2**2 + 3**2))
    assert set(found.resampled["dev"][:, 0]) == {0.0, 50.0, 100.0}


def test_without_units_each_example_is_one(trained, tmp_path):
    assert outcome_of(trained, tmp_path, {}).num_units == {"dev": 3}


def test_without_counts_there_are_no_resamples(trained, tmp_path):
    (trained.run / "seed-2" / "dev.examples.json").unlink()
    assert outcome_of(trained, tmp_path, {}).resampled == {}


def test_counts_that_do_not_give_the_scores_are_refused(trained, tmp_path):
    path = Path(trained.run / "seed-1" / "dev.examples.json")
    path.write_text(path.read_text().replace("[1, 0, 0]", "[2, 0, 0]"))
    with pytest.raises(CountsDontFit, match=r"the counts of the dev examples give other scores.*train this system"):
        outcome_of(trained, tmp_path, {})
