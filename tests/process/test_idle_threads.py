"""Threads that wait sleep in the verbs that train, unless the user has said otherwise."""

import os
import subprocess
import sys

import pytest

from elmo.cli.main import main
from elmo.process.idle_threads import VARIABLES


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    for name in VARIABLES:
        monkeypatch.setenv(name, "")  # so that what is set here is undone
        monkeypatch.delenv(name)


def test_verbs_that_train_let_idle_threads_sleep(capsys):
    assert main(["models"]) == 0
    assert "GOMP_SPINCOUNT" not in os.environ
    assert main(["task", "--help"]) == 0
    assert os.environ["GOMP_SPINCOUNT"] == "1000"


@pytest.mark.parametrize("name", VARIABLES)
def test_what_the_user_has_set_stays(monkeypatch, capsys, name):
    monkeypatch.setenv(name, "7")
    assert main(["task", "--help"]) == 0
    assert {one: os.environ[one] for one in VARIABLES if one in os.environ} == {name: "7"}


def test_torch_is_not_loaded_before():
    """libgomp reads the variables once, when it is loaded."""
    program = "import sys, elmo.cli.main; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
