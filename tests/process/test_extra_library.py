"""A library that is missing is told apart from one that is broken."""

import sys

import pytest

from elmo.errors import MissingExtraError
from elmo.process.extra_library import extra_library


def test_a_module_of_a_library_that_is_there_is_given():
    assert extra_library("json.decoder", "data", "reading").JSONDecoder


@pytest.mark.parametrize("absent", ["no_such_library", "no_such_library.part"])
def test_a_missing_library_names_its_extra(absent):
    told = r"drawing needs no_such_library, which is not installed. Install it with: pip install 'pyelmo\[analysis\]'"
    with pytest.raises(MissingExtraError, match=told):
        extra_library(absent, "analysis", "drawing")


@pytest.mark.parametrize("content", ["import not_there_either", "raise ImportError('built for another numpy')"])
def test_a_library_that_is_broken_is_not_called_missing(tmp_path, monkeypatch, content):
    (tmp_path / "broken_library.py").write_text(content, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="not_there_either|built for another numpy") as error:
        extra_library("broken_library", "analysis", "drawing")
    assert not isinstance(error.value, MissingExtraError)
    assert "broken_library" not in sys.modules
