"""`from elmo import ...`: every promised name is there, and is what its module defines."""

import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import elmo

PROMISED = {"BiLM", "BiLMConfig", "ELMo", "Embedder", "ScalarMix", "__version__"}
PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def test_the_promised_names_are_the_public_ones():
    assert set(elmo.__all__) == PROMISED
    assert set(dir(elmo)) == PROMISED


@pytest.mark.parametrize("name", sorted(PROMISED - {"__version__"}))
def test_each_name_is_its_class(name):
    value = getattr(elmo, name)
    assert isinstance(value, type)
    assert value.__name__ == name
    assert getattr(import_module(value.__module__), name) is value


def test_an_unknown_name_is_an_attribute_error_that_lists_the_known_ones():
    with pytest.raises(AttributeError, match="no attribute 'Elmo'.*ELMo"):
        elmo.Elmo  # noqa: B018
    with pytest.raises(ImportError):
        from elmo import nothing_of_this_name  # noqa: F401


def test_the_config_is_had_without_torch():
    code = "import sys; from elmo import BiLMConfig; BiLMConfig(); sys.exit('torch' in sys.modules)"
    root = str(Path(elmo.__file__).parents[1])
    subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {root!r}); {code}"], check=True)


def test_the_version_is_written_once():
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"]
    source = PYPROJECT.parent / project["tool"]["hatch"]["version"]["path"]
    assert re.findall(r'^__version__ = "(.*)"$', source.read_text(encoding="utf-8"), re.M) == [elmo.__version__]
    assert re.fullmatch(r"\d+\.\d+\.\d+", elmo.__version__)
