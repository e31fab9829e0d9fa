"""A batch that needs more memory than there is ends in an error that names it."""

import pytest
import torch

from elmo.cli.main import main
from elmo.errors import OutOfMemory
from elmo.tasks.ner.data import TaggedSentence
from elmo.tasks.ner.task import TASK
from elmo.tasks.train.fitting.memory import enough_memory_for

EXAMPLES = [TaggedSentence(["a"]), TaggedSentence(["b", "c"])]


def test_torchs_own_error_becomes_one_with_the_next_step():
    with (
        pytest.raises(
            OutOfMemory, match="batch of 2 examples; the longest has 2 tokens and begins 'b c'.*--batch-size"
        ),
        enough_memory_for(TASK, EXAMPLES),
    ):
        torch.empty(2**60, dtype=torch.uint8)


def test_other_errors_stay_what_they_are():
    with pytest.raises(RuntimeError, match="shape"), enough_memory_for(TASK, EXAMPLES):
        torch.zeros(2).view(3)


def test_the_command_line_doesnt_call_it_a_bug(monkeypatch, capsys):
    def exhausted(argv):
        torch.empty(2**60, dtype=torch.uint8)

    monkeypatch.setattr("elmo.cli.verbs.task.main", exhausted)
    assert main(["task"]) == 2
    message = capsys.readouterr().err
    assert message.startswith("Not enough memory")
    assert "bug" not in message
