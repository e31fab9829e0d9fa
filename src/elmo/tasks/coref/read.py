"""Files of documents, in whichever of the formats they are: CoNLL-2012 columns, JSON lines, raw text.

    {"doc_key": "nw/1_0", "sentences": [["Anna", "smiled", "."]], "speakers": [["-", "-", "-"]],
     "clusters": [[[0, 0], [5, 6]]]}

Mentions are [first, last] tokens of the document, both inclusive; "speakers" and "clusters" may be missing, and a
speaker may be "", unknown. Source of the JSON lines: the data format of Lee et al. 2017's code.
"""

import json
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from elmo.tasks.coref.conll import BEGIN, conll_documents
from elmo.tasks.coref.documents import NO_SPEAKER, Document, Mention, key_of
from elmo.tasks.json_tree import Node
from elmo.tasks.lines import labelled_lines, nothing_in, of_own_names, records, reporting, skipping
from elmo.text.files.decoding import BadLine
from elmo.text.files.text_file import text_name
from elmo.text.formats.columns import UNDECODABLE
from elmo.text.reading.as_trained import as_trained, composed
from elmo.text.tokenizer import split_sentences


def jsonlines_documents(lines: Iterable[str], source: str, on_bad: BadLine | None = None) -> list[Document]:
    """The documents in the lines of a file called `source`; blank lines are left out.

    Raises TextError with file and line for what isn't such an object, mentions outside the document, mentions that end
    before they begin, and two documents of the same name. With `on_bad`, errors in a line are reported to it, and
    the line is left out.
    """
    found = []
    for number, node in records(lines, source, (), on_bad):
        with reporting(on_bad, number):
            found.append(_document(node))
    if not found:
        raise nothing_in(source, "document")
    return of_own_names(found, key_of, on_bad)


def write_jsonlines(document: Document, clusters: Mapping[str, Sequence[Mention]]) -> Iterator[str]:
    """The document's line with these clusters."""
    values: dict[str, Any] = {"doc_key": document.name, "sentences": [list(tokens) for tokens in document.sentences]}
    if document.speakers:
        values["speakers"] = [list(document.speakers[begin:end]) for begin, end in document.ranges]
    values["clusters"] = [[list(mention) for mention in mentions] for mentions in clusters.values()]
    yield json.dumps(values, ensure_ascii=False)


def _document(node: Node) -> Document:
    name, sentences = node["doc_key"].text(), _words(node["sentences"])
    speakers = _words(node["speakers"]) if "speakers" in node else []
    if speakers and list(map(len, speakers)) != list(map(len, sentences)):
        raise node["speakers"].error("must have as many entries as 'sentences' has words", "Fix or remove it")
    num_words = sum(map(len, sentences))
    rows = node["clusters"].items() if "clusters" in node else ()
    clusters = tuple(filter(None, (tuple(_mention(one, num_words) for one in row.items()) for row in rows)))
    ids = tuple(map(str, range(len(clusters))))
    found = tuple(tuple(as_trained(sentence)) for sentence in sentences if sentence)
    named = tuple(speaker.strip() or NO_SPEAKER for row in speakers for speaker in row)
    return Document((name, ""), found, named, clusters, ids, node.source, layout="jsonlines")


def _words(node: Node) -> list[list[str]]:
    return [[word.text() for word in row.items()] for row in node.items()]


def _mention(node: Node, num_words: int) -> Mention:
    places = [place.whole_number() for place in node.items()]
    if len(places) != 2 or not 0 <= places[0] <= places[1] < num_words:
        what = f"is {reprlib.repr(places)}, not [first token, last token] of {num_words} words, counted from 0"
        raise node.error(what, "Fix the line")
    return places[0], places[1]


def text_document(lines: Iterable[str], source: str, tokenize: Callable[[str], list[str]]) -> Document:
    """One document of all lines of a file called `source`. Blank lines always end a sentence, line ends don't.

    Raises TextError if there is no word in it.
    """
    sentences = (tokenize(sentence) for sentence in split_sentences(composed("\n".join(lines))[0]))
    found = tuple(tuple(tokens) for tokens in sentences if tokens)
    if not found:
        raise nothing_in(source, "word")
    return Document((Path(source).stem, ""), found, source=source, layout="text")


def write_text(document: Document, clusters: Sequence[Sequence[Mention]]) -> Iterator[str]:
    """Each sentence with its mentions in brackets, then the mentions of each cluster, numbered from 1:

    [Anna]1 bought [a house]2 .
    [She]1 loves [it]2 .

    1: Anna | She
    2: a house | it
    """
    before, after = [""] * document.num_tokens, [""] * document.num_tokens
    numbered = [(mention, number) for number, cluster in enumerate(clusters, start=1) for mention in cluster]
    for (first, last), number in sorted(numbered, key=lambda item: (item[0][0], -item[0][1])):
        before[first] += "["
        after[last] = f"]{number}" + after[last]
    shown = [left + token + right for left, token, right in zip(before, document.tokens, after, strict=True)]
    yield from (" ".join(shown[begin:end]) for begin, end in document.ranges)
    yield ""
    tokens = document.tokens
    for number, cluster in enumerate(clusters, start=1):
        yield f"{number}: " + " | ".join(" ".join(tokens[first : last + 1]) for first, last in cluster)


def read_documents(
    path: Path | str, encoding: str = "utf-8", errors: Literal["strict", "skip"] = "strict"
) -> list[Document]:
    """Documents with their clusters: JSON lines if the first line is an object, else CoNLL-2012 columns.

    `errors`: "skip" leaves out documents that can't be read, with a TextWarning that counts them. Raises TextError, see
    `conll_documents` and `jsonlines_documents`.
    """
    with skipping(path, errors) as on_bad:
        lines = list(labelled_lines(path, encoding, on_bad))
        reader = jsonlines_documents if _beginning(lines).startswith("{") else conll_documents
        return reader(lines, text_name(path), on_bad)


def read_unlabelled(
    path: Path | str, encoding: str, tokenize: Callable[[str], list[str]], on_bad: BadLine | None = None
) -> list[Document]:
    """Documents in one of these formats, or a raw text as one document. Clusters that are there are left out.

    A file whose name ends in .conll or .jsonl, perhaps packed, is never taken for a raw text. `tokenize`: makes tokens
    of a sentence of raw text. Raises TextError; with `on_bad`, errors in a document or a line are reported to it.
    """
    lines, source = list(labelled_lines(path, encoding, on_bad)), text_name(path)
    beginning = _beginning(lines)
    if beginning.startswith("{") or _is_named(path, "jsonl"):
        found = jsonlines_documents(lines, source, on_bad)
    elif any(line.startswith(BEGIN) for line in lines) or _is_named(path, "conll"):
        found = conll_documents(lines, source, on_bad)
    else:
        found = [text_document((line for line in lines if line != UNDECODABLE), source, tokenize)]
    return [document.without_clusters() for document in found]


def _beginning(lines: list[str]) -> str:
    return next((line.lstrip() for line in lines if line.strip()), "")


def _is_named(path: Path | str, kind: str) -> bool:
    """Whether the ending says so: train.conll, train.v4_gold_conll, train.jsonl.xz."""
    endings = Path(path).suffixes[-2:]
    return any(ending.lower().endswith(kind) for ending in endings)
