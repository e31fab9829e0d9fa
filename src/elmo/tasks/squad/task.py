"""Question answering as a task."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from elmo.errors import ConfigError
from elmo.tasks.rules.rule import Rule
from elmo.tasks.squad.data import (
    PredictedAnswer,
    Question,
    read_predictions,
    read_questions,
    require_own_id,
    write_predictions,
)
from elmo.tasks.squad.rules import rules_of
from elmo.tasks.squad.score import bound_f1, match, squad_scores
from elmo.tasks.squad.settings import NO_INPUT, Settings
from elmo.tasks.squad.unlabelled import read_unlabelled
from elmo.tasks.task import Counts, Plain, Scores, Task, TextReading, Vocabulary

if TYPE_CHECKING:
    import numpy as np

    from elmo.tasks.squad.model import Reader
    from elmo.tasks.tokens.representation import TokenRepresentation


class QuestionAnswering(Task[Settings, Question, PredictedAnswer]):
    """Questions about passages, in SQuAD 1.1 JSON; predictions are parts of the passages."""

    name = "squad"
    summary = "answers to questions, cut from a passage, in SQuAD 1.1 JSON"
    metric = "f1"
    most_tokens = 8192
    metric_kind = "mean"
    settings = Settings
    reading_flags = ("encoding", "errors")

    def read(self, path: Path | str, settings: Settings) -> list[Question]:
        return read_questions(path, settings.reader)

    def read_unlabelled(self, path: Path | str, settings: Settings, reading: TextReading) -> Iterator[Question]:
        return read_unlabelled(path, settings.reader, reading)

    def sentences(self, example: Question) -> list[tuple[str, ...]]:
        return [example.question.tokens, example.passage.tokens]

    def size(self, example: Question) -> int:
        return len(example.passage.tokens)

    def group(self, example: Question, place: int) -> Hashable:
        return example.article or example.passage.text

    def training(self, examples: list[Question], settings: Settings) -> list[Question]:
        target = settings.reader.target
        return examples if target == "random" else [_with_target(question, target) for question in examples]

    def drawn(self, example: Question, random: "np.random.Generator") -> Question:
        chosen = int(random.integers(len(example.answers)))
        return replace(example, answers=example.answers[chosen : chosen + 1])

    def vocabulary(self, examples: list[Question], settings: Settings) -> Vocabulary:
        from elmo.tasks.layers.character_ids import characters_of

        passages = {example.passage.text: example.passage.tokens for example in examples}
        texts = [*passages.values(), *(example.question.tokens for example in examples)]
        words = [word for tokens in texts for word in tokens]
        return {"characters": characters_of(words, settings.reader.min_character_count)}

    def check(self, examples: list[Question], vocabulary: Vocabulary, settings: Settings) -> None:
        """Nothing depends on the training data: what can be wrong is found by `read`."""

    def check_settings(self, settings: Settings) -> None:
        super().check_settings(settings)
        if not settings.tokens.gives_input and not settings.reader.character_filters:
            raise ConfigError(NO_INPUT)

    def build(self, settings: Settings, vocabulary: Vocabulary, tokens: "TokenRepresentation") -> "Reader":
        from elmo.tasks.squad.model import Reader

        return Reader(settings.reader, vocabulary, tokens)

    def score(self, examples: Sequence[Question], predictions: Sequence[PredictedAnswer]) -> Scores:
        named = {example.id: answer.text for example, answer in zip(examples, predictions, strict=True)}
        return squad_scores(examples, named)

    def counts(self, example: Question, prediction: PredictedAnswer) -> Counts:
        return {"": (100 * match(prediction.text, [answer.text for answer in example.answers]).f1,)}

    def rules(self, examples: list[Question]) -> list[Rule[Question, PredictedAnswer]]:
        return rules_of(examples)

    def score_files(self, gold: Path | str, predicted: Path | str, settings: Settings) -> Scores:
        questions = self.read(gold, settings)
        most = settings.reader.max_answer_tokens
        bound = bound_f1(questions, lambda tokens: tokens <= most)
        return {
            **squad_scores(questions, read_predictions(predicted, settings.reader.encoding)),
            f"token_bound_f1_up_to_{most}": bound,
        }

    def remarks(self, scores: Scores) -> list[str]:
        unanswered = scores["unanswered"]
        return [f"{unanswered} questions have no prediction and count 0"] if unanswered else []

    def write(self, pairs: Iterable[tuple[Question, PredictedAnswer]]) -> Iterator[str]:
        """One JSON object by id, so two questions of one id, of two files perhaps, are a TextError."""
        return write_predictions(_own_ids(pairs))

    def to_json(self, example: Question, prediction: PredictedAnswer) -> Mapping[str, Plain]:
        return {"id": example.id, "question": example.question.text, "prediction": vars(prediction)}


def _own_ids(pairs: Iterable[tuple[Question, PredictedAnswer]]) -> Iterator[tuple[str, str]]:
    seen: dict[str, str] = {}
    for question, answer in pairs:
        require_own_id(question, seen)
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
