"""A tiny model with a tiny text, as the page explores it; and the page over the bundled models, in a real browser."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.explorer.opened import Opened

from elmo.embed.embedder import Embedder
from elmo.explorer.explored import Explored
from elmo.explorer.texts import ExploredText
from elmo.serve.models import ServedModel

TEXT = """the bank of the river was steep
he went to the bank to get money
the cat sat on the mat
a cat and a dog sat on the river bank
money is in the bank
the dog went to the river
"""


@pytest.fixture
def explored(tiny_bilm, tmp_path) -> Explored:
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    return Explored(ServedModel("tiny", Embedder(tiny_bilm)), ExploredText(tmp_path / "text.txt", "text.txt"))


@pytest.fixture(scope="session")
def models() -> dict[str, Explored]:
    """The bundled models."""
    return {name: Explored.load(name) for name in ("small-en", "small-ko")}


@pytest.fixture(scope="session")
def address(models) -> Iterator[str]:
    with serving(models) as address:
        yield address


@contextmanager
def serving(models: dict[str, Explored]) -> Iterator[str]:
    """The page over some models, served in a thread."""
    from tests.serve.conftest import running

    from elmo.explorer.served import Page

    for model in models.values():
        model.index()
    with running([model.model for model in models.values()], routes=Page(models).routes()) as live:
        yield live.url


@pytest.fixture
def opened(browser, address) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": 1180, "height": 900}, accept_downloads=True, locale="en-US")
    page = Opened(context.new_page())
    yield page
    foreign = [url for url in page.requests if not url.startswith((address, "file://", "data:", "blob:"))]
    assert foreign == []
    assert page.problems == []
    context.close()


@pytest.fixture
def start(opened, address) -> Opened:
    opened.go(f"{address}/explorer")
    return opened
