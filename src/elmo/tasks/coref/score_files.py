"""The official figures of two files: a key and a response, in CoNLL-2012 columns or JSON lines."""

from pathlib import Path
from typing import Any

from elmo.errors import TextError
from elmo.tasks.coref.documents import Document
from elmo.tasks.coref.formats.read import read_documents
from elmo.tasks.coref.score import coreference_scores, require_scorable


def score_documents(key: list[Document], response: list[Document]) -> dict[str, Any]:
    """`coreference_scores` of the documents of the key.

    Documents are matched by name and part, in any order. One that the response lacks counts as one without
    clusters; one that the key lacks is ignored. Raises TextError for a response that the official scorer refuses, and
    for a document of other words or length.
    """
    found = {document.key: document for document in response}
    pairs = []
    for document in key:
        other = found.get(document.key)
        if other is not None:
            require_scorable(other.clusters, other.source)
            _require_same_words(document, other)
        pairs.append((document.clusters, () if other is None else other.clusters))
    scores = coreference_scores(pairs)
    return {
        **scores,
        "documents": len(key),
        "documents_without_response": sum(document.key not in found for document in key),
    }


def score_files(key: Path | str, response: Path | str, encoding: str = "utf-8") -> dict[str, Any]:
    """`score_documents` of two files."""
    return score_documents(read_documents(key, encoding), read_documents(response, encoding))


def _require_same_words(key: Document, response: Document) -> None:
    if key.tokens == response.tokens:
        return
    if key.num_tokens != response.num_tokens:
        what = f"has {response.num_tokens} words, but in the key ({key.source}) it has {key.num_tokens}"
    else:
        rows = zip(key.tokens, response.tokens, strict=True)
        place, (ours, theirs) = next((place, row) for place, row in enumerate(rows) if row[0] != row[1])
        what = f"has the word {theirs!r} at {place}, but in the key ({key.source}) it is {ours!r}"
    raise TextError(
        f"{response.source}: the document {response.name!r} {what}: their mentions can't be compared. Score "
        "the response to this key."
    )
