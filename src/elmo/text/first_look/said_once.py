"""ModelReader: texts on their way to one model, one call after the other, with each warning about them once."""

import warnings
from collections.abc import Callable, Sequence
from itertools import islice

from elmo.errors import TextWarning
from elmo.text.first_look.language import Language
from elmo.text.first_look.sample import LINES_LOOKED_AT, FirstLook
from elmo.text.punctuation import Punctuation, punctuation_of
from elmo.text.reading.as_trained import Marks, as_trained, composed
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
        found = [split(composed(text)[0]) if isinstance(text, str) else list(text) for text in texts]
        name = tokenizer if isinstance(tokenizer, str) else ""
        self.look(texts, found, Reading(tokenizer=name, plain_quotes=plain_quotes), warn)
        return [as_trained(tokens, marks) for tokens in found]

    def look(
        self,
        texts: Sequence[str | Sequence[str]],
        sentences: Sequence[Sequence[str]],
        reading: Reading,
        warn: Callable[[str], object] | None = None,
    ) -> None:
        """Warns of what would make the vectors of the texts poor, or is read otherwise than it is written.

        Each kind is told once. `sentences`: their tokens. `warn`: default: a Python warning, `TextWarning`.
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
        for about, message in look.findings(self._language).items():
            if about not in self._said:
                self._said.add(about)
                (warn or _python_warning)(message)


def _python_warning(message: str) -> None:
    warnings.warn(message, TextWarning, stacklevel=6)
