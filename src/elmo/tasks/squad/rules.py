"""What answers questions without learning: a name or number from the sentence that is most like the question."""

from collections.abc import Callable, Iterator, Sequence

from elmo.tasks.rules.rule import Rule
from elmo.tasks.rules.runs import longest_runs
from elmo.tasks.squad.data import PredictedAnswer, Question
from elmo.tasks.squad.tokens import TokenSpan

_SENTENCE_ENDS = frozenset({".", "!", "?", "\u3002"})


def rules_of(examples: Sequence[Question]) -> list[Rule[Question, PredictedAnswer]]:
    """One rule, which takes nothing from the training data."""
    label = "rule: the longest name or number in the sentence that shares most words with the question"
    return [Rule("similar-sentence", label, lambda questions: [answered(one) for one in questions])]


def answered(question: Question) -> PredictedAnswer:
    """The answer by the rule, with probability 1."""
    first, last = _answer(question.passage.tokens, {token.lower() for token in question.question.tokens})
    start, end = question.passage.offsets[first][0], question.passage.offsets[last][1]
    return PredictedAnswer(question.passage.text[start:end], start, end, probability=1.0)


def _answer(passage: Sequence[str], asked: set[str]) -> TokenSpan:
    def shared(sentence: TokenSpan) -> int:
        return len(asked & {token.lower() for token in passage[sentence[0] : sentence[1] + 1]})

    def runs_of_new(is_wanted: Callable[[str], bool]) -> Iterator[TokenSpan]:
        tokens = passage[sentence[0] : sentence[1] + 1]
        return longest_runs((is_wanted(token) and token.lower() not in asked for token in tokens), sentence[0])

    sentence = max(_sentences(passage), key=shared)
    names, words = runs_of_new(_is_name_or_number), runs_of_new(_is_word)
    return max(names, key=_length, default=None) or max(words, key=_length, default=sentence)


def _sentences(tokens: Sequence[str]) -> Iterator[TokenSpan]:
    """(first, last) token of each; a sentence ends with a full stop or the like."""
    first = 0
    for place, token in enumerate(tokens):
        if token in _SENTENCE_ENDS or place == len(tokens) - 1:
            yield first, place
            first = place + 1


def _length(span: TokenSpan) -> int:
    return span[1] - span[0]


def _is_name_or_number(token: str) -> bool:
    return token[0].isupper() or any(character.isdigit() for character in token)


def _is_word(token: str) -> bool:
    return any(character.isalnum() for character in token)
