"""GET / and /docs: what this server is, for a person who opens its address in a browser."""

from html import escape
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from elmo.serve.service import Service, service_of
from elmo.version import __version__

if TYPE_CHECKING:
    from elmo.serve.operations import Operation

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>elmo serve</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }}
code, pre {{ font-family: ui-monospace, monospace; font-size: .9em }}
pre {{ overflow-x: auto; padding: .8rem; border: 1px solid #8886; border-radius: 6px }}
td, th {{ text-align: left; vertical-align: top; padding: .2rem 1rem .2rem 0 }}
table {{ display: block; overflow-x: auto }}
</style>
<h1>elmo serve</h1>
<p>ELMo's vectors over HTTP, with the interface of OpenAI's embeddings API. Version {version}.</p>
<h2>Models</h2>
<table>
<tr><th>name<th>layers<th>dimensions
{models}
</table>
<h2>A first request</h2>
<pre>curl http://ADDRESS/v1/embeddings \\
  -H 'Content-Type: application/json' \\
  -d '{{"input": ["The river bank was steep."], "model": "{first}"}}'</pre>
<p>ADDRESS is what stands in your browser's address bar. A client of OpenAI's API needs the base URL
<code>http://ADDRESS/v1</code>. A text is split into tokens by the rule <code>{tokenizer}</code>; one request
holds up to {max_inputs:,} texts.</p>
<h2>Paths</h2>
<table>
{paths}
</table>
<p><a href="/openapi.json">/openapi.json</a> has every field and type.</p>
</html>
"""


def page(service: Service, operations: "tuple[Operation, ...]") -> str:
    """The page."""
    described = [(model.name, model.embedder) for model in service.models.values()]
    models = (f"<tr><td><code>{escape(name)}</code><td>{it.num_layers}<td>{it.layer_dim}" for name, it in described)
    paths = (f"<tr><td><code>{it.method}&nbsp;{escape(it.path)}</code><td>{escape(it.summary)}" for it in operations)
    return _PAGE.format(
        version=__version__,
        models="\n".join(models),
        first=escape(described[0][0]),
        tokenizer=escape(service.settings.tokenizer),
        max_inputs=service.settings.max_inputs,
        paths="\n".join(paths),
    )


async def answer(request: Request) -> Response:
    """Answers / and /docs."""
    from elmo.serve.operations import OPERATIONS  # which names this module

    return Response(page(service_of(request), OPERATIONS), headers=_HEADERS, media_type="text/html")
