"""Tasks and encoders are found by name: built in, installed, or package.module:object."""

import pickle
import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest

from elmo.errors import ConfigError
from elmo.process import named_object
from elmo.tasks import registry
from elmo.tasks.ner.task import TASK
from elmo.tasks.registry import BUILT_IN, find, summaries
from elmo.tasks.tokens import frozen_layers as encoders
from elmo.tasks.tokens.frozen_layers import find_encoder

MODULE = """
from elmo.tasks.ner.task import NamedEntities
class Other(NamedEntities):
    name = "other"
TASK = Other()
NOT_A_TASK = 3
def make(model, *, device):
    return Lengths() if model == "lengths" else model
class Lengths:
    num_layers, layer_dim, model_hash, keep_boundaries = 1, 1, "ab" * 8, False
    def embed_iter(self, sentences):
        return iter(())
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of somebody else's, in the current folder."""
    (tmp_path / "somebodys.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    yield "somebodys"
    sys.modules.pop("somebodys", None)


@pytest.fixture
def installed(module, monkeypatch):
    """The same, as an installed package makes it known."""
    points = {
        registry.GROUP: [EntryPoint("other", f"{module}:TASK", registry.GROUP)],
        encoders.GROUP: [EntryPoint("lengths", f"{module}:make", encoders.GROUP)],
    }
    monkeypatch.syspath_prepend(".")
    monkeypatch.setattr(named_object, "entry_points", lambda group: points[group])


def test_a_task_of_ones_own_is_named_by_its_module(module):
    found = find("somebodys:TASK")
    assert found.name == "other"
    assert pickle.loads(pickle.dumps(found)) is found


def test_an_installed_task_is_known_by_its_name(installed):
    assert find("other").name == "other"
    assert summaries()["other"] == "from somebodys:TASK" and all(summaries()[name] for name in BUILT_IN)
    assert pickle.loads(pickle.dumps(find("other"))) is find("other")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tags", "there is no task 'tags'. It must be one of ner, pos, "),
        ("somebodys:NOT_A_TASK", "is a int, not a task"),
        ("somebodys:NOTHING", "can't be loaded: .* Name it as module:object"),
        ("nobodys:TASK", "can't be loaded: .*No module named 'nobodys'"),
    ],
)
def test_what_is_no_task_is_told(module, name, message):
    with pytest.raises(ConfigError, match=message):
        find(name)


def test_a_task_that_no_variable_holds_cant_travel():
    with pytest.raises(ConfigError, match="other processes can't find the task"):
        pickle.dumps(type(TASK)())


def test_encoders_are_found_the_same_way(module, installed):
    for name in ("somebodys:make", "lengths"):
        assert find_encoder(name, "lengths", device="cpu").layer_dim == 1
    with pytest.raises(ConfigError, match="no encoder 'bert'. It must be one of none, elmo, lengths, or"):
        find_encoder("bert", "", device="cpu")


@pytest.mark.parametrize("value", ["nobodys:make", "somebodys:NOTHING"])
def test_an_installed_package_that_lacks_what_it_adds_is_told(module, monkeypatch, value):
    for place, what, find_it in (
        (registry, "task", lambda: find("theirs")),
        (encoders, "encoder", lambda: find_encoder("theirs", "", device="cpu")),
    ):
        points = [EntryPoint("theirs", value, place.GROUP)]
        monkeypatch.setattr(named_object, "entry_points", lambda group, points=points: points)
        with pytest.raises(ConfigError, match=f"the {what} '{value}' can't be loaded: "):
            find_it()


def test_the_default_encoder_is_a_bilm(bilm_folder):
    found = find_encoder("elmo", str(bilm_folder), device="cpu")
    (array,) = found.embed_iter([["a", "b"]])
    assert array.shape == (found.num_layers, 4, found.layer_dim)
    assert array.dtype == np.float32
