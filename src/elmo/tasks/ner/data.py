"""CoNLL columns with tags of entities -> tagged sentences. `elmo.tasks.tags` says how tags are written."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from elmo.errors import TextError
from elmo.setting_checks import Chance
from elmo.tasks.columns import TaggedSentence, tagged_rows
from elmo.tasks.lines import labelled_lines, nothing_in, reporting, skipping
from elmo.tasks.settings import CharacterSettings, LabelSettings, SizeOrNone, Sizes, TaskSettings, TokenSettings
from elmo.tasks.tags import IO, OUTSIDE, Notation, SchemeFound, follows, notation_of, scheme_of, spans_of
from elmo.text.files.decoding import BadLine, report
from elmo.text.files.text_file import text_name

SchemeChoice = Literal["auto", "iob1", "iob2", "ioe", "bioul", "io", "any"]
BETWEEN = "between"
"""The place between the first and the second biLSTM layer. Source: Peters et al. 2017, TagLM."""


@dataclass(frozen=True)
class TaggerSettings(LabelSettings, CharacterSettings):
    """Data and network of the tagger."""

    token_column: SizeOrNone = 1
    """Column of the tokens, counted from 1."""
    tag_column: SizeOrNone = 0
    """Column of the tags, counted from 1; 0: the last one."""
    scheme: SchemeChoice = "auto"
    """Scheme of the tags in the files. auto: detected; bioul: also known as IOBES, BMES or BMEWO; io: labels
    without prefixes; any: every sequence is accepted and read by conlleval's rules."""
    hidden_sizes: Sizes = (200, 100)
    """Hidden units of each biLSTM layer in each direction, from the lowest layer to the highest."""
    dropout: Chance = 0.5
    """Dropout on each biLSTM layer's input and on the output of the top one, with the same mask for all tokens of a
    sentence."""
    character_filters: SizeOrNone = 128
    """Filters of the model's own char CNN, which is trained with the task; 0: no char CNN."""


@dataclass(frozen=True)
class NerSettings(TaskSettings):
    """All settings of `elmo task train ner`."""

    tokens: TokenSettings = field(
        default_factory=lambda: TokenSettings(mix_penalty=0.1, elmo_dropout=0.0, train_static=True)
    )
    tagger: TaggerSettings = field(default_factory=TaggerSettings)


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
            other = "without --scheme io tags with prefixes" if notation is IO else "with --scheme io labels alone"
            raise TextError(
                f"{sentence.source}:{line}: the tag is {written!r}, but tags are {notation.outside!r} or like "
                f"{notation.example!r}. Fix it, or name another column with --tag-column; {other} are read."
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
