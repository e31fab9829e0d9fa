"""The page as `elmo explore` serves it: its worker asks this process for the layers of tokens, and for files.

GET  /explorer                    the page
GET  /explorer/MODEL/FILE         text.txt: the text that is searched; lengths.npy, layer-0.npy, ...: its index;
                                  vocab.txt; model.safetensors: all tensors, to follow how a vector is computed
POST /explorer/MODEL/layers       {"sentences": [[token, ...], ...]} -> float32 (layers, tokens, dim) of each, in turn
POST /explorer/MODEL/substitutes  {"tokens": [...], "place": 0, "count": 10} -> words for a place, by direction
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial

import msgspec
import numpy as np
from safetensors.numpy import save
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from elmo.analysis.neighbors.index_files import LENGTHS_FILE, layer_file
from elmo.explorer.explored import Explored, Mix
from elmo.explorer.page_files import Engine, kept, page
from elmo.serve.answers import Refusal, json_answer
from elmo.serve.service import service_of

PATH = "/explorer"
_HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class LayersRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Sentences to read, each from a zero state."""

    sentences: list[list[str]]


class SubstitutesRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A place of a sentence, from 0, and the number of words for it."""

    tokens: list[str]
    place: int
    count: int


@dataclass(frozen=True)
class Page:
    """The page over some models; the first is the one it opens on."""

    models: dict[str, Explored]
    mixes: Sequence[Mix] = ()

    def routes(self) -> list[BaseRoute]:
        """For `create_app(..., extra_routes=...)`, with the same models."""
        of_model = f"{PATH}/{{model}}"
        return [
            Route("/", _to_page, methods=["GET"]),
            Route(PATH, self._page, methods=["GET"]),
            Route(f"{of_model}/layers", self._layers, methods=["POST"]),
            Route(f"{of_model}/substitutes", self._substitutes, methods=["POST"]),
            Route(f"{of_model}/{{file}}", self._file, methods=["GET"]),
        ]

    @cached_property
    def _content(self) -> str:
        engines = {
            name: Engine(
                tokens_in_source=None if model.text is None else model.index().facts.tokens_in_source,
                has_vocabulary=model.model.embedder.vocabulary is not None,
                config=asdict(model.model.embedder.config),
            )
            for name, model in self.models.items()
        }
        return page(kept(self.models, self.mixes, engines, served=f"{PATH}/"))

    def _page(self, _: Request) -> Response:
        return Response(self._content, headers=_HEADERS, media_type="text/html")

    async def _layers(self, request: Request) -> Response:
        service, model = service_of(request), self._model(request).model
        asked = await service.read(request, LayersRequest)
        arrays = await service.embed(request, model, asked.sentences, "all", service.deadline())
        content = b"".join(np.ascontiguousarray(array, "<f4").data for array in arrays)
        return Response(content, headers=_HEADERS, media_type="application/octet-stream")

    async def _substitutes(self, request: Request) -> Response:
        service, model = service_of(request), self._model(request).model
        asked = await service.read(request, SubstitutesRequest)
        if model.substitutes is None:
            raise Refusal(404, f"{model.name} has no softmax, so it can't predict words. Use another model.", "none")
        predict = partial(model.substitutes, asked.tokens, asked.place, asked.count)
        return json_answer(await service.run(request, predict, service.deadline(), tokens=len(asked.tokens)))

    def _file(self, request: Request) -> Response:
        """In a thread of its own: the tensors of a large model are many."""
        model, name = self._model(request), request.path_params["file"]
        embedder = model.model.embedder
        if name == "model.safetensors":
            tensors = {key: np.ascontiguousarray(tensor) for key, tensor in embedder.checkpoint.tensors.items()}
            return Response(save(tensors), headers=_HEADERS, media_type="application/octet-stream")
        if name == "vocab.txt" and embedder.vocabulary is not None:
            return _text("".join(f"{word}\n" for word in embedder.vocabulary))
        if model.text is not None:
            index = model.index()
            if name == "text.txt":
                return _text("".join(f"{' '.join(sentence)}\n" for sentence in index.sentences))
            if name in (LENGTHS_FILE, *map(layer_file, range(index.num_layers))):
                return FileResponse(index.folder / name, headers=_HEADERS, media_type="application/octet-stream")
        raise Refusal(404, "the page has no such file. Open it at /explorer.", "not_found")

    def _model(self, request: Request) -> Explored:
        # A page of another site can post anything but this type without asking the server first.
        if request.method == "POST" and not request.headers.get("content-type", "").startswith("application/json"):
            raise Refusal(
                415, "only JSON is read. Send the header 'Content-Type: application/json'.", "unsupported_media_type"
            )
        name = request.path_params["model"]
        if name not in self.models:
            raise Refusal(404, f"there is no model {name[:100]!r} here. Open the page at /explorer.", "model_not_found")
        return self.models[name]


async def _to_page(_: Request) -> Response:
    return RedirectResponse(PATH, 303)


def _text(content: str) -> Response:
    return Response(content, headers=_HEADERS, media_type="text/plain")
