"""Sentence classification as a task."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from elmo.errors import TextError
from elmo.tasks.sst.data import LabelledSentence, phrases_of, read_labelled
from elmo.tasks.sst.model import Classifier
from elmo.tasks.sst.score import Prediction, classification_scores
from elmo.tasks.sst.settings import Settings
from elmo.tasks.task import Scores, Task
from elmo.tasks.tokens.representation import TokenRepresentation


class Sentiment(Task):
    """Labelled sentences, in trees or TSV; predictions are labels with the probabilities of all."""

    name = "sst"
    metric = "accuracy"

    def read(self, path: Path | str, settings: Settings) -> list[LabelledSentence]:
        return read_labelled(path, settings.classifier)

    def from_text(self, sentences: Iterable[list[str]]) -> list[LabelledSentence]:
        return [LabelledSentence(tokens) for tokens in sentences]

    def sentences(self, example: LabelledSentence) -> list[list[str]]:
        return [example.tokens]

    def training(self, examples: list[LabelledSentence], settings: Settings) -> list[LabelledSentence]:
        return phrases_of(examples, settings.classifier)

    def vocabulary(self, examples: list[LabelledSentence], settings: Settings) -> dict[str, Any]:
        # Of the phrases too, be they trained on or not.
        labels = {example.label for example in examples}
        labels |= {phrase.label for example in examples for phrase in example.phrases}
        if len(labels) == 1:
            raise TextError(
                f"{examples[0].source}: all sentences of the training data have the label {min(labels)!r}, so there is "
                "nothing to learn. Say which column has the labels with --label-column."
            )
        return {"labels": sorted(labels)}

    def check(self, examples: list[LabelledSentence], vocabulary: dict[str, Any], settings: Settings) -> None:
        known = set(vocabulary["labels"])
        if settings.classifier.unseen_labels == "miss":
            return
        for example in examples:
            if example.label not in known:
                raise TextError(
                    f"{example.source}:{example.line}: the label {example.label!r} isn't in the training data, which "
                    f"has {', '.join(sorted(known))}: it can never be found. Correct it, or count it as missed with "
                    "--unseen-labels miss."
                )

    def build(self, settings: Settings, vocabulary: dict[str, Any], tokens: TokenRepresentation) -> Classifier:
        return Classifier(settings.classifier, vocabulary, tokens)

    def score(self, examples: Sequence[LabelledSentence], predictions: Sequence[Prediction]) -> Scores:
        return classification_scores([example.label for example in examples], predictions)

    def write(self, examples: Sequence[LabelledSentence], predictions: Sequence[Prediction]) -> Iterator[str]:
        # The treebank has no format of its own for answers; this one is read again with --layout tsv.
        for example, prediction in zip(examples, predictions, strict=True):
            yield f"{prediction['label']}\t{' '.join(example.tokens)}"


TASK = Sentiment()
