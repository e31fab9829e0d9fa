"""Trainer: one step of pretraining, and everything that the next step depends on.

A step's chance comes from (seed, step) alone, so what must be saved is the weights, the optimizer's tensors, where
the streams stand and what the LSTMs remember.
"""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from elmo.errors import ElmoError
from elmo.model.bilm import BiLM
from elmo.model.lm_head import LMHead
from elmo.ops.sampled_softmax import LogUniformSampler
from elmo.pretrain.config import PretrainConfig
from elmo.pretrain.direction import DirectionResult, DirectionWindow, forgetting, learn
from elmo.pretrain.schedule import learning_rate, make_optimizer
from elmo.pretrain.shards import TrainingData
from elmo.pretrain.stream import BEGIN_TYPE, END_TYPE, SentenceReader, Stream, Window


class TrainingDiverged(ElmoError):
    """The loss or a gradient is no number any more."""

    exit_code = 1


@dataclass(frozen=True)
class StepResult:
    """What a step found, before its update."""

    losses: dict[str, float]
    """Sampled loss of each direction in nats per token: optimistic, not comparable with a perplexity."""
    gradient_norm: float
    learning_rate: float

    @property
    def loss(self) -> float:
        """Mean over the directions."""
        return sum(self.losses.values()) / len(self.losses)


