"""Reader: questions about passages -> answers cut from the passages. Source: Clark and Gardner 2018.

tokens -> [char CNN ; static vectors ; ELMo] -> BiDAF++ (network.py), with ELMo concatenated to the encoder's output
       -> start and end logits -> best span of at most `max_answer_tokens` tokens -> the passage from its first
          token's start to its last token's end
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from elmo.errors import ConfigError
from elmo.tasks.layers.averages import log_mean_of
from elmo.tasks.layers.few_widths import padded_width
from elmo.tasks.layers.own_characters import own_windows
from elmo.tasks.squad.data import PredictedAnswer, Question
from elmo.tasks.squad.network import BiDAF, Text
from elmo.tasks.squad.settings import NO_INPUT, ReaderSettings
from elmo.tasks.squad.spans import best_spans
from elmo.tasks.squad.tokens import TokenizedText, TokenSpan
from elmo.tasks.task import Vocabulary
from elmo.tasks.task_model import TaskModel
from elmo.tasks.tokens.representation import TokenRepresentation


class Reader(TaskModel[Question, PredictedAnswer]):
    """Questions -> answers."""

    def __init__(self, settings: ReaderSettings, vocabulary: Vocabulary, tokens: TokenRepresentation) -> None:
        """`vocabulary`: "characters" of the training data."""
        super().__init__()
        self.settings = settings
        self.tokens = tokens
        self.characters = own_windows(
            settings,
            vocabulary,
            [settings.character_width],
            max_characters=settings.max_characters,
            dropout=settings.dropout,
        )
        dim = tokens.input_dim + settings.character_filters
        if dim == 0:
            raise ConfigError(NO_INPUT)
        self.network = BiDAF(dim, tokens.output_dim, size=settings.hidden_size, dropout=settings.dropout)

    def loss(self, examples: Sequence[Question]) -> Float[Tensor, ""]:
        """Cross-entropy of the answer's first token plus that of its last one, averaged over the questions."""
        start, end = self._log_probabilities(examples)
        # Of several answers a training step is given one, see `Task.drawn`; elsewhere the first one counts.
        gold = torch.tensor([example.answers[0].span for example in examples], device=start.device)
        return functional.nll_loss(start, gold[:, 0]) + functional.nll_loss(end, gold[:, 1])

    def predict(self, examples: Sequence[Question]) -> list[PredictedAnswer]:
        """The best answer to each question."""
        return self.predict_with([], examples)

    @property
    def outcomes(self) -> tuple[str, int]:
        """Spans up to its longest answer."""
        return "answers of at most this many tokens", self.settings.max_answer_tokens

    def predict_with(
        self, others: Sequence[TaskModel[Question, PredictedAnswer]], examples: Sequence[Question]
    ) -> list[PredictedAnswer]:
        """By the means of the models' probabilities of each first and each last token."""
        found = [model._log_probabilities(examples) for model in self.together_with(others)]
        start, end = log_mean_of([one for one, _ in found]), log_mean_of([one for _, one in found])
        spans = best_spans(start, end, start > -torch.inf, self.settings.max_answer_tokens)
        scores = start.gather(1, spans[:, :1]) + end.gather(1, spans[:, 1:])
        rows = zip(examples, spans.tolist(), scores.exp().squeeze(1).tolist(), strict=True)
        return [_answer(example.passage, (first, last), chance) for example, (first, last), chance in rows]

    def _log_probabilities(
        self, examples: Sequence[Question]
    ) -> tuple[Float[Tensor, "batch tokens"], Float[Tensor, "batch tokens"]]:
        """Of each token to be the answer's first and its last; minus infinity at padding."""
        passage = self._read([example.passage.tokens for example in examples])
        question = self._read([example.question.tokens for example in examples])
        start, end = (logits.masked_fill(~passage.mask, -torch.inf) for logits in self.network(passage, question))
        return start.log_softmax(dim=1), end.log_softmax(dim=1)

    def _read(self, sentences: Sequence[Sequence[str]]) -> Text:
        vectors = self.tokens(sentences)
        parts = [vectors.input] if self.characters is None else [self.characters(sentences), vectors.input]
        read = Text(torch.cat(parts, dim=2), vectors.output, vectors.mask)
        return read.padded(padded_width(vectors.mask.shape[1])) if vectors.mask.is_cpu else read


def _answer(passage: TokenizedText, span: TokenSpan, probability: float) -> PredictedAnswer:
    start, end = passage.offsets[span[0]][0], passage.offsets[span[1]][1]
    return PredictedAnswer(passage.text[start:end], start, end, probability)
