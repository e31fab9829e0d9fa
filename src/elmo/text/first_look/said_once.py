"""ModelReader: texts on their way to one model, one call after the other, with each warning about them once."""

import warnings
from collections.abc import Callable, Sequence
from itertools import islice

from elmo.errors import TextWarning
from elmo.text.first_look.language import Language
from elmo.text.first_look.sample import LINES_LOOKED_AT, FirstLook
from elmo.text.punctuation import Punctuation, punctuation_of
from elmo.text.reading.as_trained import Marks, as_trained
from elmo.text.reading.placed import placed_as_one
from elmo.text.reading.settings import AUTO, Reading
from elmo.text.sentences import Tokenize
from elmo.text.tokenizer import tokenizer as named_tokenizer


class ModelReader:
    """Texts -> tokens as a model reads them. The tokens of a text never depend on other texts."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._said: set[str] = set()

    def marks(self, plain_quotes: bool = True) -> Marks:
        """The typographic marks that are read as plain ones."""
        return self._language.marks if plain_quotes else {}

    def tokens(
        self,
        texts: Sequence[str | Sequence[str]],
        tokenizer: str | Tokenize = AUTO,
        *,
        plain_quotes: bool = True,
        warn: Callable[[str], object] | None = None,
    ) -> list[list[str]]:
        """The tokens of each text; a list of tokens is one too. Warns as `look`.

        `tokenizer`: a name known to `text.tokenizer`, or a function. `plain_quotes`: whether typographic marks are read
        as plain ones.
        """
        split = named_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
        marks = self.marks(plain_quotes)
        name = tokenizer if isinstance(tokenizer, str) else "text"
        found = [
            placed_as_one(text, split, marks, name).tokens if isinstance(text, str) else as_trained(list(text), marks)
            for text in texts
        ]
        self.look(texts, found, Reading(tokenizer=name, plain_quotes=plain_quotes), warn)
        return found

    def look(
        self,
        texts: Sequence[str | Sequence[str]],
        sentences: Sequence[Sequence[str]],
        reading: Reading,
        warn: Callable[[str], object] | None = None,
    ) -> list[str]:
        """Warns of what would make the vectors of the texts poor, or is read otherwise than it is written.

        Each kind is told once. `sentences`: their tokens. `warn`: default: a Python warning, `TextWarning`.
        Gives all that was found, also what had been told before.
        """
        first = list(islice(texts, LINES_LOOKED_AT))
        raw = [text for text in first if isinstance(text, str)]
        is_split = reading.tokenizer == "whitespace"
        look = FirstLook(
            reading,
            "the text",
            punctuation_of(raw, named_tokenizer("unicode")) if is_split else Punctuation(),
            [as_trained(list(tokens), {}) for tokens in islice(sentences, LINES_LOOKED_AT)],
            [word for text in first for word in (text.split() if isinstance(text, str) else text)],
            was_auto=False,
        )
        findings = look.findings(self._language)
        for about, message in findings.items():
            if about not in self._said:
                self._said.add(about)
                (warn or _python_warning)(message)
        return list(findings.values())


def _python_warning(message: str) -> None:
    warnings.warn(message, TextWarning, stacklevel=6)
