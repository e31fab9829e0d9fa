"""FitFolder: the training of one model on disk, to be resumed from there.

    metrics.jsonl            one object an epoch
    best.safetensors         the weights of the best epoch so far
    checkpoint/              the last checkpoint; removed at the end
        weights.safetensors  optimizer.safetensors  average.safetensors  progress.json  sha256.json

Each file or folder appears whole or not at all, the best weights before the checkpoint that speaks of them: killed at
any moment, training resumes from the last checkpoint and takes the same steps again.
"""

import json
import math
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from jaxtyping import Shaped
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from torch import Tensor, nn

from elmo.disk.atomic import new_file, new_folder, recover
from elmo.disk.json_file import forget_records_after, read_record
from elmo.disk.sums import SUMS_FILE, what_changed, write_sums
from elmo.errors import WeightFileError
from elmo.layer.elmo import load_tensors
from elmo.tasks.train.optimizers import Learner
from elmo.weights.fingerprint import fingerprint
from elmo.weights.native.tensor_file import disk_errors

_PARTS = frozenset({"weights.safetensors", "optimizer.safetensors", "average.safetensors", "progress.json", SUMS_FILE})
# In the file's own metadata.
_FINGERPRINT_KEY = "sha256"


@dataclass(frozen=True)
class FitPosition:
    """How far training is."""

    epoch: int = 0
    """Whole epochs done, their evaluation included."""
    batch: int = 0
    """Batches done of the epoch under way."""
    step: int = 0
    """Batches done of all epochs."""
    loss: float = 0.0
    """Sum of their losses."""
    seconds: float = 0.0
    """Spent on the epoch under way."""
    best_epoch: int = 0
    """The epoch of the best weights, from 1; 0: there is none yet."""
    best_score: float = -math.inf
    best_loss: float = math.inf
    """The loss on the dev data at the best epoch; it decides between equal scores."""
    fruitless: int = 0
    """Epochs in a row without a better score, counted from the first score above 0."""
    fruitless_all: int = 0
    """The same over the whole training, not only in a row."""

    def after_epoch(self, score: float | None, loss: float | None, *, waits: bool) -> "FitPosition":
        """The position when the epoch under way is done and has these on the dev data; if it is the best one, its
        number is `best_epoch`. `score`: None without dev data, where the last epoch is the best.

        Patience counts from the first score above 0, before which the model has only begun to learn, and not while a
        biLM that is to be trained waits (`waits`).
        """
        done = replace(self, epoch=self.epoch + 1, batch=0, loss=0.0, seconds=0.0)
        if score is None:
            return replace(done, best_epoch=done.epoch, best_score=0.0)
        if score > self.best_score:
            done = replace(done, fruitless=0)
        elif self.best_score > 0 and not waits:
            done = replace(done, fruitless=self.fruitless + 1, fruitless_all=self.fruitless_all + 1)
        if score > self.best_score or (score == self.best_score and loss is not None and loss < self.best_loss):
            known_loss = math.inf if loss is None else loss
            done = replace(done, best_epoch=done.epoch, best_score=score, best_loss=known_loss)
        return done


class FitFolder:
    """One model's training on disk."""

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.metrics_file = path / "metrics.jsonl"
        self._checkpoint, self._best = path / "checkpoint", path / "best.safetensors"
        for unfinished in path.glob(".*.unfinished"):  # of a killed process
            shutil.rmtree(unfinished) if unfinished.is_dir() else unfinished.unlink()
        recover(self._checkpoint)

    def save(self, model: nn.Module, learner: Learner, position: FitPosition) -> None:
        """Writes the checkpoint."""
        parts = {"weights": model.state_dict(), "optimizer": _optimizer_tensors(learner.optimizer)}
        if learner.average.values:
            parts["average"] = {str(number): tensor for number, tensor in enumerate(learner.average.values)}
        size = sum(tensor.nbytes for tensors in parts.values() for tensor in tensors.values())
        with new_folder(self._checkpoint, size=size, force=True, replaceable=_PARTS) as unfinished:
            for name, tensors in parts.items():
                _write(tensors, unfinished / f"{name}.safetensors")
            (unfinished / "progress.json").write_text(json.dumps(asdict(position)), encoding="utf-8")
            write_sums(unfinished, sorted(path.name for path in unfinished.iterdir()))

    def save_best(self, model: nn.Module) -> None:
        """Write the weights as the best so far."""
        weights = model.state_dict()
        with new_file(self._best, size=sum(tensor.nbytes for tensor in weights.values()), force=True) as unfinished:
            _write(weights, unfinished)

    def restore(self, model: nn.Module, learner: Learner) -> FitPosition:
        """Loads the checkpoint, if there is one. WeightFileError if it is damaged."""
        position = FitPosition()
        if self._checkpoint.is_dir():
            if changed := what_changed(self._checkpoint, needs_sums=True):
                raise _damaged(self._checkpoint, changed)
            load_tensors(model.state_dict(), _read(self._checkpoint / "weights.safetensors"))
            _restore_optimizer(learner.optimizer, _read(self._checkpoint / "optimizer.safetensors"))
            if learner.average.values:
                averaged = _read(self._checkpoint / "average.safetensors")
                for number, tensor in enumerate(learner.average.values):
                    tensor.copy_(averaged[str(number)])
            position = FitPosition(**read_record(self._checkpoint / "progress.json"))
        forget_records_after(self.metrics_file, "epoch", position.epoch)
        return position

    def restore_best(self, model: nn.Module) -> None:
        """Give the model the best weights."""
        load_tensors(model.state_dict(), _read(self._best))

    def finish(self) -> None:
        """Remove what only a training under way needs."""
        shutil.rmtree(self._checkpoint, ignore_errors=True)
        self._best.unlink(missing_ok=True)


def _optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Shaped[Tensor, "..."]]:
    """What an optimizer remembers, as named tensors: "<number of the parameter>.<name>"."""
    state = optimizer.state_dict()["state"]
    return {f"{number}.{name}": tensor for number, own in state.items() for name, tensor in own.items()}


def _restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Shaped[Tensor, "..."]]) -> None:
    """The reverse of `_optimizer_tensors`, for an optimizer of the same settings and parameters."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        number, name = key.split(".", 1)
        state.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def _write(tensors: dict[str, Shaped[Tensor, "..."]], path: Path) -> None:
    # As arrays, because the library refuses torch's tensors that share memory, as tied weights do.
    arrays = {name: tensor.detach().cpu().contiguous().numpy() for name, tensor in tensors.items()}
    with disk_errors():
        save_file(arrays, path, metadata={_FINGERPRINT_KEY: fingerprint(arrays)})


def _read(path: Path) -> dict[str, Shaped[Tensor, "..."]]:
    """The tensors as they were written; elmo 0.1.0 wrote no fingerprint beside them."""
    try:
        with safe_open(path, "pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
            noted = (file.metadata() or {}).get(_FINGERPRINT_KEY)
    except (OSError, SafetensorError) as error:
        raise _damaged(path, str(error)) from None
    if noted is not None and noted != fingerprint({name: tensor.numpy() for name, tensor in tensors.items()}):
        raise _damaged(path, "its tensors don't have the SHA-256 that was stored with them")
    return tensors


def _damaged(path: Path, why: str) -> WeightFileError:
    return WeightFileError(
        f"{path}: can't be used ({why}): it is missing or damaged. Start the training again in another folder."
    )
