"""What a checkpoint keeps of a trainer, and the way back: the optimizer's tensors, the LSTMs' states, the position.

The weights are kept as a model.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from elmo.errors import ConfigError
from elmo.pretrain.step.stream import RunPosition
from elmo.pretrain.step.trainer import Trainer


def tensors_of(trainer: Trainer) -> dict[str, Float[Tensor, "..."]]:
    """The optimizer's and the LSTMs' tensors; the weights are saved as a model.

    All ranks call it together. The first rank gets the LSTMs' states of all rows, the others only their own.
    """
    tensors = {}
    for name, parameter in trainer.named_parameters.items():
        for key, value in trainer.optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer.{name}.{key}"] = value
    for direction, (hidden, cell) in trainer.states.items():
        for part, own in (("hidden", hidden), ("cell", cell)):
            tensors[f"state.{direction}.{part}"] = trainer.ranks.gather_rows(own, trainer.config.batch_size)
    return tensors


@torch.no_grad()
def load_weights(trainer: Trainer, weights: dict[str, Float[Tensor, "..."]]) -> None:
    """Start from these weights. Raises ConfigError, before anything changes, if they are another model's."""
    for name, parameter in trainer.named_parameters.items():
        given = weights.get(name)
        if given is None or given.shape != parameter.shape:
            found = "is missing" if given is None else f"has shape {tuple(given.shape)}"
            raise ConfigError(
                f"the weight {name!r} {found}, but this run's has shape {tuple(parameter.shape)}: the model was built "
                "with other settings, perhaps another softmax. Use the model's own settings."
            )
    for name, parameter in trainer.named_parameters.items():
        parameter.copy_(weights[name])


@torch.no_grad()
def restore(
    trainer: Trainer,
    weights: dict[str, Float[Tensor, "..."]],
    tensors: dict[str, Float[Tensor, "..."]],
    position: RunPosition,
) -> None:
    """Continue exactly from what `position`, `tensors` and `named_parameters` were, with any number of ranks.

    They are of a run with the same network, batch_size and optimizer. Raises ConfigError, before anything changes, if
    `weights` are those of a model built otherwise.
    """
    optimizer_state = _optimizer_state(trainer, tensors)
    load_weights(trainer, weights)
    # It knows where each optimizer wants its counts of steps: on a GPU some leave them on the CPU.
    trainer.optimizer.load_state_dict(optimizer_state)
    trainer.planner.seek(position.streams)
    for direction in trainer.states:
        hidden, cell = (
            tensors[f"state.{direction}.{part}"][:, trainer.rows].to(trainer.device, copy=True).contiguous()
            for part in ("hidden", "cell")
        )
        trainer.states[direction] = (hidden, cell)
    trainer.step_number, trainer.tokens_read = position.step, position.tokens_read
    of_warmup = position.warmup_tokens
    if of_warmup is None:  # a checkpoint from before 2026-11-27
        of_warmup = min(position.step, trainer.config.warmup_steps) * trainer.tokens_per_step
    trainer.warmup_tokens = of_warmup


def _optimizer_state(trainer: Trainer, tensors: dict[str, Float[Tensor, "..."]]) -> dict[str, Any]:
    """As the optimizer's `load_state_dict` takes it."""
    state: dict[int, dict[str, Tensor]] = {}
    for index, name in enumerate(trainer.named_parameters):
        prefix = f"optimizer.{name}."
        found = {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
        if found:
            state[index] = {key: value.clone() for key, value in found.items()}
    return {"state": state, "param_groups": trainer.optimizer.state_dict()["param_groups"]}
