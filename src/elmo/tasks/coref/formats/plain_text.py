"""Raw text -> one document, and clusters that a person can read.

Anna bought a house . She loves it .      ->      [Anna]1 bought [a house]2 .
                                                  [She]1 loves [it]2 .

                                                  1: Anna | She
                                                  2: a house | it
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from elmo.errors import TextError
from elmo.tasks.coref.documents import Document, Mention
from elmo.text.tokenizer import split_sentences


def text_document(lines: Iterable[str], source: str, tokenize: Callable[[str], list[str]]) -> Document:
    """One document of all lines of a file called `source`. Blank lines always end a sentence, line ends don't.

    Raises TextError if there is no word in it.
    """
    sentences = (tokenize(sentence) for sentence in split_sentences("\n".join(lines)))
    found = tuple(tuple(tokens) for tokens in sentences if tokens)
    if not found:
        raise TextError(f"{source}: there is no word in it. Pass a text, or documents in CoNLL-2012 columns.")
    return Document((Path(source).stem, ""), found, source=source, layout="text")


def write_text(document: Document, clusters: Sequence[Sequence[Mention]]) -> Iterator[str]:
    """Each sentence with its mentions in brackets, then the mentions of each cluster, numbered from 1."""
    before, after = [""] * document.num_tokens, [""] * document.num_tokens
    numbered = [(mention, number) for number, cluster in enumerate(clusters, start=1) for mention in cluster]
    for (first, last), number in sorted(numbered, key=lambda item: (item[0][0], -item[0][1])):
        before[first] += "["
        after[last] = f"]{number}" + after[last]
    shown = [left + token + right for left, token, right in zip(before, document.tokens, after, strict=True)]
    starts = [0, *accumulate(map(len, document.sentences))]
    yield from (" ".join(shown[begin:end]) for begin, end in zip(starts, starts[1:], strict=False))
    yield ""
    tokens = document.tokens
    for number, cluster in enumerate(clusters, start=1):
        yield f"{number}: " + " | ".join(" ".join(tokens[first : last + 1]) for first, last in cluster)
