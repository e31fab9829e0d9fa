"""Sense-annotated corpora in the format of Raganato et al. 2017 (EACL): XML, and a file of keys beside it.

    <corpus><text id="d000"><sentence id="d000.s000">
    <wf lemma="the" pos="DET">The</wf>
    <instance id="d000.s000.t000" lemma="art" pos="NOUN">art</instance>
    ...
    d000.s000.t000 art%1:06:00::            a line of the key file: an instance and its senses

An element can hold several words with blanks between them ("primary election"). They are tokens of their own here, as
a biLM reads them, and the instance covers all of them.
"""

import xml.parsers.expat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from elmo.errors import TextError
from elmo.text.files.lines import byte_lines, utf8_lines
from elmo.text.files.text_file import check_is_text_file

# A sentence of more tokens than this is a damaged file; SemCor's longest has 251 elements.
_MOST_TOKENS = 20_000


@dataclass(frozen=True)
class Instance:
    """One annotated word or expression of a sentence."""

    id: str
    lemma: str
    """With underscores instead of blanks."""
    pos: str
    """NOUN, VERB, ADJ or ADV."""
    start: int
    """Its first token."""
    end: int
    """The token after its last one."""


@dataclass(frozen=True)
class AnnotatedSentence:
    """A sentence with its instances."""

    document: str
    tokens: tuple[str, ...]
    instances: tuple[Instance, ...]


@dataclass
class _Open:
    tokens: list[str] = field(default_factory=list)
    instances: list[Instance] = field(default_factory=list)


def read_sentences(path: Path | str) -> Iterator[AnnotatedSentence]:
    """The sentences of a corpus, one after the other; packed files (.xz, .gz, .bz2) are unpacked.

    Entities that a file declares itself are refused. Raises TextError with file and line for what isn't this format.
    """
    check_is_text_file(path)
    parser = _Parser(str(path))
    for line in byte_lines(path):
        parser.feed(line)
        yield from parser.finished()
    parser.feed(b"", last=True)
    yield from parser.finished()


def read_keys(path: Path | str) -> dict[str, tuple[str, ...]]:
    """Instance -> its senses; blank lines are left out. Raises TextError for a line without a sense or not in UTF-8,
    and for an instance that comes twice."""
    keys: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(utf8_lines(path), 1):
        if not line.strip():
            continue
        instance, *senses = line.split()
        if not senses:
            raise TextError(f"{path}:{number}: has no sense for {instance!r}. A line is: instance key [key ...].")
        if instance in keys:
            raise TextError(f"{path}:{number}: {instance!r} has keys already. Remove one of the lines.")
        keys[instance] = tuple(senses)
    return keys


class _Parser:
    def __init__(self, name: str) -> None:
        self._name = name
        self._document = ""
        self._sentence: _Open | None = None
        self._element: dict[str, str] | None = None
        self._is_instance = False
        self._text: list[str] = []
        self._done: list[AnnotatedSentence] = []
        self._expat = xml.parsers.expat.ParserCreate()
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._characters
        self._expat.EntityDeclHandler = self._refuse_entity

    def feed(self, data: bytes, *, last: bool = False) -> None:
        """Parse some more of the file."""
        try:
            self._expat.Parse(data, last)
        except xml.parsers.expat.ExpatError as error:
            reason = xml.parsers.expat.errors.messages[error.code]
            raise TextError(
                f"{self._name}:{error.lineno}: is not well-formed XML: {reason}. Get the file again."
            ) from None

    def finished(self) -> Iterator[AnnotatedSentence]:
        """The sentences that are complete by now, once."""
        done, self._done = self._done, []
        yield from done

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "text":
            self._document = self._needed(name, attributes, "id")
        elif name == "sentence":
            self._sentence = _Open()
        elif name in ("wf", "instance"):
            if self._sentence is None:
                raise self._error(f"<{name}> is outside a sentence")
            self._element, self._is_instance, self._text = attributes, name == "instance", []

    def _characters(self, text: str) -> None:
        if self._element is not None:
            self._text.append(text)

    def _end(self, name: str) -> None:
        if name == "sentence" and self._sentence is not None:
            sentence, self._sentence = self._sentence, None
            self._done.append(AnnotatedSentence(self._document, tuple(sentence.tokens), tuple(sentence.instances)))
        elif self._element is not None and name in ("wf", "instance"):
            self._add(self._element)
            self._element = None

    def _add(self, attributes: dict[str, str]) -> None:
        assert self._sentence is not None
        words, tokens = "".join(self._text).split(), self._sentence.tokens
        if not words:
            raise self._error("an element has no word")
        if len(tokens) + len(words) > _MOST_TOKENS:
            raise self._error(f"a sentence has more than {_MOST_TOKENS:,} tokens")
        if self._is_instance:
            id, lemma, pos = (self._needed("instance", attributes, key) for key in ("id", "lemma", "pos"))
            start = len(tokens)
            self._sentence.instances.append(Instance(id, lemma.replace(" ", "_"), pos, start, start + len(words)))
        tokens.extend(words)

    def _needed(self, element: str, attributes: dict[str, str], key: str) -> str:
        if key not in attributes:
            raise self._error(f"<{element}> has no {key!r}")
        return attributes[key]

    def _refuse_entity(self, *declaration: object) -> None:
        raise self._error("declares an entity, which no corpus of this format needs")

    def _error(self, what: str) -> TextError:
        return TextError(
            f"{self._name}:{self._expat.CurrentLineNumber}: {what}. The format (Raganato et al. 2017) is: "
            "<text id>, <sentence id>, <wf lemma pos> and <instance id lemma pos>."
        )
