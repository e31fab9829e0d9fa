"""The official scores of SQuAD 1.1: exact match (EM) and F1 over words, in percent of all questions.

Both compare normalized strings: lower-cased, without ASCII punctuation, without the articles a, an, the, with single
blanks, in that order. Both are maxima over a question's gold answers, each by itself; a question without a prediction
counts 0. Source: Rajpurkar et al. 2016, evaluation script of version 1.1; its figures are reproduced digit by digit.
"""

import math
import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from elmo.tasks.counts import percentage
from elmo.tasks.squad.data import Question

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
