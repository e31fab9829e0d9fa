"""Answers kept with the page: what it opens on, and pages that work without a server.

A kept answer lies under a key that the page makes in the same way: the route's name, a blank, and the request as JSON
with its fields in the order of the request's type.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from elmo.disk.atomic import new_folder
from elmo.explorer.explored import Explored
from elmo.explorer.page_files import saved_page
from elmo.explorer.texts import SOURCES_FILE, Example
from elmo.explorer.views import Marked
from elmo.version import __version__

Answers = dict[str, Any]
EXPORTED = frozenset({"index.html", "answers.json", "SOURCES.tsv"})
COUNT, GAP_COUNT = 6, 10
"""How many neighbors and words for a gap the page asks for."""


class PageInfo(msgspec.Struct):
    """What the page knows before it asks for a view."""

    version: str
    models: list[Any]


def info(models: Mapping[str, Explored]) -> PageInfo:
    """The models of a page."""
    return PageInfo(__version__, [model.info() for model in models.values()])


def opening_answers(models: Mapping[str, Explored], first: Explored) -> str:
    """As JSON: what the page shows before its first request: its models, and the neighbors of the first example."""
    answers: Answers = {"info": info(models)}
    for example in first.info().examples[:1]:
        for selected in zip(example.sentences, example.places, strict=True):
            answers |= dict([_neighbors(first, selected, example.noun)])
    return _json({"is_complete": False, "answers": answers})


def all_answers(models: Mapping[str, Explored]) -> str:
    """As JSON: every view of every example of the models."""
    answers: Answers = {"info": info(models), "mixes": []}
    for model in models.values():
        answers |= dict(_of_text(model))
        for example in model.info().examples:
            answers |= dict(_of_example(model, example))
    return _json({"is_complete": True, "answers": answers})


def export(models: Mapping[str, Explored], folder: Path, *, force: bool = False) -> None:
    """Writes a folder that shows the examples without a server: `index.html`, the answers in it as `answers.json`, and
    where the sentences come from. Raises OutputError if the folder exists, unless `force`."""
    answers = all_answers(models)
    page = saved_page(answers)
    with new_folder(folder, size=2 * len(page.encode()), force=force, replaceable=EXPORTED) as unfinished:
        (unfinished / "index.html").write_text(page, encoding="utf-8")
        (unfinished / "answers.json").write_text(answers, encoding="utf-8")
        (unfinished / "SOURCES.tsv").write_bytes(SOURCES_FILE.read_bytes())


def _of_text(model: Explored) -> Iterator[tuple[str, Any]]:
    if model.text is not None:
        yield _key("text", {"model": model.model.name}), model.text_info()


def _of_example(model: Explored, example: Example) -> Iterator[tuple[str, Any]]:
    name, sentences = model.model.name, example.sentences
    marked: list[Marked] = list(zip(sentences, example.places, strict=True))
    for selected in marked:
        yield _neighbors(model, selected, example.noun)
        if model.model.substitutes is not None:
            request = {"model": name, "selected": _selected(selected), "count": GAP_COUNT}
            yield _key("substitutes", request), model.substitutes(selected, GAP_COUNT)
        yield from _computation(model, selected)
    if model.text is not None:
        request = {"model": name, "selected": [*map(_selected, marked)], "weights": None, "limit": 300}
        yield _key("occurrences", request), model.occurrences(marked, 300, None)
    for a, b in ((sentences[0], sentences[-1]), (sentences[0], sentences[0])):
        request = {"model": name, "a": a, "b": b, "weights": None}
        yield _key("similarity", request), model.similarity(a, b, None)


def _neighbors(model: Explored, selected: Marked, noun: str | None) -> tuple[str, Any]:
    fields = {"selected": _selected(selected), "count": COUNT, "weights": None, "noun": noun}
    return _key("neighbors", {"model": model.model.name, **fields}), model.neighbors(selected, COUNT, None, noun)


def _computation(model: Explored, selected: Marked) -> Iterator[tuple[str, Any]]:
    """With the words that the top layer predicts on both sides."""
    (tokens, place), name = selected, model.model.name
    if not model.has_computation:
        return
    yield _key("computation", {"model": name, "selected": _selected(selected)}), model.computation(selected)
    for beside in (place - 1, place + 1):
        if model.model.substitutes is not None and 0 <= beside < len(tokens):
            request = {"model": name, "selected": _selected((tokens, beside)), "count": GAP_COUNT}
            yield _key("substitutes", request), model.substitutes((tokens, beside), GAP_COUNT)


def _selected(marked: Marked) -> dict[str, Any]:
    return {"tokens": list(marked[0]), "place": marked[1]}


def _key(route: str, request: dict[str, Any]) -> str:
    return f"{route} {json.dumps(request, ensure_ascii=False, separators=(',', ':'))}"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
