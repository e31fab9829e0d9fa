"""Files of documents, in whichever of the formats they are: CoNLL-2012 columns, JSON lines, raw text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from elmo.errors import TextError
from elmo.tasks.coref.conll import BEGIN, conll_documents
from elmo.tasks.coref.documents import Document, Mention
from elmo.tasks.coref.jsonlines import jsonlines_documents
from elmo.tasks.labelled_lines import labelled_lines, skipping
from elmo.text.files.decoding import BadLine
from elmo.text.files.text_file import text_name
from elmo.text.formats.columns import UNDECODABLE
from elmo.text.formats.form import require_plain_text
from elmo.text.reading.as_trained import composed
from elmo.text.tokenizer import split_sentences


def text_document(lines: Iterable[str], source: str, tokenize: Callable[[str], list[str]]) -> Document:
    """One document of all lines of a file called `source`. Blank lines always end a sentence, line ends don't.

    Raises TextError if there is no word in it.
    """
    sentences = (tokenize(sentence) for sentence in split_sentences(composed("\n".join(lines))[0]))
    found = tuple(tuple(tokens) for tokens in sentences if tokens)
    if not found:
        raise TextError(f"{source}: there is no word in it. Pass a text, or documents in CoNLL-2012 columns.")
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
        require_plain_text(lines, source)
        found = [text_document((line for line in lines if line != UNDECODABLE), source, tokenize)]
    return [document.without_clusters() for document in found]


def _beginning(lines: list[str]) -> str:
    return next((line.lstrip() for line in lines if line.strip()), "")


def _is_named(path: Path | str, kind: str) -> bool:
    """Whether the ending says so: train.conll, train.v4_gold_conll, train.jsonl.xz."""
    endings = Path(path).suffixes[-2:]
    return any(ending.lower().endswith(kind) for ending in endings)
