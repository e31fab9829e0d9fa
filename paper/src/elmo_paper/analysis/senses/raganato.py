"""Sense-annotated corpora in the format of Raganato et al. 2017 (EACL): XML, and a file of keys beside it.

    <corpus><text id="d000"><sentence id="d000.s000">
    <wf lemma="the" pos="DET">The</wf>
    <instance id="d000.s000.t000" lemma="art" pos="NOUN">art</instance>
    ...
    d000.s000.t000 art%1:06:00::            a line of the key file: an instance and its senses

An element can hold several words with blanks between them ("primary election"). They are tokens of their own here, as
a biLM reads them, and the instance covers all of them. Letters are composed (NFC), as in all text that is read.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser
from xml.parsers.expat.errors import messages

from elmo.errors import TextError
from elmo.text.files.lines import byte_lines, utf8_lines
from elmo.text.files.text_file import check_is_text_file
from elmo.text.reading.as_trained import as_trained, composed

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
    document, sentence = "", None
    for where, event, element in _events(path):
        if event == "start" and element.tag == "text":
            document = _needed(element, "id", where)
        elif event == "start" and element.tag == "sentence":
            sentence = _Open()
        elif element.tag in ("wf", "instance"):
            if sentence is None:
                raise _wrong(where, f"<{element.tag}> is outside a sentence")
            if event == "end":
                _add(element, sentence, where)
        elif element.tag == "sentence" and sentence is not None:
            yield AnnotatedSentence(document, tuple(sentence.tokens), tuple(sentence.instances))
            sentence = None
        if event == "end":
            element.clear()  # or the whole corpus would be in memory in the end


def _events(path: Path | str) -> Iterator[tuple[str, str, Element]]:
    """The file and line, "start" or "end", and the element."""
    check_is_text_file(path)
    parser, number = XMLPullParser(("start", "end")), 1
    read = cast(Callable[[], Iterator[tuple[str, Element]]], parser.read_events)
    try:
        for number, line in enumerate(byte_lines(path), 1):
            if b"<!ENTITY" in line:
                raise _wrong(f"{path}:{number}", "declares an entity, which no corpus of this format needs")
            parser.feed(line)
            yield from ((f"{path}:{number}", *event) for event in read())
        parser.close()
        # expat may hold what follows a tag of many lines back until the end.
        yield from ((f"{path}:{number}", *event) for event in read())
    except ParseError as error:
        reason = messages[error.code]
        raise TextError(f"{path}:{error.position[0]}: is not well-formed XML: {reason}. Get the file again.") from None


def _add(element: Element, sentence: _Open, where: str) -> None:
    words, start = as_trained("".join(element.itertext()).split()), len(sentence.tokens)
    if not words:
        raise _wrong(where, "an element has no word")
    if start + len(words) > _MOST_TOKENS:
        raise _wrong(where, f"a sentence has more than {_MOST_TOKENS:,} tokens")
    if element.tag == "instance":
        id, lemma, pos = (_needed(element, key, where) for key in ("id", "lemma", "pos"))
        sentence.instances.append(Instance(id, lemma.replace(" ", "_"), pos, start, start + len(words)))
    sentence.tokens += words


def _needed(element: Element, key: str, where: str) -> str:
    if key not in element.attrib:
        raise _wrong(where, f"<{element.tag}> has no {key!r}")
    return composed(element.attrib[key])[0]


def _wrong(where: str, what: str) -> TextError:
    return TextError(
        f"{where}: {what}. The format (Raganato et al. 2017) is: <text id>, <sentence id>, <wf lemma pos> and "
        "<instance id lemma pos>."
    )


def read_keys(path: Path | str) -> dict[str, tuple[str, ...]]:
    """Instance -> its senses; blank lines are left out. Raises TextError for a line without a sense or not in UTF-8,
    and for an instance that comes twice."""
    keys: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(utf8_lines(path), 1):
        if not line.strip():
            continue
        instance, *senses = composed(line)[0].split()
        if not senses:
            raise TextError(f"{path}:{number}: has no sense for {instance!r}. A line is: instance key [key ...].")
        if instance in keys:
            raise TextError(f"{path}:{number}: {instance!r} has keys already. Remove one of the lines.")
        keys[instance] = tuple(senses)
    return keys
