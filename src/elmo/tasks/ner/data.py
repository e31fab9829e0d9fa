"""CoNLL columns with tags of entities -> tagged sentences. `elmo.tasks.tags` says how tags are written."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from elmo.errors import TextError
from elmo.tasks.columns import TaggedSentence, tagged_rows
from elmo.tasks.labelled_lines import labelled_lines, nothing_in, reporting, skipping
from elmo.tasks.ner.settings import SchemeChoice, TaggerSettings
from elmo.tasks.tags import IO, OUTSIDE, PREFIXES, Notation, SchemeFound, follows, notation_of, scheme_of, spans_of
from elmo.text.files.decoding import BadLine, report
from elmo.text.files.text_file import text_name


def read_columns(path: Path | str, settings: TaggerSettings) -> list[TaggedSentence]:
    """The sentences of a file.

    Raises TextError with file and line for ragged columns, cells that aren't tags, and sequences that the scheme
    doesn't allow; with `errors="skip"` such sentences are left out, and a TextWarning counts them.
    """
    sentences = []
    with skipping(path, settings.errors) as on_bad:
        lines = labelled_lines(path, settings.encoding, on_bad)
        rows = tagged_rows(lines, text_name(path), settings.token_column, settings.tag_column, on_bad)
        notation = IO if settings.scheme == "io" else notation_of(tag for it in rows for tag in it.tags)
        for it in rows:
            with reporting(on_bad, it.lines[0]):
                sentences.append(_with_spans(it, notation))
        found, shown = _scheme(sentences, settings.scheme)
        if found != "any":
            sentences = [it for it in sentences if _is_sequence(it, found, shown, on_bad)]
    if not sentences:
        raise nothing_in(path, "sentence")
    return sentences


def _with_spans(sentence: TaggedSentence, notation: Notation) -> TaggedSentence:
    tags = []
    for written, line in zip(sentence.tags, sentence.lines, strict=True):
        tag = notation.plain(written)
        if tag is None:
            prefixes = "" if notation is IO else f", with one of {', '.join(sorted(PREFIXES))}, M or W"
            other = "tags with prefixes without --scheme io" if notation is IO else "labels alone by --scheme io"
            raise TextError(
                f"{sentence.source}:{line}: the tag is {written!r}, but tags are {notation.outside!r} or like "
                f"{notation.example!r}{prefixes}. Fix it, or say which column has the tags with --tag-column; read "
                f"{other}."
            )
        tags.append(tag)
    return replace(sentence, tags=tags, spans=spans_of(tags))


def _scheme(sentences: Sequence[TaggedSentence], scheme: SchemeChoice) -> tuple[SchemeFound | Literal["any"], str]:
    """The scheme that the tags must be in, and what messages call it."""
    if scheme == "auto":
        found = scheme_of(sentence.tags for sentence in sentences)
        return found, f"{found.upper()}, which the other tags of the file are in"
    return ("iob1", "IO") if scheme == "io" else (scheme, scheme.upper())


def _is_sequence(sentence: TaggedSentence, scheme: SchemeFound, shown: str, on_bad: BadLine | None) -> bool:
    """Whether the scheme allows the tags; TextError if it doesn't and there is no `on_bad`."""
    tags = [OUTSIDE, *sentence.tags, OUTSIDE]
    for place, (before, tag) in enumerate(zip(tags[:-1], tags[1:], strict=True)):
        if follows(before, tag, scheme):
            continue
        is_end = place == len(sentence.tags)
        line = sentence.lines[min(place, len(sentence.tags) - 1)]
        what = f"the sentence ends after {before!r}" if is_end else f"{tag!r} comes after {before!r}"
        message = (
            f"{sentence.source}:{line}: {what}, which is not a sequence of {shown}. Fix the tags, say what they are "
            "with --scheme, or read them as conlleval does with --scheme any."
        )
        report(on_bad, line, message)
        return False
    return True
