"""Labels of classification tasks: their order is the same in every process."""

import subprocess
import sys

PROGRAM = "from elmo.tasks.labels.classification import in_order; print(in_order(['10', '1', '01', '2', '001']))"


def test_labels_that_are_equal_numbers_have_one_order_in_every_process():
    """A resumed training takes its labels from the file again."""
    for seed in "1234":
        command = [sys.executable, "-c", PROGRAM]
        found = subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True)
        assert found.stdout == "['001', '01', '1', '2', '10']\n"
