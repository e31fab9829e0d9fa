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
from elmo.tasks.coref.documents import Document, Mention, require_own_key
from elmo.tasks.labelled_lines import of_own_names, reporting
from elmo.text.files.decoding import BadLine
from elmo.text.formats.columns import UNDECODABLE
from elmo.text.formats.json_tree import Node, parse_tree
from elmo.text.reading.as_trained import as_trained


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
    node = parse_tree([line], where)
    name, sentences = node["doc_key"].text(), _words(node["sentences"])
    speakers = _words(node["speakers"]) if "speakers" in node else []
    if speakers and list(map(len, speakers)) != list(map(len, sentences)):
        raise TextError(f"{where}: 'speakers' must have as many entries as 'sentences' has words. Fix or remove it.")
    num_words = sum(map(len, sentences))
    rows = node["clusters"].items() if "clusters" in node else ()
    clusters = tuple(filter(None, (tuple(_mention(one, num_words) for one in row.items()) for row in rows)))
    ids = tuple(map(str, range(len(clusters))))
    found = tuple(tuple(as_trained(sentence)) for sentence in sentences if sentence)
    return Document((name, ""), found, tuple(chain.from_iterable(speakers)), clusters, ids, where, layout="jsonlines")


def _words(node: Node) -> list[list[str]]:
    found = [[word.text() for word in row.items()] for row in node.items()]
    if not all(word.strip() for row in found for word in row):
        raise node.error("has a word without a character", "Fix the line")
    return found


def _mention(node: Node, num_words: int) -> Mention:
    places = [place.whole_number() for place in node.items()]
    if len(places) != 2 or places[1] < places[0]:
        raise node.error(f"is {reprlib.repr(places)}, not [first token, last token]", "Fix the line")
    first, last = places
    if first < 0 or last >= num_words:
        raise node.error(f"is {places}, outside the document of {num_words} words, counted from 0", "Fix the line")
    return first, last
