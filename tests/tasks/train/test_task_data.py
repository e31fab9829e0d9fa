"""What is trained on: parts of the training data that don't share groups, and no example that is too long."""

from dataclasses import replace

import pytest

from elmo.errors import ConfigError
from elmo.tasks.ner.data import NerSettings
from elmo.tasks.ner.task import NamedEntities
from elmo.tasks.settings import FitSettings
from elmo.tasks.train.job import Files
from elmo.tasks.train.task_data import read_data


class InPairs(NamedEntities):
    """Two sentences after each other belong together."""

    def group(self, example, place):
        return place // 2


@pytest.fixture
def files(tmp_path) -> Files:
    """Sentence k has k + 1 tokens."""
    (tmp_path / "train.conll").write_text("\n\n".join("\n".join(["x B-A"] * (k + 1)) for k in range(40)) + "\n")
    return Files(tmp_path / "train.conll")


def lengths(examples) -> list[int]:
    return [len(example.tokens) for example in examples]


def test_held_out_data_share_no_group_with_training(files):
    data = read_data(InPairs(), NerSettings(), files)
    assert len(data.dev) == 4
    assert {length // 2 for length in (n - 1 for n in lengths(data.dev))}.isdisjoint(
        {(n - 1) // 2 for n in lengths(data.train)}
    )
    half = replace(NerSettings(), fit=FitSettings(train_share=0.5))
    kept = lengths(read_data(InPairs(), half, files).train)
    assert len(kept) == 18
    assert len({(n - 1) // 2 for n in kept}) == 9


def test_data_that_belong_together_are_not_split_and_that_is_said(files, recorded_progress):
    class Together(NamedEntities):
        def group(self, example, place):
            return 0

    data = read_data(Together(), NerSettings(), files, recorded_progress)
    assert (len(data.train), data.dev) == (40, [])
    assert recorded_progress.lines == [
        "no --dev was given: all training examples belong together (one document or article), so the last epoch is kept"
    ]


def test_long_training_examples_are_left_out_and_dev_examples_never(files):
    short = replace(NerSettings(), fit=FitSettings(max_length=10))
    data = read_data(NamedEntities(), short, Files(files.train, files.train))
    assert lengths(data.train) == list(range(1, 11))
    assert lengths(data.dev) == list(range(1, 41))
    (files.train.parent / "long.conll").write_text("x B-A\nx O\n")
    with pytest.raises(ConfigError, match="no example of at most 1 tokens"):
        read_data(NamedEntities(), replace(short, fit=FitSettings(max_length=1)),
                  Files(files.train.parent / "long.conll", files.train))  # fmt: skip


def test_rules_learn_from_whole_examples(files):
    class Halves(NamedEntities):
        def training(self, examples, settings):
            return [example for example in examples for _ in range(2)]

    data = read_data(Halves(), NerSettings(), files)
    assert (len(data.train), len(data.whole)) == (72, 36)


def test_dev_and_test_data_that_are_training_data_are_told_of(files, recorded_progress):
    other = files.train.parent / "other.conll"
    other.write_text("y B-A\n\n" * 8 + "x B-A\n\n")
    data = read_data(NamedEntities(), NerSettings(), Files(files.train, files.train, other), recorded_progress)
    assert data.trained_on == {"dev": (40, 40)}
    (line,) = recorded_progress.lines
    assert "40 of the 40 examples of the dev data are also training data" in line
    other.write_text("y B-A\n\n" * 3 + "x B-A\n\n")
    assert read_data(NamedEntities(), NerSettings(), Files(files.train, test=other)).trained_on == {"test": (1, 4)}
