"""A task of your own with any output: reproduce a sentence from a language model's state alone (Dai and Le 2015).

The forward language model reads "<S> w1 ... wn </S> w1 ... wn" and predicts "w1 ... wn </S>" after the first "</S>".
What another task begins with is the trained model in the run's folder: --model RUN/model/bilm.

python examples/sequence_autoencoder.py
elmo task train examples.sequence_autoencoder:TASK --model LM --train text.txt -o autoencoder
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from torch import nn

from elmo import BiLM, BiLMConfig
from elmo.tasks.lines import TextLine, text_lines
from elmo.tasks.settings import FitSettings, TaskSettings, TokenSettings
from elmo.tasks.task import Task, TextReading
from elmo.tasks.task_model import TaskModel
from elmo.tasks.train.job import Files, Job
from elmo.tasks.train.train import train
from elmo.text.token_map import TokenMap, WordMap

END, UNKNOWN, MOST_WORDS = "</S>", "<UNK>", 10_000


@dataclass(frozen=True)
class Settings(TaskSettings):
    tokens: TokenSettings = field(
        default_factory=lambda: TokenSettings(
            layers="top", train_gamma=False, elmo_dropout=0.0, train_bilm=True, new_bilm=True
        )
    )
    fit: FitSettings = field(default_factory=lambda: FitSettings(epochs=5, patience=0, decay="linear"))


class Autoencoder(TaskModel[TextLine, list[str]]):
    def __init__(self, vocabulary, tokens) -> None:
        super().__init__()
        tokens.require_forward("the autoencoder")
        self.tokens, self.words = tokens, vocabulary["words"]
        self.numbers = {word: number for number, word in enumerate(self.words)}
        self.softmax = nn.Linear(tokens.input_dim, len(self.words))

    def forward(self, examples) -> torch.Tensor:
        states = self.tokens([[*one.tokens, END, *one.tokens] for one in examples]).input
        parts = [row[len(one.tokens) : 2 * len(one.tokens) + 1] for row, one in zip(states, examples, strict=True)]
        return self.softmax(torch.cat(parts))

    def loss_of(self, outputs, examples):
        gold = [self.numbers.get(word, 0) for one in examples for word in (*one.tokens, END)]
        return nn.functional.cross_entropy(outputs, torch.tensor(gold, device=outputs.device))

    def decide(self, outputs, examples):
        parts = outputs[0].argmax(dim=1).split([len(one.tokens) + 1 for one in examples])
        return [[self.words[number] for number in part.tolist()] for part in parts]


class SequenceAutoencoder(Task[Settings, TextLine, list[str]]):
    name, metric, settings, places = "autoencoder", "accuracy", Settings, ("input",)

    def read(self, path, settings):
        return list(self.read_unlabelled(path, settings, TextReading()))

    def read_unlabelled(self, path, settings, reading):
        return (line for line in text_lines(path, reading) if line.tokens)

    def sentences(self, example):
        return [[*example.tokens, END, *example.tokens]]

    def vocabulary(self, examples, settings):
        counts = Counter(word for one in examples for word in one.tokens)
        return {"words": [UNKNOWN, END, *(word for word, _ in counts.most_common(MOST_WORDS))]}

    def build(self, settings, vocabulary, tokens):
        return Autoencoder(vocabulary, tokens)

    def score(self, examples, predictions):
        pairs = [
            pair for one, found in zip(examples, predictions, strict=True)
            for pair in zip([*one.tokens, END], found, strict=True)
        ]  # fmt: skip
        return {"accuracy": 100 * sum(one == other for one, other in pairs) / max(1, len(pairs))}

    def write(self, pairs):
        return (" ".join(found) for _, found in pairs)


TASK = SequenceAutoencoder()

if __name__ == "__main__":
    Path("text.txt").write_text("the cat sat\nthe dog ran\na cat ran\na dog sat\n" * 10)
    words = ["<S>", END, UNKNOWN, "the", "a", "cat", "dog", "sat", "ran"]
    config = BiLMConfig(
        characters="none", num_words=10, word_dim=16, token_projection=False, cell_size=16, projection_size=16,
        num_layers=1, projection_clip=None, direction="forward",
    )  # fmt: skip
    BiLM(config, TokenMap(None, WordMap({word: number for number, word in enumerate(words, 1)}))).save_pretrained("lm")
    settings = Settings(replace(Settings().tokens, model="lm"), FitSettings(epochs=20, learning_rate=0.03))
    print(train(Job(TASK, settings, Files(Path("text.txt")), Path("autoencoder")))["dev"])
