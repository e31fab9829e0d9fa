"""RunFolder: what a pretraining run leaves on disk, and how it goes on from there.

    config.json               the recipe
    env.json                  versions, machine, the data's report
    metrics.jsonl             one object a logged step, one an evaluation
    log.txt                   what a person was told
    checkpoints/step-00001250/
        model/                a model folder like any other: embed with it, convert it, evaluate it
        training.safetensors  the optimizer's tensors and the LSTMs' states
        progress.json         step and streams
    checkpoints/latest        the name of the newest checkpoint
    model/                    the finished model

A checkpoint is written under a hidden name, brought to disk and renamed; then `latest` is replaced the same way.
Killed at any moment, the run has a whole checkpoint, or none yet.
"""

import json
import os
import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from elmo.errors import ConfigError, OutputError, WeightFileError
from elmo.pretrain.config import PretrainConfig
from elmo.pretrain.trainer import Trainer
from elmo.weights.atomic import new_file, new_folder
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.checkpoint import read as read_checkpoint
from elmo.weights.checkpoint import write as write_checkpoint

_PARTS = frozenset({"model", "training.safetensors", "progress.json"})


@dataclass(frozen=True)
class RunFolder:
    """One run's folder."""

    path: Path

    @classmethod
    def create(cls, path: Path, config: PretrainConfig, facts: dict[str, Any]) -> "RunFolder":
        """A new run; an existing folder with anything in it is an OutputError."""
        if path.exists() and any(path.iterdir()):
            raise OutputError(
                f"{path}: exists already and is not empty. Use --resume to go on with the run in it, or name another."
            )
        path.mkdir(parents=True, exist_ok=True)
        run = cls(path)
        run._write_json("config.json", config.to_dict())
        run._write_json("env.json", {**environment(), **facts})
        return run

    @classmethod
    def existing(cls, path: Path) -> "RunFolder":
        """The folder of a run that was begun before."""
        if not (path / "config.json").is_file():
            raise ConfigError(f"{path}: there is no run to resume, config.json is missing. Start it without --resume.")
        for unfinished in (path / "checkpoints").glob(".*.unfinished"):  # the run was killed while it wrote
            shutil.rmtree(unfinished, ignore_errors=True)
        return cls(path)

    def config(self) -> PretrainConfig:
        """The recipe the run was begun with."""
        source = self.path / "config.json"
        return PretrainConfig.from_dict(json.loads(source.read_text(encoding="utf-8")), str(source))

    @property
    def latest(self) -> Path | None:
        """The newest whole checkpoint."""
        pointer = self.path / "checkpoints" / "latest"
        return pointer.with_name(pointer.read_text(encoding="utf-8").strip()) if pointer.is_file() else None

    def save(self, trainer: Trainer, keep: int) -> Path:
        """Write a checkpoint; older ones beyond `keep` are removed only afterwards."""
        folder = self.path / "checkpoints" / f"step-{trainer.step_number:08d}"
        tensors = {name: tensor.detach().contiguous() for name, tensor in trainer.tensors().items()}
        size = 3 * sum(tensor.nbytes for tensor in tensors.values())
        with new_folder(folder, size=size, force=True, replaceable=_PARTS) as unfinished:
            write_checkpoint(model_of(trainer), unfinished / "model")
            save_file(tensors, unfinished / "training.safetensors")
            (unfinished / "progress.json").write_text(json.dumps(trainer.progress_state()), encoding="utf-8")
        with new_file(self.path / "checkpoints" / "latest", size=64, force=True) as unfinished:
            unfinished.write_text(folder.name, encoding="utf-8")
        self._remove_old(keep)
        return folder

    def restore(self, trainer: Trainer) -> None:
        """Bring a fresh trainer to where the newest checkpoint was taken."""
        folder = self.latest
        if folder is None:
            return
        model = read_checkpoint(folder / "model")
        if model.softmax is None or model.config != trainer.bilm.config:
            raise WeightFileError(f"{folder}: the model isn't this run's. Resume with the run's own config and data.")
        named = {f"bilm.{name}": array for name, array in model.tensors.items()}
        named |= {f"head.{name}": array for name, array in model.softmax.items()}
        trainer.restore(
            {name: torch.from_numpy(array) for name, array in named.items()},
            load_file(folder / "training.safetensors"),
            json.loads((folder / "progress.json").read_text(encoding="utf-8")),
        )
        self._forget_metrics_after(trainer.step_number)

    def finish(self, trainer: Trainer, metadata: dict[str, str]) -> Path:
        """Write the finished model."""
        write_checkpoint(model_of(trainer, metadata), self.path / "model", force=True)
        return self.path / "model"

    def record(self, **values: Any) -> None:
        """Append one object to metrics.jsonl."""
        with (self.path / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")

    def _forget_metrics_after(self, step: int) -> None:
        """Steps after the checkpoint will be taken and logged again."""
        path = self.path / "metrics.jsonl"
        if not path.is_file():
            return
        whole = [line for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
        kept = [line for line in whole if json.loads(line)["step"] <= step]
        with new_file(path, size=len(kept) * 200, force=True) as unfinished:
            unfinished.write_text("".join(line + "\n" for line in kept), encoding="utf-8")

    def _remove_old(self, keep: int) -> None:
        for old in sorted((self.path / "checkpoints").glob("step-*"))[:-keep]:
            shutil.rmtree(old)

    def _write_json(self, name: str, values: dict[str, Any]) -> None:
        (self.path / name).write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def model_of(trainer: Trainer, metadata: dict[str, str] | None = None) -> Checkpoint:
    """The trainer's weights as a model."""
    softmax = {name: tensor.detach().numpy() for name, tensor in trainer.head.state_dict().items()}
    return trainer.bilm.to_checkpoint(vocabulary=trainer.head.vocabulary, softmax=softmax, metadata=metadata or {})


def environment() -> dict[str, Any]:
    """Where the run happens."""
    return {
        "python": sys.version.split()[0],
        "torch": torch.__version__,
        "machine": platform.machine(),
        "system": platform.platform(),
        "cpu_count": os.cpu_count(),
        "threads": torch.get_num_threads(),
    }
