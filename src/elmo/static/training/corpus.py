"""Corpus: text files that are read as often as training needs, and the words in them that get vectors."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from elmo.errors import TextError
from elmo.process.progress.report import Count, Progress
from elmo.static.vectors import is_writable
from elmo.text.files.text_file import FormatChoice, check_is_text_file, require_no_stream
from elmo.text.reading.as_trained import as_trained
from elmo.text.sentences import OnBadText, Tokenize, read_sentences


@dataclass
class Corpus:
    """Sentences of some files, read anew each time; blank lines are left out."""

    texts: Sequence[Path | str]
    format: FormatChoice = "auto"
    field: str = "text"
    """Of JSON lines: what holds the text."""
    tokenize: Tokenize = str.split
    encoding: str = "utf-8"
    errors: OnBadText = "strict"
    lower_case: bool = False
    longest: int = 0
    """Tokens of a sentence; longer ones are cut into several. 0: none is."""
    bad_lines: list[str] = dataclasses.field(default_factory=list)
    """Messages about the lines that the last reading skipped."""

    def __post_init__(self) -> None:
        for text in self.texts:
            check_is_text_file(text)
            require_no_stream(text)

    @property
    def num_bytes(self) -> int:
        """Size of the files on disk."""
        return sum(Path(text).stat().st_size for text in self.texts)

    def sentences(self, on_bytes: Callable[[int], object] | None = None) -> Iterator[list[str]]:
        """All sentences. `on_bytes`: called with the bytes read since the last call."""
        self.bad_lines = []
        for text in self.texts:
            found = read_sentences(
                text,
                encoding=self.encoding,
                errors=self.errors,
                tokenize=self.tokenize,
                on_bad_line=lambda _, message: self.bad_lines.append(message),
                on_bytes=on_bytes,
                format=self.format,
                field=self.field,
            )
            for sentence in found:
                words = as_trained(sentence)
                words = [word.lower() for word in words] if self.lower_case else words
                step = self.longest or max(1, len(words))
                yield from (words[start : start + step] for start in range(0, len(words), step))


def count_words(corpus: Corpus, min_count: int, max_words: int, progress: Progress) -> tuple[dict[str, int], int]:
    """The words that get vectors, most frequent first, with their counts; and the number of sentences.

    Equally frequent words are in their own order. Raises TextError if no word is frequent enough.
    """
    counts: Counter[str] = Counter()
    num_sentences = 0
    read = Count(progress, "counting words", corpus.num_bytes, "bytes")
    for sentence in corpus.sentences(read.add):
        counts.update(sentence)
        num_sentences += 1
    frequent = ((word, count) for word, count in counts.items() if count >= min_count and is_writable(word))
    kept = sorted(frequent, key=lambda pair: (-pair[1], pair[0]))[: max_words or None]
    if not kept:
        raise TextError(
            f"{corpus.texts[0]}: none of the {len(counts):,} distinct words occurs at least {min_count} times in the "
            "text, so no word would get a vector. Give more text, or lower --min-count."
        )
    return dict(kept), num_sentences


def require_neighbors(corpus: Corpus, counts: Container[str]) -> None:
    """TextError if no sentence has two of the words. Reads as far as the first one that has."""
    for sentence in corpus.sentences():
        if sum(word in counts for word in sentence) > 1:
            return
    raise TextError(
        f"{corpus.texts[0]}: no sentence has two words that get vectors, so these would stay random. Give text with "
        "whole sentences on its lines, or lower --min-count."
    )
