"""Labels of classification tasks: their order is the same in every process."""

import subprocess
import sys

import pytest

from elmo.errors import TextError
from elmo.tasks.labels import require_learnable

PROGRAM = "from elmo.tasks.labels import in_order; print(in_order(['10', '1', '01', '2', '001']))"


def test_labels_that_are_equal_numbers_have_one_order_in_every_process():
    """A resumed training takes its labels from the file again."""
    for seed in "1234":
        command = [sys.executable, "-c", PROGRAM]
        found = subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True)
        assert found.stdout == "['001', '01', '1', '2', '10']\n"


def test_labels_that_hardly_ever_occur_twice_can_not_be_learned():
    require_learnable([str(n) for n in range(20)], 2, "f", "Step.")
    require_learnable([str(n % 40) for n in range(80)], 2, "f", "Step.")
    with pytest.raises(TextError, match=r"^f: the training data have 41 labels of 21 kinds \(0, .* Step\.$"):
        require_learnable([str(n % 21) for n in range(41)], 2, "f", "Step.")
