"""BlockReader: a block of text -> its sentences, what was left out, and where documents begin."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from elmo.corpus.blocks import Block, Border
from elmo.corpus.documents import DocumentMarks, Documents
from elmo.errors import TextError
from elmo.text.files.decoding import BadLine, decoded_block
from elmo.text.files.text_file import text_name
from elmo.text.first_look.sample import look_at
from elmo.text.formats.form import Form
from elmo.text.formats.json_array import array_as_lines
from elmo.text.formats.rows import bad_line_of, rows_of
from elmo.text.reading.as_trained import as_trained, composed
from elmo.text.reading.placed import tokens_of
from elmo.text.reading.settings import Reading, SentenceEnds
from elmo.text.sentences import OnBadText, Tokenize
from elmo.text.tokenizer import split_sentences
from elmo.text.tokenizer import tokenizer as named_tokenizer
from elmo.text.word_list import invalid_token_reason

# Bad lines whose message is kept; all are counted.
BAD_LINES_LISTED = 1000
_LINES_BETWEEN_CHECKS = 1024


@dataclass(frozen=True)
class Recipe:
    """How bytes become sentences."""

    form: Form
    tokenizer: str | Tokenize
    encoding: str
    errors: OnBadText
    sentences: SentenceEnds
    documents: Documents | None
    """Where documents are noted; None: not at all"""

    @property
    def border(self) -> Border:
        """Where a text of this kind may be cut."""
        if self.form.format == "csv":
            return "record"
        if self.form.format == "fasta":
            return "header"
        crosses_lines = self.form.format in ("conllu", "conll") or (
            self.form.format == "text" and self.sentences == "across-lines"
        )
        return "blank line" if crosses_lines else "line"

    def lines_of(self, path: Path | str) -> Callable[[Iterator[bytes]], Iterator[bytes]] | None:
        """What makes the lines of such a file that rows are read of; None: they are its own."""
        if not self.form.is_array:
            return None
        return lambda lines: array_as_lines(lines, text_name(path), self.encoding, self.form.field)

    @property
    def has_header(self) -> bool:
        """Whether the first line may name columns, or says how many there are."""
        return self.form.format in ("csv", "tsv", "conllu")


class BlockReader:
    """Reads the sentences of a block, and counts those that are left out. `check` may raise to stop."""

    def __init__(self, block: Block, recipe: Recipe, check: Callable[[], None]) -> None:
        self.block = block
        self.recipe = recipe
        self.check = check
        tokenize = named_tokenizer(recipe.tokenizer) if isinstance(recipe.tokenizer, str) else recipe.tokenizer
        name = tokenizer_name(recipe.tokenizer)
        self.tokenize: Tokenize = lambda text: tokens_of(tokenize, text, block.name, name)
        if recipe.tokenizer == "whitespace":
            self.tokenize = str.split
        self.marks = DocumentMarks()
        self.blank_lines = 0
        self.num_bad_lines = 0
        self.bad_lines: list[str] = []
        self._num_sentences = 0
        # A bad line comes as an empty one, but separates nothing.
        self._is_bad = False

    def sentences(self) -> Iterator[list[str]]:
        """All sentences with tokens."""
        if self.recipe.documents is not None:
            return self._marked(self._units())
        return (sentence for unit in self._units() for sentence in self._tokenized(unit))

    def warnings(self) -> list[str]:
        """What shows in the first rows that a model would learn wrongly: a model that is trained on "rain." as a word
        never learns "rain"."""
        tokenizer = tokenizer_name(self.recipe.tokenizer)
        look = look_at(self._rows(), Reading(sentences=self.recipe.sentences, tokenizer=tokenizer), self.block.name)
        return [warning.replace("auto or unicode", "unicode") for warning in look.warnings()]

    def _marked(self, units: Iterable[str | list[str]]) -> Iterator[list[str]]:
        by_row = self.recipe.documents == "row"
        for unit in units:
            if by_row:
                self.marks.end()
            # Line by line, so that a paragraph that had to be cut has the sum of its lines.
            for row in unit.split("\n") if isinstance(unit, str) else [unit]:
                if isinstance(row, list) or row.strip():
                    self.marks.row(row, self._num_sentences)
            for sentence in self._tokenized(unit):
                self._num_sentences += 1
                yield sentence

    def _units(self) -> Iterator[str | list[str]]:
        """What becomes sentences by itself: a line, a paragraph, or a list of tokens."""
        rows = self._rows()
        if self.recipe.form.format == "text" and self.recipe.sentences == "across-lines":
            yield from self._paragraphs(rows)
            return
        ends_document = self.recipe.form.format == "text"
        for count, row in enumerate(rows):
            if count % _LINES_BETWEEN_CHECKS == 0:
                self.check()
            if not (row if isinstance(row, list) else row.strip()):
                self._leave_out(ends_document)
            else:
                yield row

    def _paragraphs(self, rows: Iterable[str | list[str]]) -> Iterator[str]:
        lines: list[str] = []
        for row in rows:
            assert isinstance(row, str)  # the format is text
            self.check()
            if row.strip():
                lines.append(row)
                continue
            # A bad line in it must not end a paragraph.
            if lines and not self._is_bad:
                yield "\n".join(lines)
                lines = []
            self._leave_out(ends_document=True)
        if lines:
            yield "\n".join(lines)

    def _rows(self) -> Iterable[str | list[str]]:
        on_bad_line: BadLine | None = None if self.recipe.errors == "strict" else self._note_bad_line
        block, recipe = self.block, self.recipe
        instead = bad_line_of(recipe.form.format)
        lines = decoded_block(block.content, block.name, recipe.encoding, on_bad_line, block.first_line, instead)
        on_new_document = self.marks.end if recipe.documents == "block" else None
        # What can't be decoded in it was reported in the first block.
        header = block.header.decode(recipe.encoding, "replace").removeprefix("\ufeff").replace("\r", "")
        rows = rows_of(lines, recipe.form, block.name, on_bad_line, block.first_line, on_new_document, header or None)
        # As texts are read later, when the model is used.
        return (composed(row)[0] if isinstance(row, str) else as_trained(row) for row in rows)

    def _note_bad_line(self, _: int, message: str) -> None:
        self._is_bad = True
        self.num_bad_lines += 1
        if len(self.bad_lines) < BAD_LINES_LISTED:
            self.bad_lines.append(message)

    def _leave_out(self, ends_document: bool) -> None:
        if self._is_bad:
            self._is_bad = False
            return
        self.blank_lines += 1
        if ends_document and self.recipe.documents != "file":
            self.marks.end()

    def _tokenized(self, unit: str | list[str]) -> Iterable[list[str]]:
        if isinstance(unit, list):
            return [unit]
        found = [sentence for text in self._texts(unit) if (sentence := self.tokenize(text))]
        if not found:
            self.blank_lines += 1
        return found

    def _texts(self, unit: str) -> list[str]:
        if self.recipe.sentences == "across-lines":
            return split_sentences(unit)
        lines = unit.split("\n")
        if self.recipe.sentences == "lines":
            return lines
        return [sentence for line in lines for sentence in split_sentences(line)]

    def check_words(self, words: Iterable[str]) -> None:
        """TextError if a tokenizer gave something that a vocabulary can't hold."""
        for word in words:
            if why := invalid_token_reason(word):
                block, name = self.block, tokenizer_name(self.recipe.tokenizer)
                raise TextError(
                    f"{block.name}, lines {block.first_line} to {block.last_line}: the tokenizer {name} gave the token "
                    f"{word!r}, which {why}. Tokens are strings without whitespace at their ends: fix the tokenizer, "
                    "or use another with --tokenizer."
                )


def tokenizer_name(tokenizer: str | Tokenize) -> str:
    """As it is written into the report."""
    return tokenizer if isinstance(tokenizer, str) else getattr(tokenizer, "__qualname__", repr(tokenizer))
