"""Textual entailment as a task."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from elmo.errors import ConfigError, TextError
from elmo.tasks.labels.classification import (
    Prediction,
    classification_counts,
    classification_scores,
    only_label,
    require_known_label,
    require_learnable,
)
from elmo.tasks.rules.rule import Rule
from elmo.tasks.snli.data import SentencePair, read_pairs, read_unlabelled_pairs
from elmo.tasks.snli.rules import rules_of
from elmo.tasks.snli.score import score_label_files
from elmo.tasks.snli.settings import NO_INPUT, Settings
from elmo.tasks.task import Counts, Plain, Scores, Task, TextReading, Vocabulary
from elmo.text.tokenizer import tokenizer

if TYPE_CHECKING:
    from elmo.tasks.snli.model import ESIM
    from elmo.tasks.tokens.representation import TokenRepresentation

_OTHER_COLUMN = (
    "Columns are read as label, premise, hypothesis: say which one has the labels with --label-column, or name them in "
    "a header: gold_label, sentence1, sentence2."
)


class Entailment(Task[Settings, SentencePair, Prediction]):
    """Pairs of sentences; predictions are labels with the probabilities of all."""

    name = "snli"
    summary = "whether a premise entails a hypothesis, contradicts it or neither, in SNLI's files"
    metric = "accuracy"
    most_tokens = 8192
    metric_kind = "accuracy"
    settings = Settings
    reading_flags = ("tokenizer", "encoding", "errors")

    def read(self, path: Path | str, settings: Settings) -> list[SentencePair]:
        own = settings.entailment
        return read_pairs(
            path, tokenizer(own.text_tokenizer), own.encoding, label_column=own.label_column, errors=own.errors
        )

    def read_unlabelled(self, path: Path | str, settings: Settings, reading: TextReading) -> Iterator[SentencePair]:
        # Raw or not: the tokenizer of the training data leaves tokens as they are, and --tokenizer asks for another.
        tokenize = tokenizer(settings.entailment.text_tokenizer) if reading.is_auto else reading.tokenize
        on_bad_line = reading.on_bad_line if reading.errors == "skip" else None
        column = settings.entailment.label_column
        return read_unlabelled_pairs(path, tokenize, reading.encoding, on_bad_line, label_column=column)

    def sentences(self, example: SentencePair) -> list[list[str]]:
        return [example.premise, example.hypothesis]

    def group(self, example: SentencePair, place: int) -> Hashable:
        return tuple(example.premise)

    def vocabulary(self, examples: list[SentencePair], settings: Settings) -> Vocabulary:
        labels = sorted({example.label for example in examples})
        if len(labels) < 2:
            raise TextError(
                f"{examples[0].source if examples else 'the training data'}: all pairs have the same label "
                f"({', '.join(labels) or 'none'}), so there is nothing to learn. Check the file."
            )
        require_learnable([example.label for example in examples], examples[0].source, _OTHER_COLUMN)
        return {"labels": labels}

    def check(self, examples: list[SentencePair], vocabulary: Vocabulary, settings: Settings) -> None:
        if settings.entailment.unseen_labels != "miss":
            for example in examples:
                require_known_label(example.label, vocabulary["labels"], f"{example.source}:{example.line}")

    def check_settings(self, settings: Settings) -> None:
        super().check_settings(settings)
        if not settings.tokens.gives_input:
            raise ConfigError(NO_INPUT)

    def build(self, settings: Settings, vocabulary: Vocabulary, tokens: "TokenRepresentation") -> "ESIM":
        from elmo.tasks.snli.model import ESIM

        return ESIM(settings.entailment, vocabulary, tokens)

    def score(self, examples: Sequence[SentencePair], predictions: Sequence[Prediction]) -> Scores:
        return classification_scores([example.label for example in examples], predictions)

    def counts(self, example: SentencePair, prediction: Prediction) -> Counts:
        return classification_counts(example.label, prediction)

    def rules(self, examples: list[SentencePair]) -> list[Rule[SentencePair, Prediction]]:
        return rules_of(examples)

    def score_files(self, gold: Path | str, predicted: Path | str, settings: Settings) -> Scores:
        return score_label_files(self.read(gold, settings), gold, predicted, settings.entailment.encoding)

    def remarks(self, scores: Scores) -> list[str]:
        label = only_label(scores)
        if label is None:
            return []
        return [f"every pair is given the label {label!r}: train longer, on more data, or with smaller batches"]

    def write(self, pairs: Iterable[tuple[SentencePair, Prediction]]) -> Iterator[str]:
        return (f"{example.id or place}\t{prediction['label']}" for place, (example, prediction) in enumerate(pairs, 1))

    def to_json(self, example: SentencePair, prediction: Prediction) -> Mapping[str, Plain]:
        return {
            "pairID": example.id,
            "premise": example.premise,
            "hypothesis": example.hypothesis,
            "prediction": {"label": prediction["label"], "probabilities": prediction["probabilities"]},
        }


TASK = Entailment()
