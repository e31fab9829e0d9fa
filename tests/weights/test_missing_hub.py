"""Without huggingface_hub everything but ids of the hub is found, and those say what to install."""

import sys

import pytest

from elmo.errors import MissingExtraError, WeightFileError
from elmo.weights.hub import resolve


@pytest.fixture(autouse=True)
def no_hub(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)


def test_bundled_models_are_found():
    assert resolve("small-en").is_dir()


def test_an_id_of_the_hub_says_what_to_install():
    with pytest.raises(MissingExtraError, match=r"model org/name, which is not a file .* pip install 'pyelmo\[hub\]'"):
        resolve("org/name")


def test_what_can_be_no_id_of_the_hub_is_no_model():
    with pytest.raises(WeightFileError, match="there is no such file or folder"):
        resolve("texts/of/mine")
