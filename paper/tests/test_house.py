"""The laboratory keeps the house's rules: no names that say nothing, and a docstring everywhere."""

from pathlib import Path

from tests.test_house import FORBIDDEN_NAMES, sources, undocumented

import elmo_paper

ROOT = Path(elmo_paper.__file__).parent


def test_no_file_has_a_name_that_says_nothing():
    parts = {part.removesuffix(".py").strip("_") for path in sources(ROOT) for part in path.parts}
    assert parts & FORBIDDEN_NAMES == set()


def test_every_public_function_and_class_has_a_docstring():
    assert undocumented(ROOT) == []
