"""What a language model predicts for a token: the token itself, its longest beginning, or `<UNK>`.

Where words are built of many parts, a list of 30,000 words leaves a third of the tokens to `<UNK>`, which teaches
nothing and makes perplexity a figure about one symbol. A vocabulary may therefore list beginnings beside words: the
entry `학교⋯` is the target of every token that begins with `학교` and isn't listed itself. Each token still has one
target, so the softmax, its loss and its perplexity stay what they are.
"""

from collections.abc import Sequence

from elmo.errors import TextError
from elmo.text.characters import BEGIN_SENTENCE, END_SENTENCE

UNKNOWN = "<UNK>"
SPECIAL_WORDS = (BEGIN_SENTENCE, END_SENTENCE, UNKNOWN)

BEGINNING_MARK = "\N{WORD JOINER}\N{MIDLINE HORIZONTAL ELLIPSIS}"
"""Ends an entry that stands for all tokens with this beginning. It looks like an ellipsis, but its first character,
which takes no space, keeps it apart from the ellipses of texts."""


def is_beginning(entry: str) -> bool:
    """Whether an entry of a vocabulary is a beginning, not a word."""
    return len(entry) > len(BEGINNING_MARK) and entry.endswith(BEGINNING_MARK)


class TargetIds:
    """Tokens -> ids of their targets. Of equal entries the last one's id counts, as in bilm-tf, but a special word's
    first one. Raises TextError if a special word is missing."""

    def __init__(self, entries: Sequence[str]) -> None:
        ids = {entry: index for index, entry in enumerate(entries)}
        if missing := [word for word in SPECIAL_WORDS if word not in ids]:
            raise TextError(
                f"the vocabulary has no {' and no '.join(missing)}, which language models predict for boundaries and "
                f"unknown tokens. Put {', '.join(SPECIAL_WORDS)} into its first three lines."
            )
        ids |= {word: entries.index(word) for word in SPECIAL_WORDS}
        self.begin, self.end, self.unknown = (ids[word] for word in SPECIAL_WORDS)
        self._beginnings = {
            entry.removesuffix(BEGINNING_MARK): index for entry, index in ids.items() if is_beginning(entry)
        }
        self._words = {word: index for word, index in ids.items() if not is_beginning(word)}
        self._longest = max(map(len, self._beginnings), default=0)

    def __contains__(self, token: object) -> bool:
        """Whether `token` itself is listed."""
        return token in self._words

    def id(self, token: str) -> int:
        """The id of `token` if it is listed, else of its longest beginning that is, else of `<UNK>`."""
        found = self._words.get(token)
        return self._beginning(token) if found is None else found

    def _beginning(self, token: str) -> int:
        for length in range(min(self._longest, len(token) - 1), 0, -1):
            if (found := self._beginnings.get(token[:length])) is not None:
                return found
        return self.unknown
