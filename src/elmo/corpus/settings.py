"""CorpusSettings: everything but the texts themselves that decides what prepared data becomes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from elmo.corpus.block_reader import Recipe, tokenizer_name
from elmo.corpus.blocks import Block
from elmo.corpus.documents import Documents
from elmo.corpus.part_workers import check_can_travel
from elmo.errors import TextError
from elmo.process.progress.report import Progress
from elmo.process.worker_pool import require_workers
from elmo.setting_checks import Must, PositiveInt, from_to, require_setting, require_types
from elmo.text.files.decoding import checked_encoding
from elmo.text.files.text_file import STDIN, check_is_text_file
from elmo.text.formats.form import Form, form_of, form_of_lines
from elmo.text.reading.settings import SentenceEnds, TextForm
from elmo.text.sentences import OnBadText, Tokenize
from elmo.text.tokenizer import tokenizer as named_tokenizer
from elmo.text.vocabulary import Vocabulary
from elmo.weights.hub import resolve
from elmo.weights.native.names import VOCABULARY_FILE

if TYPE_CHECKING:
    Tokenizer = str | Tokenize
else:
    Tokenizer = str  # what can be given on the command line, which is made from the fields below

TOKENS_PER_SHARD = 20_000_000
# Bytes of a stream's first block in which its form shows.
_LOOKED_AT = 1 << 18
# Formats with a document in each row.
_OF_ROWS = {"jsonl": "JSON lines", "csv": "CSV", "tsv": "TSV", "fasta": "FASTA"}

Splits = Mapping[str, Sequence[Path | str]]


@dataclass(frozen=True)
class CorpusSettings(TextForm):
    """How a corpus is read and prepared; every field is a flag of `elmo prepare`."""

    vocab_size: int | None = None
    """Number of words that the language model predicts: the most frequent words of the training text, including <S>,
    </S> and <UNK> (default: all words)."""
    min_count: int = 1
    """Leave words that occur less often than this out of the vocabulary."""
    num_beginnings: int = 0
    """For languages with many long word forms: reserve up to this many entries of the vocabulary for beginnings, which
    represent words that are not in it. With 8,000 of 30,000 entries, 1% of Korean tokens are <UNK> instead of 33%."""
    vocabulary: str | None = None
    """Use this vocabulary as it is, whatever the settings above say, instead of making one: a file (one word per line),
    or the name or folder of a model to fine-tune."""
    valid_share: Annotated[float | None, Must("above 0 and below 1", lambda it: it is None or 0 < it < 1)] = None
    """Hold out this fraction of the training text's documents, above 0 and below 1, beside the files of --valid if
    there are any. The choice is the same every time, and identical documents are never on both sides."""
    documents: Documents | None = None
    """What a document is: file; block (text: separated by blank lines, CoNLL-U: starting at # newdoc); row (a line, a
    JSON object, a row of a table, a protein, a sentence of CoNLL) (default: row for JSON lines, tables and FASTA, else
    block)."""
    max_characters_per_token: Annotated[int, from_to(3, 10_000)] = 50
    """Maximum number of characters read of each word, including the two marks at its ends."""
    sentences: SentenceEnds = "lines"
    """lines: each line is one sentence. For raw text: within-lines: a line can hold several sentences; across-lines:
    sentences can continue on the next line, and only blank lines end a paragraph."""
    tokenizer: Tokenizer = "whitespace"
    """How the text is split into tokens: whitespace; unicode: by rules, for text that isn't tokenized; or
    module:function, a function of your own (in Python, also the function itself)."""
    encoding: str = "utf-8"
    """Encoding of all texts."""
    errors: OnBadText = "strict"
    """What to do with a line that isn't valid text. strict: stop; skip: list and skip it."""
    tokens_per_shard: PositiveInt = TOKENS_PER_SHARD
    """A shard is closed at the end of the sentence that fills it. Writing one needs 8 bytes of memory per token."""

    def __post_init__(self) -> None:
        if self.vocabulary is not None:
            object.__setattr__(self, "vocabulary", str(self.vocabulary))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(replace(self, tokenizer=tokenizer_name(self.tokenizer)))

    def recipe(self, path: Path | str, *, for_training: bool) -> Recipe:
        """How a file is read; `for_training`: whether documents of it may be held out."""
        form, documents = self._form(path), None
        if for_training and self.valid_share is not None:
            documents = self.documents or ("row" if form.format in _OF_ROWS else "block")
        return Recipe(form, self.tokenizer, checked_encoding(self.encoding), self.errors, self.sentences, documents)

    def seen(self, block: Block, recipe: Recipe) -> Recipe:
        """The recipe of a stream, whose form its first block shows. TextError if it is another format than thought."""
        lines = block.content[:_LOOKED_AT].splitlines(keepends=True)[:-1]
        found = form_of_lines(lines, STDIN, self.format, self.field, recipe.encoding)
        if found.format != recipe.form.format or found.is_array:
            looks = "one JSON array" if found.is_array else found.format
            raise TextError(
                f"{block.name}: looks like {looks}, but standard input and pipes are read as {recipe.form.format}, in "
                "parts. Name the right one with --format, or put the text into a file."
            )
        return replace(recipe, form=found)

    def _form(self, path: Path | str) -> Form:
        return form_of(path, self.format, self.field, checked_encoding(self.encoding))

    def check(self, splits: Splits, workers: int) -> None:
        """Finds errors now rather than after an hour of reading: ConfigError, or TextError for a missing file."""
        require_types(self)
        require_workers(workers)
        checked_encoding(self.encoding)
        self.vocabulary_of({})
        require_setting(bool(splits["train"]), "texts", [], "one or more files")
        for file in [file for files in splits.values() for file in files]:
            check_is_text_file(file)
        if isinstance(self.tokenizer, str):
            named_tokenizer(self.tokenizer)
        if workers > 1:
            check_can_travel(self.tokenizer)

    def with_vocabulary_file(self, progress: Progress | bool) -> Self:
        """These settings with the file of the vocabulary in place of a model, which `progress` may show the download
        of. TextError if there is no such file or model, or the model has no words."""
        given = self.vocabulary
        if given is None or Path(given).is_file():
            return self
        folder = resolve(given, progress=progress)
        if isinstance(folder, tuple):
            folder = folder[1].parent
        return replace(self, vocabulary=str(folder / VOCABULARY_FILE))

    def vocabulary_of(self, counts: Mapping[str, int]) -> Vocabulary:
        """The vocabulary that these settings make from the word counts of the training text."""
        return Vocabulary.from_counts(
            counts, max_size=self.vocab_size, min_count=self.min_count, num_beginnings=self.num_beginnings
        )

    @property
    def least_vocab_size(self) -> int | None:
        """Size of the vocabulary without its beginnings, if the text has enough words (None: no bound)."""
        return None if self.vocab_size is None else self.vocab_size - self.num_beginnings
