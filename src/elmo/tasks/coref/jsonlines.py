"""JSON lines as end-to-end coreference models read them: one object per line, each a document.

    {"doc_key": "nw/1_0", "sentences": [["Anna", "smiled", "."]], "speakers": [["-", "-", "-"]],
     "clusters": [[[0, 0], [5, 6]]]}

Mentions are [first, last] tokens of the document, both inclusive; "speakers" and "clusters" may be missing.
Source: the data format of Lee et al. 2017's code.
"""

import json
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from elmo.errors import TextError
from elmo.tasks.coref.documents import Cluster, Document, Mention, require_own_key
from elmo.tasks.labelled_lines import of_own_names, reporting
from elmo.text.files.decoding import BadLine
from elmo.text.formats.columns import UNDECODABLE
from elmo.text.reading.as_trained import as_trained
from elmo.text.word_list import has_surrogate


def jsonlines_documents(lines: Iterable[str], source: str, on_bad: BadLine | None = None) -> list[Document]:
    """The documents in the lines of a file called `source`; blank lines are left out.

    Raises TextError with file and line for what isn't such an object, mentions outside the document, mentions that end
    before they begin, and two documents of the same name. With `on_bad`, errors in a line are reported to it, and
    the line is left out.
    """
    found = []
    for number, line in enumerate(lines, start=1):
        if line.strip() and line != UNDECODABLE:
            with reporting(on_bad, number):
                found.append(_document(line, f"{source}:{number}"))
    if not found:
        raise TextError(f"{source}: there is no document in it. Check the file, and that it isn't empty.")
    return of_own_names(found, require_own_key, on_bad)


def write_jsonlines(document: Document, clusters: Mapping[str, Sequence[Mention]]) -> Iterator[str]:
    """The document's line with these clusters."""
    values: dict[str, Any] = {"doc_key": document.name, "sentences": [list(tokens) for tokens in document.sentences]}
    if document.speakers:
        values["speakers"] = [list(document.speakers[begin:end]) for begin, end in document.ranges]
    values["clusters"] = [[list(mention) for mention in mentions] for mentions in clusters.values()]
    yield json.dumps(values, ensure_ascii=False)


def _document(line: str, where: str) -> Document:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise TextError(f"{where}: is not valid JSON ({error}). Each line must be one object.") from None
    if not isinstance(values, dict) or not isinstance(values.get("doc_key"), str):
        raise TextError(f"{where}: is not an object with a string 'doc_key'. Each line must be one document.")
    _require_characters(values["doc_key"], where, "doc_key")
    sentences = _words(values.get("sentences"), where, "sentences")
    speakers = _words(values["speakers"], where, "speakers") if "speakers" in values else ()
    if speakers and list(map(len, speakers)) != list(map(len, sentences)):
        raise TextError(f"{where}: 'speakers' must have as many entries as 'sentences' has words. Fix or remove it.")
    clusters = _clusters(values.get("clusters", []), sum(map(len, sentences)), where)
    key, sentences = (values["doc_key"], ""), tuple(tuple(as_trained(list(it))) for it in sentences if it)
    ids = tuple(map(str, range(len(clusters))))
    return Document(key, sentences, tuple(chain.from_iterable(speakers)), clusters, ids, where, layout="jsonlines")


def _words(value: object, where: str, name: str) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list) or not all(isinstance(row, list) and all(map(_is_word, row)) for row in value):
        raise TextError(f"{where}: {name!r} must be a list of sentences, which are lists of words. Fix the line.")
    for row in value:
        _require_characters(" ".join(row), where, name)
    return tuple(tuple(row) for row in value)


def _require_characters(text: str, where: str, name: str) -> None:
    if has_surrogate(text):
        raise TextError(f"{where}: {name!r} has one half of a surrogate pair, which is not a character. Fix the line.")


def _is_word(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _clusters(value: object, num_words: int, where: str) -> tuple[Cluster, ...]:
    if not isinstance(value, list) or not all(isinstance(cluster, list) for cluster in value):
        raise TextError(f"{where}: 'clusters' must be a list of lists of [first, last]. Fix the line.")
    return tuple(tuple(_mention(mention, num_words, where) for mention in cluster) for cluster in value if cluster)


def _mention(value: Any, num_words: int, where: str) -> Mention:
    shown = reprlib.repr(value)
    if not (isinstance(value, list) and len(value) == 2 and all(type(place) is int for place in value)):
        raise TextError(f"{where}: {shown} is not a mention, which is [first token, last token]. Fix the line.")
    first, last = value
    if last < first:
        raise TextError(f"{where}: the mention {shown} ends before it begins. Fix the line.")
    if first < 0 or last >= num_words:
        raise TextError(
            f"{where}: the mention {shown} is outside the document, which has {num_words} words, counted from 0. Fix "
            "the line."
        )
    return first, last
