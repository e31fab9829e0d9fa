"""The ASGI app: routes, the gate before them, errors as JSON, and the compute thread as long as the app lives."""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Route

from elmo.errors import ElmoError
from elmo.serve.answers import answer_error
from elmo.serve.gate import Gate
from elmo.serve.models import ServedModel
from elmo.serve.refusals import Refusal
from elmo.serve.routes import embeddings, status
from elmo.serve.service import Service
from elmo.serve.settings import ServeSettings


def create_app(
    models: Sequence[ServedModel],
    settings: ServeSettings | None = None,
    *,
    extra_routes: Sequence[BaseRoute] = (),
) -> Starlette:
    """An ASGI app that serves models; `server.run` or any ASGI server runs it, in one process and one event loop.

    `models`: those that requests can name; the first answers those that name none.
    `settings`: limits, keys and hosts; default: no key, loopback hosts.
    `extra_routes`: further Starlette routes, which pass the same gate. What a route of yours needs:

        async def answer(request):
            service = service_of(request)                       # elmo.serve.service
            asked = await service.read(request, MyRequest)      # a msgspec Struct; limits and errors are dealt with
            model = service.model(asked.model)                  # ServedModel: .embedder, .substitutes
            arrays = await service.batcher.embed(model.embedder, [["a", "sentence"]], "all", service.deadline())
            found = await service.run(lambda: search(index, arrays))    # in the compute thread, never in the loop
            return json_answer(MyAnswer(found))                 # elmo.serve.answers

        create_app(models, extra_routes=[Route("/explorer/api/search", answer, methods=["POST"])])

    What it raises becomes an answer: a Refusal (`invalid(message, param)` for status 400) as it says, an ElmoError
    status 400 with its message, anything else 500. Don't decide on `request.url`, which is made from the Host header,
    but on `request.scope["path"]`. With a key set, only /health and /ready are open without it.
    """
    settings = settings or ServeSettings()
    service = Service(models, settings)
    app = Starlette(
        routes=[*_ROUTES, *extra_routes],
        middleware=[Middleware(Gate, settings=settings)],
        exception_handlers=dict.fromkeys((Refusal, HTTPException, ElmoError, Exception), answer_error),
        lifespan=service.lifespan,
    )
    app.router.redirect_slashes = False  # redirections are made from the Host header
    app.state.service = service
    return app


_ROUTES = (
    Route(embeddings.PATH, embeddings.answer, methods=["POST"]),
    Route("/v1/models", status.models, methods=["GET"]),
    Route("/info", status.info, methods=["GET"]),
    Route("/health", status.health, methods=["GET"]),
    Route("/ready", status.ready, methods=["GET"]),
)
