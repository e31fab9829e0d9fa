"""The flags of verbs that train vectors on a text, which they read several times."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from elmo.text.files.text_file import require_other_file
from elmo.text.reading.settings import TextForm, require_used_field

if TYPE_CHECKING:
    from elmo.static.training.corpus import Corpus


@dataclass(frozen=True)
class TrainingText(TextForm):
    """How the text is read."""

    tokenizer: str = "whitespace"
    """How the text is split into tokens: whitespace; unicode: by rules, for text that isn't tokenized; or
    module:function, a function of your own."""
    encoding: str = "utf-8"
    """Encoding of all texts."""
    errors: Literal["strict", "skip"] = "strict"
    """What to do with a line that isn't valid text. strict: stop; skip: list and skip it."""

    def corpus(self, texts: Sequence[Path], output: Path) -> "Corpus":
        """The text of these files, none of which may be `output`."""
        # Imported here so that --help stays fast.
        from elmo.static.training.corpus import Corpus
        from elmo.text.tokenizer import tokenizer

        require_used_field(texts, self.format, self.field)
        for text in texts:
            require_other_file(text, output)
        return Corpus(
            texts,
            format=self.format,
            field=self.field,
            tokenize=tokenizer(self.tokenizer),
            encoding=self.encoding,
            errors=self.errors,
        )
