"""Reading: how files of text become sentences, by the same settings wherever text is read."""

from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Literal

from elmo.errors import ConfigError, TextError, paths_count_from
from elmo.setting_checks import require_types
from elmo.text.files.decoding import checked_encoding
from elmo.text.files.text_file import STDIN, FormatChoice, check_is_text_file, is_stream
from elmo.text.formats.form import DEFAULT_FIELD
from elmo.text.sentences import OnBadText, Tokenize
from elmo.text.tokenizer import tokenizer as named_tokenizer

SentenceEnds = Literal["lines", "within-lines", "across-lines"]
AUTO = "auto"


@dataclass(frozen=True)
class TextForm:
    """In what form a text is stored; the flags that all verbs with a text share."""

    format: FormatChoice = "auto"
    """text: plain text; jsonl: one JSON object per line, or an array of them; csv and tsv: tables with a text per row;
    conll and conllu: one token per line; fasta: proteins, whose letters are the tokens; auto: by the first lines and
    the ending of each file."""
    field: str = DEFAULT_FIELD
    """For JSON lines: the key of the text, or of the list of a sentence's tokens. For CSV and TSV: the column's name,
    or its number, counted from 1, in a file without a header. For CoNLL: the number of the tokens' column (default:
    text, or the first column)."""


@dataclass(frozen=True)
class Reading(TextForm):
    """How text is read; every field is a flag of the verbs that read text."""

    sentences: SentenceEnds = "lines"
    """lines: each line is one sentence. For raw text: within-lines: a line can hold several sentences; across-lines:
    sentences can continue on the next line, and only blank lines end a paragraph."""
    tokenizer: str = AUTO
    """How the text is split into tokens. whitespace: it is already tokenized; unicode: by rules, for raw text; auto:
    whitespace for a file whose first lines are tokenized, and else for a sentence whose own marks stand apart, unicode
    for all others; or module:function, a function of your own."""
    encoding: str = "utf-8"
    """Encoding of the text."""
    errors: OnBadText = "strict"
    """What to do with a line that isn't valid text. strict: stop; skip: list and skip it."""
    plain_quotes: bool = True
    """Typographic quotes, apostrophes, dashes and ellipses, and letters that only look plain (full-width ones,
    ligatures, soft hyphens), are read as plain ones if the model's vocabulary has only these (default);
    --no-plain-quotes leaves them as they are."""

    def check(self) -> None:
        """ConfigError for a value that is none of the choices, an unknown encoding or a tokenizer that isn't there."""
        require_types(self)
        checked_encoding(self.encoding)
        named_tokenizer(self.tokenizer)

    @property
    def tokenize(self) -> Tokenize:
        """The tokenizer's function; that of "auto" looks at each sentence by itself."""
        return named_tokenizer(self.tokenizer)


def text_files(names: Sequence[str]) -> list[str]:
    """The files of `names`, in their order: a name with *, ? or [ that is not a file stands for all that it matches.

    Raises TextError for a missing file, a pattern without a file and a folder, ConfigError if standard input or a pipe
    is one of several: it has no name to be told by.
    """
    if not names:
        raise ConfigError("there is no text: the list of files is empty. Name at least one.")
    found = [file for name in names for file in _matches(name)]
    for file in found:
        check_is_text_file(file)
    if len(found) > 1 and (streams := [file for file in found if is_stream(file)]):
        raise ConfigError(
            f"{streams[0]} is read once, as a stream, but {len(found)} texts were named. Put it into a file, or join "
            "them before: cat TEXT TEXT | elmo ... -"
        )
    return found


def _matches(name: str) -> list[str]:
    if name == STDIN or not has_magic(name) or Path(name).exists():
        return [name]
    # In the order of their names, which doesn't depend on the file system.
    found = sorted(file for file in glob(name, recursive=True) if not Path(file).is_dir())  # noqa: PTH207 - the name may be absolute
    if not found:
        raise TextError(f"{name}: no file matches this pattern. {paths_count_from()}; check the spelling.")
    return found
