"""Textual entailment as a task."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from elmo.errors import TextError
from elmo.tasks.labels import LabelTask, Prediction, classification_scores, plain_prediction
from elmo.tasks.lines import labelled_lines, of_own_names
from elmo.tasks.rules import majority_rule, naive_bayes_rule
from elmo.tasks.snli.data import SentencePair, SnliSettings, read_pairs, read_unlabelled_pairs
from elmo.tasks.task import Plain, Rule, Scores, TextReading


def hypothesis_words(pair: SentencePair) -> list[str]:
    """In lower case."""
    return [word.lower() for word in pair.hypothesis]


def words_and_premise(pair: SentencePair) -> list[str]:
    """The hypothesis's words, each marked as known from the premise or as new."""
    premise = {word.lower() for word in pair.premise}
    return [f"{'known' if word in premise else 'new'}: {word}" for word in hypothesis_words(pair)]


def score_label_files(
    gold: Sequence[SentencePair], gold_name: Path | str, predicted: Path | str, encoding: str
) -> Scores:
    """`classification_scores` of the gold pairs. Predictions may be in any order; those for other pairs are ignored.

    Raises TextError with file and line for lines of another form, for a pair without a prediction or with two different
    ones, and for two gold pairs of the same name.
    """
    of_own_names(gold, lambda pair: (pair.id, f"{gold_name}:{pair.line}"))
    labels = _labels(predicted, encoding)
    answers = []
    for pair in gold:
        if pair.id not in labels:
            raise TextError(
                f"{predicted}: has no prediction for the pair {pair.id!r} of {gold_name}:{pair.line}. Predict exactly "
                "the gold file's pairs."
            )
        answers.append(labels[pair.id])
    return classification_scores([pair.label for pair in gold], answers)


def _labels(path: Path | str, encoding: str) -> dict[str, str]:
    labels: dict[str, str] = {}
    for number, line in enumerate(labelled_lines(path, encoding), start=1):
        if not line.strip():
            continue
        name, _, label = line.partition("\t")
        if not label.strip() or labels.setdefault(name, label.strip()) != label.strip():
            raise TextError(
                f"{path}:{number}: has no label, or another one than an earlier line for the same pair. Fix it: each "
                "line must be a pairID, a tab and a label."
            )
    return labels


class Entailment(LabelTask[SnliSettings, SentencePair]):
    """Pairs of sentences; predictions are labels with the probabilities of all."""

    name = "snli"
    summary = "whether a premise entails a hypothesis, contradicts it or neither, in SNLI's files"
    settings = SnliSettings
    model = "elmo.tasks.snli.model:ESIM"
    kind = "pair"
    other_column = (
        "Columns are read as label, premise, hypothesis: put them in this order, or name them in a header: gold_label, "
        "sentence1, sentence2."
    )
    reading_flags = ("tokenizer", "encoding", "errors")

    def read(self, path: Path | str, settings: SnliSettings) -> list[SentencePair]:
        return read_pairs(path, settings.entailment)

    def read_unlabelled(self, path: Path | str, settings: SnliSettings, reading: TextReading) -> Iterator[SentencePair]:
        return read_unlabelled_pairs(path, settings.entailment, reading)

    def sentences(self, example: SentencePair) -> list[list[str]]:
        return [example.premise, example.hypothesis]

    def group(self, example: SentencePair, place: int) -> Hashable:
        return tuple(example.premise)

    def rules(self, examples: list[SentencePair]) -> list[Rule[SentencePair, Prediction]]:
        """The most frequent label; naive Bayes without the premise, and with it."""
        return [
            majority_rule(examples),
            naive_bayes_rule(
                examples,
                hypothesis_words,
                name="naive-bayes-hypothesis",
                label="rule: naive Bayes on the hypothesis alone",
            ),
            naive_bayes_rule(
                examples,
                words_and_premise,
                label="rule: naive Bayes on the hypothesis, counting words of the premise separately",
            ),
        ]

    def score_files(self, gold: Path | str, predicted: Path | str, settings: SnliSettings) -> Scores:
        return score_label_files(self.read(gold, settings), gold, predicted, settings.entailment.encoding)

    def write(self, pairs: Iterable[tuple[SentencePair, Prediction]]) -> Iterator[str]:
        return (f"{example.id or place}\t{prediction['label']}" for place, (example, prediction) in enumerate(pairs, 1))

    def to_json(self, example: SentencePair, prediction: Prediction) -> Mapping[str, Plain]:
        return {
            "pairID": example.id,
            "premise": example.premise,
            "hypothesis": example.hypothesis,
            "prediction": plain_prediction(prediction),
        }


TASK = Entailment()
