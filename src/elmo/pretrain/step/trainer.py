"""Trainer: one step of pretraining, and everything that the next step depends on.

All randomness of a step comes from (seed, step) alone, so what must be saved is the weights, the optimizer's tensors,
the positions of the streams and the states of the LSTMs.

On a GPU a step waits for the device at its end, when the losses and the global norm are read. Everything known on the
host (ids, rows, places) is sorted there and sent without waiting.
"""

import math
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.func import functional_call

from elmo.corpus.shards import TrainingData
from elmo.errors import ElmoError
from elmo.ops.product import TrainedProducts
from elmo.ops.projected_lstm import projected_lstm_window
from elmo.ops.projected_lstm.window_graphs import WindowGraphs
from elmo.ops.sampled_softmax import LogUniformSampler
from elmo.ops.transfer import on_device
from elmo.pretrain.ranks.distributed import Ranks
from elmo.pretrain.ranks.gradients import (
    Gradient,
    Reduction,
    RowGradient,
    RowOptimizer,
    add_up,
    clip_,
    shifted_by_padding,
)
from elmo.pretrain.settings.config import PretrainConfig
from elmo.pretrain.step.direction import DirectionResult, DirectionWindow, RowDropout, learn
from elmo.pretrain.step.plan import DirectionPlan, Planner
from elmo.pretrain.step.setup import TypeIds, learning_rate, make_optimizer, new_model
from elmo.pretrain.step.stream import RunPosition
from elmo.process.device import chosen_device
from elmo.process.stop_flag import StopFlag

_WORD_TABLE = "bilm.token_encoder.word_embedding"


class TrainingDiverged(ElmoError):  # noqa: N818 - what happened
    """The loss or a gradient is not finite (NaN or inf)."""

    exit_code = 1


@dataclass(frozen=True)
class StepResult:
    """The results of a step, before its update."""

    losses: dict[str, float]
    """Loss of each direction in nats per token. Sampled: optimistic, not comparable with a perplexity."""
    gradient_norm: float
    """The global norm, before the clip"""
    learning_rate: float
    stop_signal: int = 0
    """The signal by which a rank was asked to stop before the ranks exchanged their losses; 0: none was."""

    @property
    def loss(self) -> float:
        """Mean over the directions."""
        return sum(self.losses.values()) / len(self.losses)


