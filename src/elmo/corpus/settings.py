"""CorpusSettings: all that decides what prepared data becomes, but the texts themselves."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, get_args

from elmo.corpus.block_reader import Recipe, Sentences, tokenizer_name
from elmo.corpus.documents import Documents
from elmo.corpus.part_workers import check_can_travel
from elmo.errors import ConfigError
from elmo.text.decoding import checked_encoding
from elmo.text.sentences import OnBadText, Tokenize
from elmo.text.text_file import STDIN, FormatChoice, check_is_text_file, format_of
from elmo.text.tokenizer import tokenizer as named_tokenizer
from elmo.text.vocabulary import Vocabulary

Splits = Mapping[str, Sequence[Path | str]]


@dataclass(frozen=True)
class CorpusSettings:
    """As `prepare` explains them."""

    vocabulary_size: int | None
    min_count: int
    num_beginnings: int
    vocabulary: str | None
    valid_share: float | None
    documents: Documents | None
    max_characters_per_token: int
    format: FormatChoice
    field: str
    sentences: Sentences
    tokenizer: str | Tokenize
    encoding: str
    errors: OnBadText
    tokens_per_shard: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(replace(self, tokenizer=tokenizer_name(self.tokenizer)))

    def documents_of(self, path: Path | str) -> Documents:
        """What a document is in a file."""
        if self.documents is not None:
            return self.documents
        return "row" if format_of(path, self.format) == "jsonl" else "block"

    def recipe(self, path: Path | str, *, for_training: bool) -> Recipe:
        """How a file is read; `for_training`: whether documents of it may be held out."""
        return Recipe(
            format_of(path, self.format),
            self.tokenizer,
            checked_encoding(self.encoding),
            self.errors,
            self.sentences,
            self.field,
            self.documents_of(path) if for_training and self.valid_share is not None else None,
        )

    def check(self, splits: Splits, workers: int) -> None:
        """Refuses now what would else be found after an hour of reading: ConfigError, or TextError for no file."""
        self._check_vocabulary()
        self._check_choices()
        for name, value, least in (
            ("max_characters_per_token", self.max_characters_per_token, 3),
            ("tokens_per_shard", self.tokens_per_shard, 1),
            ("workers", workers, 1),
        ):
            if value < least:
                raise ConfigError(f"{name} is {value}, but less than {least} can do nothing. Choose more.")
        self._check_texts(splits)
        self._check_share(splits)
        if isinstance(self.tokenizer, str):
            named_tokenizer(self.tokenizer)
        if workers > 1:
            check_can_travel(self.recipe(splits["train"][0], for_training=True))

    def vocabulary_of(self, counts: Mapping[str, int]) -> Vocabulary:
        """The one that these settings make of the training text's counts."""
        return Vocabulary.from_counts(
            counts, max_size=self.vocabulary_size, min_count=self.min_count, num_beginnings=self.num_beginnings
        )

    @property
    def least_vocabulary_size(self) -> int | None:
        """What the vocabulary has even without a beginning, if the text has words enough."""
        return None if self.vocabulary_size is None else self.vocabulary_size - self.num_beginnings

    def _check_vocabulary(self) -> None:
        makes_one = self.vocabulary_size is not None or self.min_count != 1 or self.num_beginnings != 0
        if self.vocabulary is not None and makes_one:
            raise ConfigError(
                "a vocabulary file is given together with a vocabulary size, a minimum count or beginnings, but the "
                "file is taken as it is. Give one or the other."
            )
        self.vocabulary_of({})

    def _check_choices(self) -> None:
        checked_encoding(self.encoding)
        for name, value, choices in (
            ("errors", self.errors, get_args(OnBadText)),
            ("sentences", self.sentences, get_args(Sentences)),
            ("format", self.format, get_args(FormatChoice)),
            ("documents", self.documents, (None, *get_args(Documents))),
        ):
            if value not in choices:
                allowed = ", ".join(choice for choice in choices if choice)
                raise ConfigError(f"{name} is {value!r}, but no text can be read so. The ways are: {allowed}.")

    def _check_texts(self, splits: Splits) -> None:
        if not splits["train"]:
            raise ConfigError(
                "there is no training text: no file was named. Name at least one: elmo prepare TEXT -o DATA"
            )
        if sum(str(file) == STDIN for files in splits.values() for file in files) > 1:
            raise ConfigError("'-' is named twice, but standard input can be read only once. Put one text into a file.")
        for files in splits.values():
            for file in files:
                check_is_text_file(file)

    def _check_share(self, splits: Splits) -> None:
        share = self.valid_share
        if share is None:
            if self.documents is not None:
                raise ConfigError(
                    f"documents is {self.documents!r}, but nothing is held out by documents. Say how much: "
                    "--valid-share 0.01"
                )
            return
        if not (math.isfinite(share) and 0 < share < 1):
            raise ConfigError(f"the share held out is {share}, but must lie between 0 and 1. Choose for instance 0.01.")
        if splits["valid"]:
            raise ConfigError(
                f"both held-out files ({splits['valid'][0]}) and a share to hold out ({share}) are given, but there is "
                "one held-out text. Give one or the other."
            )
        if self.documents == "row" and self.sentences == "across-lines":
            raise ConfigError(
                "documents are rows, but sentences go on over line ends, so a line may be half a sentence. Use "
                "--documents block or file."
            )
        for file in splits["train"]:
            if self.documents == "file" and str(file) == STDIN:
                raise ConfigError(
                    "documents are files, but standard input is none. Put the text into files, or use --documents row "
                    "or block."
                )
            if self.documents == "block" and format_of(file, self.format) == "jsonl":
                raise ConfigError(
                    f"{file} is JSON lines, where blank lines part nothing, but documents are blocks. Use --documents "
                    "row or file."
                )
