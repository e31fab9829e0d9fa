"""WeightAverage: an exponential moving average of the trained weights, which is scored and kept in their place.

average <- d * average + (1 - d) * weights after each step. With a warm-up, d = min(decay, (1 + step) / (10 + step)), so
that the initial weights are soon forgotten; without one, d = decay, as in DocumentQA (0.999).
Source: Polyak and Juditsky 1992; Clark and Gardner 2017.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from jaxtyping import Float
from torch import Tensor, nn


class WeightAverage:
    """Of some parameters. With a decay of 0 it is the weights themselves, and costs nothing."""

    def __init__(self, parameters: Sequence[nn.Parameter], decay: float, *, warmup: bool = True) -> None:
        """`decay`: how much of the average stays in a step, below 1."""
        self._parameters = list(parameters) if decay else []
        self._decay = decay
        self._warmup = warmup
        self._average = [parameter.detach().clone() for parameter in self._parameters]

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Takes in the weights after step 0, 1, ..."""
        if self._average:
            decay = min(self._decay, (1 + step) / (10 + step)) if self._warmup else self._decay
            for average, parameter in zip(self._average, self._parameters, strict=True):
                average.lerp_(parameter, 1 - decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The parameters have the average's values while the block runs."""
        weights = [parameter.detach().clone() for parameter in self._parameters]
        self._set(self._average)
        try:
            yield
        finally:
            self._set(weights)

    def tensors(self) -> dict[str, Float[Tensor, "..."]]:
        """The average, by the numbers of the parameters; empty with a decay of 0."""
        return {str(number): tensor for number, tensor in enumerate(self._average)}

    def restore(self, tensors: dict[str, Float[Tensor, "..."]]) -> None:
        """The reverse of `tensors`."""
        for number, tensor in enumerate(self._average):
            tensor.copy_(tensors[str(number)])

    @torch.no_grad()
    def _set(self, values: Sequence[Float[Tensor, "..."]]) -> None:
        for parameter, value in zip(self._parameters, values, strict=True):
            parameter.copy_(value)
