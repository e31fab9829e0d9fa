"""Planner: what a step reads and draws. All of it is known on the host, while the step before is still computed.

All randomness of a step comes from (seed, step), drawn here in a fixed order, for the rows of all ranks.
"""

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from elmo.corpus.shards import BEGIN_SENTENCE_TYPE, END_SENTENCE_TYPE, TrainingData
from elmo.ops.sampled_softmax import LogUniformSampler, NegativeSample
from elmo.pretrain.settings.config import PretrainConfig
from elmo.pretrain.step.setup import TypeIds
from elmo.pretrain.step.stream import SentenceReader, Stream, StreamPosition, StreamWindow

# The distinct types of a step are filled up to a multiple of this by copies of the first, which nothing reads: a
# product of a new shape costs oneDNN some milliseconds.
_TYPES_TOGETHER = 32


@dataclass(frozen=True)
class SampledRows:
    """The words of a sampled softmax: the targets, then the negatives."""

    negatives: NegativeSample
    rows: Int[Tensor, " rows"]
    """The distinct ones, ascending."""
    places: Int[Tensor, " words"]
    """Where each word is among them."""


@dataclass(frozen=True)
class DirectionPlan:
    """What one direction reads in a step; all tensors are on the CPU."""

    places: Int[Tensor, "tokens batch"]
    """Place of each input among the step's distinct types."""
    target_ids: Int[Tensor, "tokens batch"]
    """Vocabulary ids."""
    sampled: SampledRows | None
    """None: the loss is exact."""
    keep: Float[Tensor, "tokens batch"] | None
    """0 where the state is forgotten before a token."""
    dropout_seed: int


@dataclass(frozen=True)
class StepPlan:
    """What a step reads."""

    number: int
    begins: Mapping[str, StreamPosition]
    """Where its windows begin."""
    types: Int[np.ndarray, " types"]
    """The distinct word types of all its windows."""
    characters: Int[Tensor, "types characters"] | None
    """Their ids, on the CPU."""
    words: Int[Tensor, " types"] | None
    directions: Mapping[str, DirectionPlan]


class Planner:
    """The streams of this process's rows. While one step is computed, a thread makes the plan of the next one."""

    def __init__(
        self,
        config: PretrainConfig,
        data: TrainingData,
        directions: tuple[str, ...],
        rows: slice,
        sampler: LogUniformSampler | None,
        type_ids: TypeIds,
    ) -> None:
        self.config = config
        self._type_ids = type_ids
        self._rows = rows
        self._sampler = sampler
        self._type_words = torch.from_numpy(np.array(data.type_words, dtype=np.int64))
        shards = data.shards("train")
        self._streams = {
            direction: Stream(
                SentenceReader(shards, direction == "backward", config.seed),
                config.batch_size,
                config.unroll_steps,
                rows,
            )
            for direction in directions
        }
        self._thread = ThreadPoolExecutor(1, initializer=torch.set_num_threads, initargs=(1,))
        self._ahead: Future[StepPlan] | None = None

    def take(self, number: int) -> StepPlan:
        """The plan of step `number`; that of the next one is then begun."""
        ahead, self._ahead = self._ahead, None
        plan = self._make(number) if ahead is None else ahead.result()
        if plan.number != number:  # the step before is done once more
            self.seek(plan.begins)
            plan = self._make(number)
        self._ahead = self._thread.submit(self._make, number + 1)
        return plan

    @property
    def positions(self) -> dict[str, StreamPosition]:
        """Where the windows of the next step begin."""
        if self._ahead is not None:
            return dict(self._ahead.result().begins)
        return {direction: stream.position for direction, stream in self._streams.items()}

    def seek(self, positions: Mapping[str, StreamPosition]) -> None:
        """The next step's windows begin there."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead.exception()  # not while the thread reads
        for direction, stream in self._streams.items():
            stream.seek(positions[direction])

    def _make(self, number: int) -> StepPlan:
        begins = {direction: stream.position for direction, stream in self._streams.items()}
        windows = {direction: stream.next() for direction, stream in self._streams.items()}
        inputs = np.stack([window.inputs for window in windows.values()])
        types, places = np.unique(inputs, return_inverse=True)
        types = np.append(types, np.repeat(types[:1], -len(types) % _TYPES_TOGETHER))
        generator = np.random.default_rng([self.config.seed, 1, number])
        directions = {
            direction: self._of_direction(direction, window, torch.from_numpy(own), generator)
            for (direction, window), own in zip(windows.items(), places.reshape(inputs.shape), strict=True)
        }
        return StepPlan(number, begins, types, *self._type_ids.of_types(types), directions)

    def _of_direction(
        self,
        direction: str,
        window: StreamWindow,
        places: Int[Tensor, "tokens batch"],
        generator: np.random.Generator,
    ) -> DirectionPlan:
        begins = window.inputs == (BEGIN_SENTENCE_TYPE if direction == "forward" else END_SENTENCE_TYPE)
        targets = self._type_words[torch.from_numpy(window.targets)]
        sampled = None
        if self._sampler is not None:
            negatives = self._sampler.draw(generator)
            rows, where = torch.cat([targets.flatten(), negatives.ids]).unique(return_inverse=True)
            sampled = SampledRows(negatives, rows, where)
        keep = forgetting(begins, self.config.state_reset, generator, self._rows, self.config.batch_size)
        return DirectionPlan(places, targets, sampled, keep, int(generator.integers(2**62)))


def forgetting(
    begins: Bool[np.ndarray, "tokens rows"], probability: float, generator: np.random.Generator, rows: slice, total: int
) -> Float[Tensor, "tokens rows"] | None:
    """0 where a sentence begins and the row forgets what it read before, else 1.

    Drawn for the `total` rows of all processes, of which `begins` has `rows`.
    """
    if probability == 0:
        return None
    drawn = generator.random((len(begins), total))[:, rows]
    return torch.from_numpy(~(begins & (drawn < probability))).float()
