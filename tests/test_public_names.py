"""`from elmo import ...`: every promised name is there, and is what its module defines."""

import inspect
import re
import tomllib
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

import elmo

CLASSES = {"BiLM", "BiLMConfig", "ELMo", "Embedder", "EmbeddedText", "Progress", "ScalarMix", "StoredVectors"}
ERRORS = {
    *("ConfigError", "ElmoError", "Interrupted", "MissingExtraError", "OutOfMemory", "OutputError", "TextError"),
    *("TextWarning", "WeightFileError"),
}
FUNCTIONS = {
    *("embed_corpus", "load_task_model", "log_probabilities", "maxsim", "nearest", "perplexity"),
    *("plot_mix", "plot_similarity", "plot_uses"),
    *("read_vectors", "similarity", "substitutes"),
}
PROMISED = CLASSES | ERRORS | FUNCTIONS | {"__version__"}
PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def test_the_promised_names_are_the_public_ones():
    assert set(elmo.__all__) == PROMISED
    assert set(dir(elmo)) == PROMISED


@pytest.mark.parametrize("name", sorted(CLASSES | ERRORS))
def test_each_name_is_its_class(name):
    value = getattr(elmo, name)
    assert isinstance(value, type)
    assert value.__name__ == name
    assert getattr(import_module(value.__module__), name) is value


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_each_function_has_a_docstring_and_names_every_argument(name):
    value = getattr(elmo, name)
    assert (value.__doc__ or "").strip()
    kinds = {it.kind for it in inspect.signature(value).parameters.values()}
    assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}


def test_public_methods_name_every_argument():
    found = []
    for name in sorted(CLASSES - {"BiLM", "BiLMConfig"}):
        for method, value in inspect.getmembers(getattr(elmo, name), callable):
            if method[0] == "_" or not str(getattr(value, "__module__", "")).startswith("elmo"):
                continue
            kinds = [it.kind for it in inspect.signature(value).parameters.values()]
            if inspect.Parameter.VAR_KEYWORD in kinds:
                found.append(f"{name}.{method}")
    assert found == []


def test_the_docstring_names_all():
    assert {name for name in PROMISED - {"__version__"} if not re.search(rf"\b{name}\b", elmo.__doc__ or "")} == set()


def test_an_unknown_name_is_an_attribute_error_that_lists_the_known_ones():
    with pytest.raises(AttributeError, match="no attribute 'Embeder'.*Embedder"):
        elmo.Embeder  # noqa: B018
    with pytest.raises(ImportError):
        from elmo import nothing_of_this_name  # noqa: F401


def test_the_version_is_written_once():
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"]
    source = PYPROJECT.parent / project["tool"]["hatch"]["version"]["path"]
    assert re.findall(r'^__version__ = "(.*)"$', source.read_text(encoding="utf-8"), re.M) == [elmo.__version__]
    assert re.fullmatch(r"\d+\.\d+\.\d+", elmo.__version__)


def test_type_checkers_are_told_that_the_package_has_types():
    # `make types` reads a program that uses them: tests/types/program.py.
    assert files("elmo").joinpath("py.typed").is_file()


@pytest.mark.parametrize(("name", "advice"), [("Elmo", "elmo.ELMo.from_pretrained"), ("batch_to_ids", "character_ids")])
def test_names_of_allennlp_are_answered_with_ours(name, advice):
    with pytest.raises(ImportError, match=advice):
        exec(f"from elmo import {name}")
    with pytest.raises(ImportError, match=advice):
        getattr(elmo, name)
    with pytest.raises(AttributeError, match="has no attribute 'embedder'. It has: .*Embedder"):
        _ = elmo.embedder
