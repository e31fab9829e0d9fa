"""A document in CoNLL columns that anybody could resolve."""

import pytest

CONLL = """\
#begin document (nw/anna); part 000
nw/anna   0   0   Anna     NNP   *   -   -   -   A   *   (1)
nw/anna   0   1   saw      VBD   *   -   -   -   A   *   -
nw/anna   0   2   her      PRP   *   -   -   -   A   *   (2|(1)
nw/anna   0   3   dog      NN    *   -   -   -   A   *   2)
nw/anna   0   4   /.       .     *   -   -   -   A   *   -

nw/anna   0   0   It       PRP   *   -   -   -   B   *   (2)
nw/anna   0   1   (2)      CD    *   -   -   -   B   *   -
nw/anna   0   2   barked   VBD   *   -   -   -   B   *   -

#end document
"""


@pytest.fixture
def conll_text() -> str:
    return CONLL


@pytest.fixture
def conll_file(tmp_path):
    path = tmp_path / "anna.conll"
    path.write_text(CONLL, encoding="utf-8")
    return path
