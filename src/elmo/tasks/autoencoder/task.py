"""The sequence autoencoder as a task: text -> a language model that has learned to keep a sentence in its state.

What another task begins with is the biLM in the model's folder: `elmo task train sst --model RUN/model/bilm ...`.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from elmo.setting_checks import require_setting
from elmo.tasks.autoencoder.settings import AutoencoderTaskSettings
from elmo.tasks.counts import percentage
from elmo.tasks.labelled_lines import nothing_in, skipping
from elmo.tasks.task import Plain, Scores, Task, TextReading, Vocabulary
from elmo.tasks.unlabelled import TextLine, text_lines
from elmo.text.characters import END_SENTENCE

if TYPE_CHECKING:
    from elmo.tasks.autoencoder.model import Reproduced

_UNKNOWN = "<UNK>"


def read_and_reproduced(tokens: Sequence[str]) -> list[str]:
    """A sentence as the language model reads it: whole, then again."""
    return [*tokens, END_SENTENCE, *tokens]


class SequenceAutoencoder(Task[AutoencoderTaskSettings, TextLine, "Reproduced"]):
    """Sentences, one per line, tokens separated by blanks; a prediction is the sentence as it was reproduced."""

    name = "autoencoder"
    summary = "sentences reproduced from a forward language model's state, to pretrain it; text, a sentence per line"
    metric = "accuracy"
    settings = AutoencoderTaskSettings
    model = "elmo.tasks.autoencoder.model:Autoencoder"
    places = ("input",)
    needs_input = True

    def check_settings(self, settings: AutoencoderTaskSettings) -> None:
        super().check_settings(settings)
        best_by = settings.fit.best_by
        # The epoch with the highest one would be the worst.
        require_setting(best_by != "perplexity", "best_by", best_by, "accuracy, of which more is better")

    def read(self, path: Path | str, settings: AutoencoderTaskSettings) -> list[TextLine]:
        own = settings.autoencoder
        with skipping(path, own.errors) as on_bad:
            reading = TextReading(encoding=own.encoding, errors=own.errors, on_bad_line=on_bad)
            found = list(self.read_unlabelled(path, settings, reading))
        if not found:
            raise nothing_in(path, "sentence")
        return found

    def read_unlabelled(
        self, path: Path | str, settings: AutoencoderTaskSettings, reading: TextReading
    ) -> Iterator[TextLine]:
        return (line for line in text_lines(path, reading) if line.tokens)

    def sentences(self, example: TextLine) -> list[list[str]]:
        return [read_and_reproduced(example.tokens)]

    def vocabulary(self, examples: list[TextLine], settings: AutoencoderTaskSettings) -> Vocabulary:
        counts = Counter(word for example in examples for word in example.tokens)
        words = sorted(counts.keys() - {_UNKNOWN, END_SENTENCE}, key=lambda word: (-counts[word], word))
        return {"words": [_UNKNOWN, END_SENTENCE, *words[: settings.autoencoder.num_words]]}

    def score(self, examples: Sequence[TextLine], predictions: Sequence["Reproduced"]) -> Scores:
        """`accuracy`: percentage of tokens that are the most probable in their place; `perplexity`; `sentences`."""
        num_tokens = sum(len(example.tokens) + 1 for example in examples)
        nats = math.fsum(prediction.nats for prediction in predictions)
        return {
            "accuracy": percentage(sum(prediction.num_right for prediction in predictions), num_tokens),
            "perplexity": math.exp(min(nats / max(num_tokens, 1), 700.0)),  # or it overflows
            "sentences": len(examples),
        }

    def write(self, pairs: Iterable[tuple[TextLine, "Reproduced"]]) -> Iterator[str]:
        return (" ".join(prediction.tokens) for _, prediction in pairs)

    def to_json(self, example: TextLine, prediction: "Reproduced") -> Mapping[str, Plain]:
        return {"tokens": example.tokens, "prediction": prediction._asdict()}


TASK = SequenceAutoencoder()
