"""POST /rerank: documents by how well they answer a query, token by token (`elmo.maxsim`).

Two shapes: `documents`, as clients of Cohere and Jina send them, and `texts`, as those of Hugging Face's
text-embeddings-inference do.
"""

from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from elmo.embed.results.similarity import maxsim
from elmo.serve.answers import invalid, json_answer
from elmo.serve.inputs import Text, TextRequest, listed, read_texts
from elmo.serve.service import service_of
from elmo.serve.vectors import Usage


class Document(msgspec.Struct):
    """A text; further fields are ignored."""

    text: str


class RerankRequest(TextRequest):
    """A query, and what may answer it: `documents` or `texts`."""

    query: Text
    """A text, or the list of its tokens."""
    documents: list[str | list[str] | Document] | None = None
    """Texts, lists of tokens, or objects with a text."""
    texts: list[Text] | None = None
    """In place of `documents`: the answer is then that of text-embeddings-inference, a list."""
    top_n: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """How many results, the best; null: all."""
    return_documents: bool | None = None
    """Whether results have the text of their document."""
    return_text: bool | None = None
    """The same, of `texts`."""
    raw_scores: bool | None = None
    """Of `texts`: whether scores are sums over the query's tokens, and not means."""
    layers: str | int | list[float] = 0
    """"average", "top", an index (0: the token layer, the default; -1: the top one), or a weight for each layer."""
    truncate: bool | None = None
    """Ignored: texts are read to their end."""
    truncation_direction: str | None = None
    """Ignored."""
    max_tokens_per_doc: int | None = None
    """Ignored: texts are read to their end."""
    priority: int | None = None
    """Ignored: requests are answered in the order in which they come."""


class Result(msgspec.Struct, omit_defaults=True):
    """A document of the request."""

    index: int
    """Which of the documents, from 0."""
    relevance_score: float
    """The mean, over the query's tokens, of the largest cosine with any token of the document: -1 to 1."""
    document: Document | None = None


class Reranked(msgspec.Struct):
    """The documents, the best first."""

    results: list[Result]
    model: str
    usage: Usage


class Rank(msgspec.Struct, omit_defaults=True):
    """One of `texts`."""

    index: int
    """Which of the texts, from 0."""
    score: float
    """As `relevance_score`; with `raw_scores` the sum."""
    text: str | None = None


async def answer(request: Request) -> Response:
    service = service_of(request)
    deadline = service.deadline()
    body = await service.read(request, RerankRequest)
    model = service.model(body.model)
    if body.layers == "all":
        raise invalid(
            "layers is 'all', but documents are compared by one vector a token. Use 'average', 'top', an index or a "
            "weight for each layer.",
            "layers",
        )
    field, given = _given(body)
    texts: dict[str, Text] = {"query": body.query} | listed(given, field, service.settings)
    read = await read_texts(texts, body.tokenizer, model, service.settings)
    query, *documents = read.sentences
    if not query:
        raise invalid("query has no tokens, so nothing can be compared with it. Send a text.", "query", "empty")
    (vectors,) = await service.embed(request, model, [query], body.layers, deadline)

    def score(array: np.ndarray) -> np.ndarray:
        return maxsim([vectors], [array])[0]

    # Each document's vectors are compared and forgotten, batch by batch.
    scores = np.concatenate(await service.embed(request, model, documents, body.layers, deadline, then=score))
    best: list[int] = np.argsort(-scores, kind="stable")[: body.top_n].tolist()
    if not body.raw_scores or field == "documents":
        scores = scores / len(query)
    if field == "texts":
        ranks = [Rank(i, float(scores[i]), _text(given[i]) if body.return_text else None) for i in best]
        return json_answer(ranks, headers=read.headers)
    tokens = sum(map(len, read.sentences))
    shown = [Document(_text(one)) if body.return_documents else None for one in given]
    results = [Result(i, float(scores[i]), shown[i]) for i in best]
    return json_answer(Reranked(results, model.name, Usage(tokens, tokens)), headers=read.headers)


def _given(body: RerankRequest) -> tuple[str, Sequence[Text]]:
    if (body.documents is None) == (body.texts is None):
        raise invalid(
            "a request has either documents (as clients of Cohere and Jina send them) or texts (as those of "
            f"text-embeddings-inference do), and this one has {'neither' if body.texts is None else 'both'}. Send one "
            "of them.",
            "documents",
        )
    if body.texts is not None:
        return "texts", body.texts
    return "documents", [it.text if isinstance(it, Document) else it for it in body.documents or ()]


def _text(given: Text) -> str:
    return " ".join(given) if isinstance(given, list) else given
