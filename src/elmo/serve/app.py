"""The ASGI app: routes, access control before them, errors as JSON, and the compute thread as long as the app lives."""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from elmo.errors import ElmoError
from elmo.serve.access import AccessControl
from elmo.serve.answers import Refusal, answer_error, json_answer
from elmo.serve.metrics import Metered
from elmo.serve.models import ServedModel
from elmo.serve.operations import OPERATIONS, openapi
from elmo.serve.service import Service
from elmo.serve.settings import ServeSettings


def create_app(
    models: Sequence[ServedModel],
    settings: ServeSettings | None = None,
    *,
    extra_routes: Sequence[BaseRoute] = (),
) -> Starlette:
    """An ASGI app that serves models; `listening.run` or any ASGI server runs it, in one process and one event loop.

    `models`: those that requests can name; the first answers those that name none.
    `settings`: limits, keys and hosts; default: no key, loopback hosts.
    `extra_routes`: further Starlette routes, which pass the same access control and may use the app's `service_of`;
    docs/serving.md has an example.

    What such a route raises becomes an answer: a Refusal (`invalid(message, param)` for status 400) as it says, an
    ElmoError status 400 with its message, anything else 500. Don't decide on `request.url`, which is made from the
    Host header, but on `request.scope["path"]`. With a key set, only /health and /ready are open without it.
    """
    settings = settings or ServeSettings()
    own_routes = [operation.route for operation in OPERATIONS]
    described = Route("/openapi.json", _openapi, methods=["GET"])
    routes = [*own_routes, described, *extra_routes]
    service = Service(models, settings, [route for route in routes if isinstance(route, Route)])
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(_WithoutSlash),
            Middleware(Metered, metrics=service.metrics),
            Middleware(AccessControl, settings=settings),
        ],
        exception_handlers=dict.fromkeys((Refusal, HTTPException, ElmoError, Exception), answer_error),
        lifespan=service.lifespan,
    )
    app.router.redirect_slashes = False  # redirections are made from the Host header
    app.state.service = service
    return app


class _WithoutSlash:
    """ASGI middleware: ignores a slash at the end of a path. Outermost: access control sees the path as routes do."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "path": scope["path"].rstrip("/") or "/"}
        await self._app(scope, receive, send)


async def _openapi(request: Request) -> Response:
    return json_answer(openapi())