class Trainer:
    """Weights, optimizer, streams and LSTM states of one run.

    `ranks`: the processes that train together; each has a trainer, which reads its block of the rows. All ranks must
    call `step`, and the other methods that say so, together. The weights are then the same on all ranks, and equal to
    those that one process finds up to rounding. It computes on the device of `ranks`.
    """

    def __init__(self, config: PretrainConfig, data: TrainingData, ranks: Ranks | None = None) -> None:
        self.config = config
        self.data = data
        self.ranks = ranks or Ranks()
        self.device = chosen_device(self.ranks.device)
        self.rows = self.ranks.rows(config.batch_size)
        self.step_number = 0
        self.tokens_read = 0
        self.warmup_tokens = 0
        """Of `tokens_read`, those of the learning rate's warm-up."""
        self.type_ids = TypeIds.of(config, data)
        self.bilm, self.head = new_model(config, data, self.type_ids.token_map, self.device)
        self.named_parameters = {
            **{f"bilm.{name}": parameter for name, parameter in self.bilm.named_parameters()},
            **{f"head.{name}": parameter for name, parameter in self.head.named_parameters()},
        }
        if config.tie_softmax:
            del self.named_parameters["head.weight"]  # it shares the memory of the word embedding
        self.optimizer = make_optimizer(config, self.named_parameters.values())
        self._row_optimizer = RowOptimizer(self.optimizer)
        # Other optimizers' rules change nothing where there is no gradient.
        self.updates_rows = config.optimizer != "adamw" or config.lazy_rows
        words = len(data.vocabulary.words)
        self.sampler = LogUniformSampler(words, config.num_negative_samples) if config.softmax == "sampled" else None
        self.planner = Planner(config, data, self.bilm.config.directions, self.rows, self.sampler, self.type_ids)
        self.states = self._zero_states()
        self.product_dtype = torch.bfloat16 if config.product_dtype == "bfloat16" else None
        self._read_window = WindowGraphs() if self.device.type == "cuda" else projected_lstm_window
        self._reduction = Reduction(self.ranks, torch.bfloat16 if config.reduce_dtype == "bfloat16" else None)
        # A core for each direction beats both cores on each product: the small passes between don't split well. With a
        # core for each rank of a machine, all of them are busy already.
        alone = self.ranks.size == 1 or torch.get_num_threads() > 1
        at_once = self.device.type == "cpu" and len(self.states) > 1 and alone
        self._pool = ThreadPoolExecutor(2, initializer=torch.set_num_threads, initargs=(1,)) if at_once else None

    def _zero_states(
        self,
    ) -> dict[str, tuple[Float[Tensor, "layers batch projection"], Float[Tensor, "layers batch cell"]]]:
        directions = self.bilm.config.directions
        state, count = self.bilm.zero_state(self.rows.stop - self.rows.start), len(directions)
        parts = zip(directions, state.hidden.chunk(count, dim=2), state.cell.chunk(count, dim=2), strict=True)
        return {direction: (hidden, cell) for direction, hidden, cell in parts}

    @property
    def share(self) -> float:
        """The fraction of all rows that this rank reads."""
        return (self.rows.stop - self.rows.start) / self.config.batch_size

    @property
    def tokens_per_step(self) -> int:
        """Predictions of each direction in a step, of all ranks."""
        return self.config.batch_size * self.config.unroll_steps

    @property
    def tokens_per_epoch(self) -> int:
        """Predictions of each direction in one pass: every token and one boundary for each sentence."""
        return self.data.num_tokens("train") + self.data.num_sentences("train")

    @property
    def last_step(self) -> int:
        """The step that ends the run: the one that reads the last token of the last epoch, or `max_steps`."""
        left = math.ceil(self.config.epochs * self.tokens_per_epoch) - self.tokens_read
        steps = self.step_number - (-left // self.tokens_per_step)
        return min(steps, self.config.max_steps) if self.config.max_steps else steps

    @property
    def epoch(self) -> float:
        """Passes over the data so far."""
        return self.tokens_read / self.tokens_per_epoch

    @property
    def position(self) -> RunPosition:
        """How far the run has come. Cheap: nothing is copied."""
        return RunPosition(self.step_number, self.tokens_read, self.planner.positions, self.warmup_tokens)

    def step(self, flag: StopFlag | None = None) -> StepResult:
        """Read one window per direction, and update the weights: all ranks the same way.

        `flag`: its signal is sent to all ranks in the message that carries the losses. Raises
        TrainingDiverged, on all ranks and before any weight changes, if a loss or gradient of any rank is not finite;
        PeerLost; RanksDiffer.
        """
        number = self.step_number + 1
        plan = self.planner.take(number)
        self.optimizer.zero_grad(set_to_none=True)
        with TrainedProducts(self.product_dtype):
            vectors, words = self._token_vectors(plan.characters, plan.words)
        run = map if self._pool is None else self._pool.map
        windows = [self._window(*one) for one in plan.directions.items()]
        results = dict(zip(self.states, run(partial(self._learn, vectors), self.states, windows), strict=True))
        gradients = self._gather(vectors, words, results)
        losses = {direction: self._own_share(result.loss) for direction, result in results.items()}
        asked = (flag.signal or 0) if flag is not None else 0
        losses, gradients, stop_signal = self._reduction.add_up(number, losses, gradients, asked)
        gradients = self._laid_out(gradients)
        *values, norm = _read([*losses.values(), clip_(gradients.values(), self.config.clip_norm)])
        losses = dict(zip(losses, values, strict=True))
        self._reduction.remember(norm)
        self._check(number, losses, norm)
        rate = learning_rate(self.config, number, self.last_step, self._windows_after_warmup())
        self._update(gradients, rate)
        self.states = {direction: (result.hidden, result.cell) for direction, result in results.items()}
        self.count_step()
        return StepResult(losses, norm, rate, stop_signal)

    def count_step(self) -> None:
        """A step was done; or one that raised TrainingDiverged is skipped: the weights stay as they are."""
        self.step_number += 1
        self.tokens_read += self.tokens_per_step
        if self.step_number <= self.config.warmup_steps:
            self.warmup_tokens = self.tokens_read

    def _windows_after_warmup(self) -> float:
        return self.last_step - self.step_number + (self.tokens_read - self.warmup_tokens) / self.tokens_per_step

    def _own_share(self, loss: Float[Tensor, ""]) -> Float[Tensor, ""]:
        return loss if self.ranks.size == 1 else loss.double() * self.share

    def _window(self, direction: str, plan: DirectionPlan) -> DirectionWindow:
        drop = RowDropout(self.config.dropout, plan.dropout_seed, self.rows, self.config.batch_size, self.device)
        return DirectionWindow(plan, *self.states[direction], drop)

    def _token_vectors(
        self, characters: Int[Tensor, "types characters"] | None, words: Int[Tensor, " types"] | None
    ) -> tuple[Float[Tensor, "types projection"], RowGradient | None]:
        """The vectors of distinct types; the words' rows they were made of, whose values get their gradient later."""
        if words is None:
            return self.bilm.token_vectors(characters), None
        rows, places = words.unique(return_inverse=True)
        encoder = self.bilm.token_encoder
        table = encoder.word_embedding.detach()[on_device(rows, self.device)].requires_grad_()
        # The small table stands in for the whole one, so that the backward pass makes a gradient of these rows alone.
        vectors = functional_call(encoder, {"word_embedding": table}, (characters, on_device(places, self.device)))
        return vectors, RowGradient(rows, table)

    def _learn(
        self, vectors: Float[Tensor, "types projection"], direction: str, window: DirectionWindow
    ) -> DirectionResult:
        scale = self.share * (self.config.unroll_steps if self.config.sum_over_window else 1) / len(self.states)
        return learn(
            getattr(self.bilm, f"{direction}_lstm"),
            self.head,
            self.sampler,
            vectors,
            window,
            scale=scale,
            product_dtype=self.product_dtype,
            read=self._read_window,
        )

    def _gather(
        self, vectors: Float[Tensor, "types projection"], words: RowGradient | None, results: dict[str, DirectionResult]
    ) -> dict[str, Gradient]:
        """The gradients of this rank's rows; the directions' are added up where they share a parameter."""
        first, *others = (result.vectors_gradient for result in results.values())
        vectors.backward(sum(others, start=first))
        found: dict[str, list[Gradient]] = {
            name: [] if own.grad is None else [own.grad] for name, own in self.named_parameters.items()
        }
        if words is not None:
            assert words.values.grad is not None
            found[_WORD_TABLE].append(RowGradient(words.rows, words.values.grad))
        for result in results.values():
            for name, gradient in result.head_gradients.items():
                if name == "weight" and self.config.tie_softmax:
                    found[_WORD_TABLE].append(shifted_by_padding(gradient))
                else:
                    found[f"head.{name}"].append(gradient)
        return {name: add_up(parts, self.named_parameters[name]) for name, parts in found.items() if parts}

    def _laid_out(self, gradients: dict[str, Gradient]) -> dict[str, Gradient]:
        """As the optimizer takes them."""
        if self.updates_rows:
            return gradients
        return {
            name: gradient.whole(self.named_parameters[name]) if isinstance(gradient, RowGradient) else gradient
            for name, gradient in gradients.items()
        }

    def _update(self, gradients: dict[str, Gradient], rate: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        for name, gradient in gradients.items():
            parameter = self.named_parameters[name]
            if isinstance(gradient, RowGradient):
                self._row_optimizer.step(parameter, gradient)
            else:
                parameter.grad = gradient
        self.optimizer.step()

    def _check(self, number: int, losses: dict[str, float], norm: float) -> None:
        if math.isfinite(norm) and all(math.isfinite(value) for value in losses.values()):
            return
        raise TrainingDiverged(
            f"step {number}: the loss is {losses} and the gradients' global norm {norm}: not finite. The weights are "
            "still those before this step."
        )


def _read(scalars: Iterable[Float[Tensor, ""]]) -> list[float]:
    """Scalars of the device, in one transfer where they lie together."""
    scalars = list(scalars)
    if len({(scalar.device, scalar.dtype) for scalar in scalars}) == 1:
        return torch.stack(scalars).tolist()
    return [scalar.item() for scalar in scalars]
