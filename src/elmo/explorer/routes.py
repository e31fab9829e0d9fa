"""The page's paths: its files, and its API, whose answers are those of `Explored`.

GET  /explorer                   the page, with the answers for what it opens on inside it
GET  /explorer/NAME              its files
GET  /explorer/saved.html        the page as one file without data, for "Save as page"
GET  /explorer/api/info, /mixes  the models, and mixes learned by tasks
POST /explorer/api/...           a request in JSON for each view
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from elmo.explorer import frozen, page_files
from elmo.explorer.explored import Explored
from elmo.explorer.quality import Mix
from elmo.explorer.texts import MOST_TOKENS
from elmo.explorer.views import Marked
from elmo.serve.answers import Refusal, invalid, json_answer
from elmo.serve.inputs import read_texts
from elmo.serve.service import service_of
from elmo.text.word_list import has_surrogate

R = TypeVar("R")

PATH = "/explorer"
API = f"{PATH}/api"
_MOST_CHARACTERS = 50 * MOST_TOKENS
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Selected(msgspec.Struct, forbid_unknown_fields=True):
    """A sentence and the place of one of its tokens, from 0."""

    tokens: list[str]
    place: int

    def checked(self) -> Marked:
        """Raises Refusal for what is not a sentence or no place in it."""
        _require_tokens(self.tokens)
        if not 0 <= self.place < len(self.tokens):
            raise invalid(
                f"place is {self.place}, but the sentence has {len(self.tokens)} tokens. Use 0 to "
                f"{len(self.tokens) - 1}.",
                "place",
            )
        return self.tokens, self.place


class ModelRequest(msgspec.Struct, forbid_unknown_fields=True):
    """What the index of a model's text holds."""

    model: str


class SelectedRequest(ModelRequest):
    """The steps by which the vectors of a token are computed."""

    selected: Selected


class NeighborsRequest(SelectedRequest):
    """The tokens of the index nearest to a selected one."""

    count: int = 6
    weights: list[float] | None = None
    noun: str | None = None
    """Korean: what the selected token is with its particles; words that are it with others count as the same word."""


class OccurrencesRequest(ModelRequest):
    """All occurrences of the selected words on a plane."""

    selected: list[Selected]
    weights: list[float] | None = None
    limit: int = 300


class SimilarityRequest(ModelRequest):
    """The tokens of two sentences compared."""

    a: list[str]
    b: list[str]
    weights: list[float] | None = None


class SubstitutesRequest(SelectedRequest):
    """Words for a place."""

    count: int = 10


class TokensRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The tokens of a sentence that a person typed."""

    text: str
    model: str | None = None
    """The model that will read it, for warnings."""


@dataclass(frozen=True)
class Page:
    """The page over some models; the first is the one it opens on."""

    models: dict[str, Explored]
    mixes: Sequence[Mix] = ()

    def routes(self) -> list[BaseRoute]:
        """For `create_app(..., extra_routes=...)`, with the same models."""
        posts = {
            "neighbors": (NeighborsRequest, self._neighbors),
            "occurrences": (OccurrencesRequest, self._occurrences),
            "similarity": (SimilarityRequest, self._similarity),
            "substitutes": (SubstitutesRequest, self._substitutes),
            "computation": (SelectedRequest, self._computation),
            "text": (ModelRequest, self._text),
        }
        return [
            Route("/", _to_page, methods=["GET"]),
            Route(PATH, self._page, methods=["GET"]),
            Route(f"{API}/info", self._info, methods=["GET"]),
            Route(f"{API}/mixes", self._mixes, methods=["GET"]),
            *(Route(f"{API}/{name}", partial(_post, *post), methods=["POST"]) for name, post in posts.items()),
            Route(f"{API}/tokens", self._tokens, methods=["POST"]),
            Route(f"{PATH}/saved.html", _saved, methods=["GET"]),
            Route(f"{PATH}/{{name:path}}", _file, methods=["GET"]),
        ]

    async def _page(self, request: Request) -> Response:
        first = next(iter(self.models.values()))
        answers = await _computed(request, partial(frozen.opening_answers, self.models, first), tokens=50)
        return Response(page_files.live_page(answers), headers=_HEADERS, media_type="text/html")

    async def _info(self, request: Request) -> Response:
        return json_answer(await _computed(request, partial(frozen.info, self.models)))

    async def _mixes(self, _: Request) -> Response:
        return json_answer(self.mixes)

    def _neighbors(self, asked: NeighborsRequest) -> tuple[int, Callable[[], object]]:
        model, selected = self._model(asked.model), asked.selected.checked()
        count = _checked_count(asked.count, 20, "count")
        if asked.noun is not None:
            _require_noun(asked.noun, selected[0][selected[1]])
        return len(selected[0]), lambda: model.neighbors(selected, count, asked.weights, asked.noun)

    def _occurrences(self, asked: OccurrencesRequest) -> tuple[int, Callable[[], object]]:
        model, selected = self._model(asked.model), [one.checked() for one in asked.selected]
        _checked_count(len(selected), 4, "selected")
        limit = _checked_count(asked.limit, 300, "limit")
        # The pictures of 300 points cost about as much as embedding a few hundred tokens.
        return 300, lambda: model.occurrences(selected, limit, asked.weights)

    def _similarity(self, asked: SimilarityRequest) -> tuple[int, Callable[[], object]]:
        model = self._model(asked.model)
        _require_tokens(asked.a)
        _require_tokens(asked.b)
        return len(asked.a) + len(asked.b), lambda: model.similarity(asked.a, asked.b, asked.weights)

    def _substitutes(self, asked: SubstitutesRequest) -> tuple[int, Callable[[], object]]:
        model, selected = self._model(asked.model), asked.selected.checked()
        count = _checked_count(asked.count, 20, "count")
        return len(selected[0]), lambda: model.substitutes(selected, count)

    def _computation(self, asked: SelectedRequest) -> tuple[int, Callable[[], object]]:
        model, selected = self._model(asked.model), asked.selected.checked()
        # The sentence is read once by plain loops, and its ends a few times.
        return 4 * len(selected[0]), lambda: model.computation(selected)

    async def _tokens(self, request: Request) -> Response:
        """What would make the model's vectors of them poor is in the header Warning."""
        service = service_of(request)
        asked = await service.read(request, TokensRequest)
        model = self._model(asked.model) if asked.model is not None else next(iter(self.models.values()))
        if len(asked.text) > _MOST_CHARACTERS:
            raise invalid(
                f"the text has {len(asked.text):,} characters, but the page reads {_MOST_CHARACTERS:,} at most. Write "
                "a shorter sentence; for a corpus use 'elmo embed'.",
                "text",
            )
        texts = await read_texts({"text": asked.text}, "auto", model.model, service.settings)
        _require_tokens(texts.sentences[0])
        return json_answer(texts.sentences[0], headers=texts.headers)

    def _text(self, asked: ModelRequest) -> tuple[int, Callable[[], object]]:
        return 1, self._model(asked.model).text_info

    def _model(self, name: str) -> Explored:
        if name not in self.models:
            raise Refusal(
                404,
                f"there is no model {name[:100]!r} here. This page has: {', '.join(self.models)}. Use one of these.",
                "model_not_found",
                param="model",
            )
        return self.models[name]


async def _post(
    expected: type[msgspec.Struct], prepare: Callable[..., tuple[int, Callable[[], object]]], request: Request
) -> Response:
    tokens, compute = prepare(await service_of(request).read(request, expected))
    return json_answer(await _computed(request, compute, tokens=tokens))


async def _computed(request: Request, compute: Callable[[], R], *, tokens: int = 1) -> R:
    service = service_of(request)
    return await service.run(request, compute, service.deadline(), tokens=tokens)


async def _to_page(_: Request) -> Response:
    return RedirectResponse(PATH, 303)


async def _saved(_: Request) -> Response:
    return Response(page_files.saved_page(), headers=_HEADERS, media_type="text/html")


async def _file(request: Request) -> Response:
    found = page_files.file_of(request.path_params["name"])
    if found is None:
        raise Refusal(404, "the page has no such file. Open it at /explorer.", "not_found")
    content, media_type = found
    return Response(content, headers=_HEADERS, media_type=media_type)


def _require_tokens(tokens: list[str]) -> None:
    if not 1 <= len(tokens) <= MOST_TOKENS:
        raise invalid(
            f"the sentence has {len(tokens)} tokens, but the page shows 1 to {MOST_TOKENS}. Write a shorter one; for a "
            "corpus use 'elmo embed'.",
            "tokens",
        )
    if any(token.split() != [token] or has_surrogate(token) for token in tokens):
        raise invalid("a token is empty, or contains a space or a lone surrogate. Send words without spaces.", "tokens")


def _require_noun(noun: str, token: str) -> None:
    if not noun or not token.startswith(noun):
        raise invalid(
            f"the noun is {noun[:100]!r}, but the selected token {token[:100]!r} does not begin with it. Send the "
            "token without its particles.",
            "noun",
        )


def _checked_count(count: int, most: int, name: str) -> int:
    if not 1 <= count <= most:
        raise invalid(f"{name} must be 1 to {most} (got {count}).", name)
    return count
