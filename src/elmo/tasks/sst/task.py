"""Sentence classification as a task."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from elmo.errors import TextError, TextWarning
from elmo.setting_checks import require_setting
from elmo.tasks.counts import percentage
from elmo.tasks.labels import (
    LabelTask,
    Prediction,
    characters_of,
    classification_scores,
    plain_prediction,
    predicted_labels,
)
from elmo.tasks.lines import labelled_lines, require_same_sentences, text_lines
from elmo.tasks.rules import majority_rule, naive_bayes_rule
from elmo.tasks.sst.data import LABELS, LabelledSentence, SstSettings, doubt_about, phrases_of, read_labelled
from elmo.tasks.task import Plain, Rule, Scores, TextReading, Vocabulary
from elmo.text.reading.as_trained import composed
from elmo.text.reading.settings import AUTO

if TYPE_CHECKING:
    from elmo.tasks.task_model import TaskModel
    from elmo.tasks.tokens.representation import TokenRepresentation


def sentiment_scores(gold: Sequence[str], predicted: Sequence[Prediction]) -> Scores:
    """`classification_scores` and `sentences`; `binary_accuracy` too if the labels are the treebank's five.

    `binary_accuracy`: of the sentences that aren't neutral (2), the percentage for which 0 and 1 together, or 3 and 4
    together, were rightly the more probable.
    """
    scores = classification_scores(gold, predicted_labels(predicted))
    known = {*gold, *(label for prediction in predicted for label in prediction["probabilities"])}
    if known == set(LABELS) and all(set(prediction["probabilities"]) == known for prediction in predicted):
        scores = {"accuracy": scores.pop("accuracy"), "binary_accuracy": _binary(gold, predicted), **scores}
    return {**scores, "sentences": len(gold)}


def _binary(gold: Sequence[str], predicted: Sequence[Prediction]) -> float:
    correct = total = 0
    for label, prediction in zip(gold, predicted, strict=True):
        if label != "2":
            shares = prediction["probabilities"]
            positive = shares["3"] + shares["4"] > shares["0"] + shares["1"]
            correct += positive == (label in ("3", "4"))
            total += 1
    return percentage(correct, total)


class Sentiment(LabelTask[SstSettings, LabelledSentence]):
    """Labelled sentences, in trees or TSV; predictions are labels with the probabilities of all."""

    name = "sst"
    summary = "the sentiment of sentences, or any other label, in labelled trees or TSV"
    settings = SstSettings
    model = "elmo.tasks.sst.model:Classifier"
    other_column = (
        "Say which column has the labels with --label-column, and which one the sentences with --text-column. --header "
        "skips a line of names."
    )

    def build(
        self, settings: SstSettings, vocabulary: Vocabulary, tokens: "TokenRepresentation"
    ) -> "TaskModel[LabelledSentence, Prediction]":
        if settings.classifier.network == "biattentive":
            return super().build(settings, vocabulary, tokens)
        from elmo.tasks.sst.model import LastState  # as `model`: --help must not load torch

        return LastState(settings.classifier, vocabulary, tokens)

    def check_settings(self, settings: SstSettings) -> None:
        super().check_settings(settings)
        own, tokens = settings.classifier, settings.tokens
        if own.network == "last_state":
            is_input = tokens.encoder == "none" or tokens.placement == "input"
            require_setting(is_input, "placement", tokens.placement, "'input' with --network last_state")
            filters = own.character_filters
            require_setting(not filters, "character_filters", filters, "0 with --network last_state")

    def read(self, path: Path | str, settings: SstSettings) -> list[LabelledSentence]:
        return read_labelled(path, settings.classifier)

    def read_unlabelled(
        self, path: Path | str, settings: SstSettings, reading: TextReading
    ) -> Iterator[LabelledSentence]:
        tokenizer = settings.classifier.text_tokenizer
        if reading.tokenizer == AUTO and tokenizer != "whitespace":
            reading = replace(reading, tokenizer=tokenizer)
        lines = text_lines(path, reading)
        return (LabelledSentence(it.tokens, source=it.source, line=it.line) for it in lines)

    def sentences(self, example: LabelledSentence) -> list[list[str]]:
        return [example.tokens]

    def training(self, examples: list[LabelledSentence], settings: SstSettings) -> list[LabelledSentence]:
        return phrases_of(examples, settings.classifier)

    def vocabulary(self, examples: list[LabelledSentence], settings: SstSettings) -> Vocabulary:
        found = super().vocabulary(examples, settings)
        if doubt := doubt_about(examples):
            warnings.warn(f"{examples[0].source}: {doubt}", TextWarning, stacklevel=2)
        if not settings.classifier.character_filters:
            return found
        return {**found, "characters": characters_of({w for it in examples for w in it.tokens})}

    def labels_of(self, example: LabelledSentence) -> list[str]:
        return [example.label, *(phrase.label for phrase in example.phrases)]  # trained on or not

    def score(self, examples: Sequence[LabelledSentence], predictions: Sequence[Prediction]) -> Scores:
        return sentiment_scores([example.label for example in examples], predictions)

    def rules(self, examples: list[LabelledSentence]) -> list[Rule[LabelledSentence, Prediction]]:
        return [
            majority_rule(examples),
            naive_bayes_rule(examples, lambda example: map(str.lower, example.tokens)),
        ]

    def score_files(self, gold: Path | str, predicted: Path | str, settings: SstSettings) -> Scores:
        right = self.read(gold, settings)
        numbered = enumerate(labelled_lines(predicted, settings.classifier.encoding), start=1)
        lines = [(number, *line.partition("\t")[::2]) for number, line in numbered if line.strip()]
        if len(lines) != len(right):
            raise TextError(f"{predicted}: has {len(lines)} sentences, {gold} has {len(right)}. Score all of them.")
        wanted = [(f"{gold}:{example.line}", " ".join(example.tokens).split()) for example in right]
        found = [
            (f"{predicted}:{number}", composed(text)[0].split() or own)  # a line may have the label alone
            for (number, _, text), (_, own) in zip(lines, wanted, strict=True)
        ]
        require_same_sentences(wanted, found)
        labels = [label.strip() for _, label, _ in lines]
        return self.score(right, [Prediction(label=label, probabilities={}) for label in labels])

    def write(self, pairs: Iterable[tuple[LabelledSentence, Prediction]]) -> Iterator[str]:
        # The treebank has no format of its own for predictions; this one can be read again with --layout tsv.
        return (f"{prediction['label']}\t{' '.join(example.tokens)}" for example, prediction in pairs)

    def to_json(self, example: LabelledSentence, prediction: Prediction) -> Mapping[str, Plain]:
        return {"tokens": example.tokens, "prediction": plain_prediction(prediction)}


TASK = Sentiment()
