"""Question answering as a task, with the official scores of SQuAD 1.1: exact match (EM) and F1 over words, in percent.

Both compare normalized strings: lower-cased, without ASCII punctuation, without the articles a, an, the, with single
blanks, in that order. Both are maxima over a question's gold answers, each by itself; a question without a prediction
counts 0. Source: Rajpurkar et al. 2016, evaluation script of version 1.1; its figures are reproduced digit by digit.
"""

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from elmo.tasks.counts import percentage
from elmo.tasks.labels import characters_of
from elmo.tasks.lines import require_own_name
from elmo.tasks.rules import longest_runs
from elmo.tasks.squad.data import (
    PredictedAnswer,
    Question,
    id_of,
    read_predictions,
    read_questions,
    read_unlabelled,
    write_predictions,
)
from elmo.tasks.squad.tokens import SquadSettings, TokenSpan
from elmo.tasks.task import Counts, Plain, Rule, Scores, Task, TextReading, Vocabulary

if TYPE_CHECKING:
    import numpy as np


_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True)
class Match:
    """How well a prediction agrees with the gold answers of its question."""

    exact: bool
    f1: float
    """Between 0 and 1."""


def normalized(answer: str) -> str:
    """An answer as the scores compare it. Punctuation goes first: "an-other" has no article."""
    bare = answer.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def f1(prediction: str, gold: str) -> float:
    """Harmonic mean of precision and recall over words, each counted as often as it occurs.

    0 when both have no word left ("the" and "a"), though these match exactly: so does version 1.1 of the script.
    """
    found, given = normalized(prediction).split(), normalized(gold).split()
    shared = (Counter(found) & Counter(given)).total()
    if shared == 0:
        return 0.0
    precision, recall = shared / len(found), shared / len(given)
    return 2 * precision * recall / (precision + recall)


def match(prediction: str, gold: Sequence[str]) -> Match:
    """The best of each score over the gold answers."""
    is_exact = normalized(prediction) in map(normalized, gold)
    return Match(is_exact, max(f1(prediction, own) for own in gold))


def squad_scores(questions: Sequence[Question], predictions: Mapping[str, str]) -> dict[str, float | int]:
    """`exact_match` and `f1` in percent, counts, and the best that any choice of tokens could reach.

    `predictions`: answers by the question's id. `unanswered`: questions without one; `superfluous`: predictions for
    other ids, which count for nothing. `token_bound_f1`: F1 if every gold answer were found, as far as it falls on
    tokens.
    """
    matches = [
        match(predictions[question.id], _gold(question)) if question.id in predictions else Match(False, 0.0)
        for question in questions
    ]
    unanswered = sum(question.id not in predictions for question in questions)
    return {
        "f1": percentage(sum(one.f1 for one in matches), len(matches)),
        "exact_match": percentage(sum(one.exact for one in matches), len(matches)),
        "questions": len(questions),
        "unanswered": unanswered,
        "superfluous": len(predictions) - (len(questions) - unanswered),
        "token_bound_f1": bound_f1(questions),
    }


def bound_f1(questions: Sequence[Question], max_tokens: float = math.inf) -> float:
    """F1 in percent when each gold answer is cut from its passage by its tokens.

    `max_tokens`: of a predicted answer; gold ones that are longer count 0.
    """
    return percentage(sum(_best_f1(question, max_tokens) for question in questions), len(questions))


def _best_f1(question: Question, max_tokens: float) -> float:
    spans = [answer.span for answer in question.answers if answer.span[1] - answer.span[0] < max_tokens]
    return max((match(question.passage.cut(span), _gold(question)).f1 for span in spans), default=0.0)


def _gold(question: Question) -> list[str]:
    return [answer.text for answer in question.answers]


_SENTENCE_ENDS = frozenset({".", "!", "?", "\u3002"})


def answered(question: Question) -> PredictedAnswer:
    """The answer by the rule, with probability 1."""
    span = _answer(question.passage.tokens, {token.lower() for token in question.question.tokens})
    return PredictedAnswer.of(question.passage, span, probability=1.0)


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


