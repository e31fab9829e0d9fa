"""A task of your own: is a sentence a question? It is trained, scored and used like the built-in tasks.

python examples/your_own_task.py
elmo task train examples.your_own_task:TASK --train questions.txt -o asker
"""

from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import nn

from elmo.errors import TextError
from elmo.tasks.layers.attention import pool
from elmo.tasks.lines import text_lines
from elmo.tasks.settings import FitSettings, TaskSettings
from elmo.tasks.task import Task, TextReading
from elmo.tasks.task_model import TaskModel
from elmo.tasks.train.job import Files, Job
from elmo.tasks.train.train import train

Example = tuple[list[str], bool | None]  # the tokens, and whether they are a question; None: unknown


@dataclass(frozen=True)
class Settings(TaskSettings):
    fit: FitSettings = field(default_factory=lambda: FitSettings(epochs=8, batch_size=4, learning_rate=0.02))


class Asker(TaskModel[Example, bool]):
    def __init__(self, tokens) -> None:
        super().__init__()
        self.tokens = tokens
        self.top = nn.Linear(3 * tokens.input_dim, 1)

    def forward(self, examples) -> torch.Tensor:
        vectors = self.tokens([words for words, _ in examples])
        return self.top(pool(vectors.input, vectors.mask)).squeeze(1)

    def loss_of(self, outputs, examples):
        asks = torch.tensor([float(bool(asks)) for _, asks in examples], device=self.tokens.device)
        return nn.functional.binary_cross_entropy_with_logits(outputs, asks)

    def decide(self, outputs, examples):
        return (outputs[0] > 0).tolist()


class Questions(Task[Settings, Example, bool]):
    name, metric, settings, places = "questions", "accuracy", Settings, ("input",)

    def read(self, path, settings) -> list[Example]:
        rows = [line.tokens for line in text_lines(path, TextReading())]
        for number, row in enumerate(rows, start=1):
            if row[:1] not in (["yes"], ["no"]):
                raise TextError(f"{path}:{number}: begins with {row[:1]}, not with yes or no. Fix the line.")
        return [(words, answer == "yes") for answer, *words in rows]

    def read_unlabelled(self, path, settings, reading):
        return ((line.tokens, None) for line in text_lines(path, reading))

    def sentences(self, example):
        return [example[0]]

    def build(self, settings, vocabulary, tokens):
        return Asker(tokens)

    def score(self, examples, predictions):
        right = sum(asks == found for (_, asks), found in zip(examples, predictions, strict=True))
        return {"accuracy": 100 * right / max(1, len(examples))}

    def write(self, pairs):
        return (f"{'yes' if found else 'no'} {' '.join(words)}" for (words, _), found in pairs)


TASK = Questions()

if __name__ == "__main__":
    asking = ["who is it ?", "where do you live ?", "what did she say ?", "do you know him ?", "is it far ?"]
    telling = ["it is him .", "we live here .", "she said no .", "he knows you .", "it is far ."]
    Path("questions.txt").write_text(
        "".join(f"yes {one}\n" for one in asking) + "".join(f"no {it}\n" for it in telling)
    )
    print(train(Job(TASK, Settings(), Files(Path("questions.txt")), Path("asker")))["dev"])