class Trainer:
    """Weights, optimizer, streams and LSTM states of one run."""

    def __init__(self, config: PretrainConfig, data: TrainingData) -> None:
        self.config = config
        self.data = data
        self.step_number = 0
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.bilm = BiLM(config.architecture(data.max_characters_per_token))
            self.head = LMHead(list(data.vocabulary.words), config.projection_size)
        self.named_parameters = {
            **{f"bilm.{name}": parameter for name, parameter in self.bilm.named_parameters()},
            **{f"head.{name}": parameter for name, parameter in self.head.named_parameters()},
        }
        self.optimizer = make_optimizer(config, self.named_parameters.values())
        self.sampler = LogUniformSampler(len(data.vocabulary.words), config.num_negative_samples)
        shards = data.shards("train")
        self.streams = {
            direction: Stream(
                SentenceReader(shards, direction == "backward", config.seed), config.batch_size, config.unroll_steps
            )
            for direction in self.bilm.config.directions
        }
        state = self.bilm.zero_state(config.batch_size)
        count = len(self.streams)
        self.states = {
            direction: (hidden, cell)
            for direction, hidden, cell in zip(
                self.streams, state.hidden.chunk(count, dim=2), state.cell.chunk(count, dim=2), strict=True
            )
        }
        self.product_dtype = torch.bfloat16 if config.product_dtype == "bfloat16" else None
        # A core for each direction beats both cores on each product: the many small passes between them don't split well.
        self._pool = ThreadPoolExecutor(len(self.streams), initializer=torch.set_num_threads, initargs=(1,))
        self.type_words = torch.from_numpy(np.array(data.type_words, dtype=np.int64))

    @property
    def tokens_per_step(self) -> int:
        """Predictions of each direction in a step."""
        return self.config.batch_size * self.config.unroll_steps

    @property
    def tokens_per_epoch(self) -> int:
        """Predictions of each direction in one pass: every token and one boundary for each sentence."""
        return self.data.num_tokens("train") + self.data.num_sentences("train")

    @property
    def last_step(self) -> int:
        """The step that ends the run."""
        steps = math.ceil(self.config.epochs * self.tokens_per_epoch / self.tokens_per_step)
        return min(steps, self.config.max_steps) if self.config.max_steps else steps

    @property
    def epoch(self) -> float:
        """Passes over the data so far."""
        return self.step_number * self.tokens_per_step / self.tokens_per_epoch

    def step(self) -> StepResult:
        """Read one window a direction, and update the weights."""
        number = self.step_number + 1
        windows = {direction: stream.next() for direction, stream in self.streams.items()}
        inputs = np.stack([window.inputs for window in windows.values()])
        types, places = np.unique(inputs, return_inverse=True)
        vectors = self.bilm.token_vectors(torch.from_numpy(np.asarray(self.data.type_characters[types])))
        tasks = self._tasks(number, windows, torch.from_numpy(places.reshape(inputs.shape)))
        self.optimizer.zero_grad(set_to_none=True)
        results = dict(zip(windows, self._pool.map(partial(self._learn, vectors), windows, tasks), strict=True))
        self._gather(vectors, results)
        norm = torch.nn.utils.clip_grad_norm_(self.named_parameters.values(), self.config.clip_norm).item()
        losses = {direction: result.loss for direction, result in results.items()}
        self._check(number, losses, norm)
        rate = learning_rate(self.config, number, self.last_step)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.states = {direction: (result.hidden, result.cell) for direction, result in results.items()}
        self.step_number = number
        return StepResult(losses, norm, rate)

    def _tasks(self, number: int, windows: dict[str, Window], places: Tensor) -> list[DirectionWindow]:
        """All chance of a step comes from (seed, step), drawn here in a fixed order."""
        generator = np.random.default_rng([self.config.seed, 1, number])
        tasks = []
        for (direction, window), own_places in zip(windows.items(), places, strict=True):
            begins = window.inputs == (BEGIN_TYPE if direction == "forward" else END_TYPE)
            tasks.append(
                DirectionWindow(
                    own_places,
                    self.type_words[torch.from_numpy(window.targets)],
                    self.sampler.draw(generator),
                    forgetting(begins, self.config.state_reset, generator),
                    *self.states[direction],
                    int(generator.integers(2**62)),
                )
            )
        return tasks

    def _learn(self, vectors: Tensor, direction: str, window: DirectionWindow) -> DirectionResult:
        scale = (self.config.unroll_steps if self.config.sum_over_window else 1) / len(self.streams)
        return learn(
            getattr(self.bilm, f"{direction}_lstm"),
            self.head,
            self.sampler,
            vectors,
            window,
            dropout=self.config.dropout,
            scale=scale,
            product_dtype=self.product_dtype,
        )

    def _gather(self, vectors: Tensor, results: dict[str, DirectionResult]) -> None:
        """The directions' gradients of what they share: the token encoder and the softmax."""
        vectors.backward(sum(result.vectors_gradient for result in results.values()))
        self.head.weight.grad = torch.zeros_like(self.head.weight)
        self.head.bias.grad = torch.zeros_like(self.head.bias)
        for result in results.values():
            self.head.weight.grad.index_add_(0, result.softmax_ids, result.weight_gradient)
            self.head.bias.grad.index_add_(0, result.softmax_ids, result.bias_gradient)

    def _check(self, number: int, losses: dict[str, float], norm: float) -> None:
        if math.isfinite(norm) and all(math.isfinite(value) for value in losses.values()):
            return
        raise TrainingDiverged(
            f"step {number}: the loss is {losses} and the gradient's norm {norm}, no numbers any more. The weights "
            "were left as they were before this step. Resume from the last checkpoint with a lower learning_rate."
        )

    def progress_state(self) -> dict[str, Any]:
        """Where the run stands: plain values for JSON."""
        return {
            "step": self.step_number,
            "streams": {direction: stream.state_dict() for direction, stream in self.streams.items()},
        }

    def tensors(self) -> dict[str, Tensor]:
        """The optimizer's and the LSTMs' tensors; the weights are saved as a model."""
        tensors = {}
        for name, parameter in self.named_parameters.items():
            for key, value in self.optimizer.state.get(parameter, {}).items():
                tensors[f"optimizer.{name}.{key}"] = value
        for direction, (hidden, cell) in self.states.items():
            tensors[f"state.{direction}.hidden"], tensors[f"state.{direction}.cell"] = hidden, cell
        return tensors

    @torch.no_grad()
    def restore(self, weights: dict[str, Tensor], tensors: dict[str, Tensor], progress: dict[str, Any]) -> None:
        """Go on exactly from what `progress_state`, `tensors` and `named_parameters` were."""
        for name, parameter in self.named_parameters.items():
            parameter.copy_(weights[name])
            prefix = f"optimizer.{name}."
            found = {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
            if found:
                self.optimizer.state[parameter] = {key: value.clone() for key, value in found.items()}
        for direction, stream in self.streams.items():
            stream.load_state_dict(progress["streams"][direction])
            hidden, cell = (tensors[f"state.{direction}.{part}"] for part in ("hidden", "cell"))
            self.states[direction] = (hidden.clone(), cell.clone())
        self.step_number = progress["step"]