class QuestionAnswering(Task[SquadSettings, Question, PredictedAnswer]):
    """Questions about passages, in SQuAD 1.1 JSON; predictions are parts of the passages."""

    name = "squad"
    summary = "answers to questions, cut from a passage, in SQuAD 1.1 JSON"
    metric = "f1"
    most_tokens = 8192
    metric_kind = "mean"
    needs_input = True
    settings = SquadSettings
    model = "elmo.tasks.squad.model:Reader"
    reading_flags = ("encoding", "errors")

    def read(self, path: Path | str, settings: SquadSettings) -> list[Question]:
        return read_questions(path, settings.reader)

    def read_unlabelled(self, path: Path | str, settings: SquadSettings, reading: TextReading) -> Iterator[Question]:
        return iter(read_unlabelled(path, settings.reader, reading))

    def sentences(self, example: Question) -> list[tuple[str, ...]]:
        return [example.question.tokens, example.passage.tokens]

    def size(self, example: Question) -> int:
        return len(example.passage.tokens)

    def group(self, example: Question, place: int) -> Hashable:
        return example.article or example.passage.text

    def training(self, examples: list[Question], settings: SquadSettings) -> list[Question]:
        target = settings.reader.target
        return examples if target == "random" else [_with_target(question, target) for question in examples]

    def drawn(self, example: Question, random: "np.random.Generator") -> Question:
        chosen = int(random.integers(len(example.answers)))
        return replace(example, answers=example.answers[chosen : chosen + 1])

    def vocabulary(self, examples: list[Question], settings: SquadSettings) -> Vocabulary:
        passages = {example.passage.text: example.passage.tokens for example in examples}
        texts = [*passages.values(), *(example.question.tokens for example in examples)]
        words = [word for tokens in texts for word in tokens]
        return {"characters": characters_of(words, settings.reader.min_character_count)}

    def score(self, examples: Sequence[Question], predictions: Sequence[PredictedAnswer]) -> Scores:
        named = {example.id: answer.text for example, answer in zip(examples, predictions, strict=True)}
        return squad_scores(examples, named)

    def counts(self, example: Question, prediction: PredictedAnswer) -> Counts:
        return {"": (100 * match(prediction.text, [answer.text for answer in example.answers]).f1,)}

    def rules(self, examples: list[Question]) -> list[Rule[Question, PredictedAnswer]]:
        """One rule, which takes nothing from the training data."""
        label = "rule: the longest name or number in the sentence that shares most words with the question"
        return [Rule("similar-sentence", label, lambda questions: [answered(one) for one in questions])]

    def score_files(self, gold: Path | str, predicted: Path | str, settings: SquadSettings) -> Scores:
        questions = self.read(gold, settings)
        most = settings.reader.max_answer_tokens
        scores = squad_scores(questions, read_predictions(predicted, settings.reader.encoding))
        return {**scores, f"token_bound_f1_up_to_{most}": bound_f1(questions, most)}

    def remarks(self, scores: Scores) -> list[str]:
        unanswered = scores["unanswered"]
        return [f"{unanswered} questions have no prediction and count 0"] if unanswered else []

    def write(self, pairs: Iterable[tuple[Question, PredictedAnswer]]) -> Iterator[str]:
        """One JSON object by id, so two questions of one id, of two files perhaps, are a TextError."""
        return write_predictions(_own_ids(pairs))

    def to_json(self, example: Question, prediction: PredictedAnswer) -> Mapping[str, Plain]:
        return {"id": example.id, "question": example.question.text, "prediction": vars(prediction)}


def _own_ids(pairs: Iterable[tuple[Question, PredictedAnswer]]) -> Iterator[tuple[str, str]]:
    seen: dict[Hashable, str] = {}
    for question, answer in pairs:
        require_own_name(*id_of(question), seen)
        yield question.id, answer.text


def _with_target(question: Question, target: str) -> Question:
    """Only the answer that is trained on: the first one, or the first of those that most annotators gave."""
    answers = question.answers
    if target == "majority":
        counts = Counter(answer.span for answer in answers)
        most = counts.most_common(1)[0][0]
        answers = tuple(answer for answer in answers if answer.span == most)
    return replace(question, answers=answers[:1])


TASK = QuestionAnswering()
