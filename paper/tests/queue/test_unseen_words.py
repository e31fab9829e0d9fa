"""The split by unseen words: each group's scores are those of its own examples."""

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from elmo.tasks.train.task_data import TaskData
from elmo_paper.queue import unseen_words

SENTENCES = [["a", "b"], ["a", "x"], ["b"], ["y"], ["a", "a"], ["b", "z"]]
IS_NEW = [False, True, False, True, False, True]


class Words:
    """A task whose examples are sentences."""

    def sentences_of(self, *parts: Sequence[list[str]]) -> list[list[str]]:
        return [sentence for part in parts for sentence in part]

    def sentences(self, example: list[str]) -> list[list[str]]:
        return [example]

    def groups(self, examples: list[list[str]]) -> list[int]:
        return [place // 2 for place in range(len(examples))]  # a unit has examples of both groups


@pytest.fixture
def compared(tmp_path: Path):
    """Scores of `right`: for each system and seed, whether it has each example right."""

    def compared(right: dict[str, list[list[int]]]) -> dict:
        for system, seeds in right.items():
            for seed, examples in enumerate(seeds, start=1):
                folder = tmp_path / "runs" / system / f"seed-{seed}"
                folder.mkdir(parents=True)
                counts = [{"": [100.0 * one]} for one in examples]
                (folder / "test.examples.json").write_text(json.dumps({"kind": "mean", "examples": counts}))
        systems = [
            {
                "system": name,
                "run": f"runs/{name}",
                "per_seed": [
                    {"seed": number, "test": {"em": 100 * sum(own) / len(own)}}
                    for number, own in enumerate(seeds, start=1)
                ],
            }
            for name, seeds in right.items()
        ]
        record = {"metric": "em", "seeds": [1, 2], "systems": systems}
        part = SimpleNamespace(job=SimpleNamespace(task=Words(), run=tmp_path))
        data = TaskData(train=[["a"], ["b"]], dev=[], test=SENTENCES, vocabulary={})
        groups = unseen_words.split(part, data)["test"]
        assert groups["new"].tolist() == IS_NEW
        return unseen_words.compared(part, record, "test", groups, data)

    return compared


def test_each_group_has_its_own_gain(compared):
    baseline, elmo = [[1, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0]], [[1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 0, 1]]
    found = compared({"baseline": baseline, "elmo": elmo})
    for group, chosen in (("seen", ~np.array(IS_NEW)), ("new", np.array(IS_NEW))):
        own = found["groups"][group]
        means = [100 * np.array(seeds)[:, chosen].mean(axis=1) for seeds in (baseline, elmo)]
        assert own["examples"] == 3
        assert own["baseline"]["scores"] == pytest.approx(means[0])
        assert own["elmo"]["scores"] == pytest.approx(means[1])
        assert own["gain"]["difference"] == pytest.approx(means[1].mean() - means[0].mean())
    gains = [found["groups"][group]["gain"]["difference"] for group in ("seen", "new")]
    assert found["difference_of_gains"]["difference"] == pytest.approx(gains[1] - gains[0])
    low, high = found["difference_of_gains"]["interval"]
    assert low < gains[1] - gains[0] < high


def test_a_group_of_few_examples_makes_no_record(tmp_path: Path, monkeypatch):
    system = {"system": "elmo", "run": "runs/elmo", "inputs": {"bilm": "12c5"}, "trained": [{"commit": "0a1b"}]}
    record = {**dict.fromkeys(("task", "name", "metric", "seeds"), ""), "systems": [{**system, "per_seed": []}]}
    (tmp_path / "table1.json").write_text(json.dumps(record))
    job = SimpleNamespace(task=Words(), settings=0, files=SimpleNamespace(hashes=lambda: {"test": "d097"}))
    part = SimpleNamespace(record=tmp_path / "table1.json", section="towns", job=job)
    monkeypatch.setattr(unseen_words, "read_data", lambda *_: TaskData([["a"], ["b"]], [], SENTENCES, {}))
    monkeypatch.setattr(unseen_words, "compared", lambda *_: {"groups": {}})
    assert list(unseen_words.written(part, tmp_path / "records")) == []
    monkeypatch.setattr(unseen_words, "FEWEST", 3)
    (path,) = unseen_words.written(part, tmp_path / "records")
    assert path.name == "towns.unseen.json"
    found = json.loads(path.read_text())
    assert found["data"] == {"test": {"groups": {}}}
    assert (found["hashes"], found["systems"]) == ({"test": "d097"}, [system])
    assert found["date"] and found["machine"] and "commit" in found
