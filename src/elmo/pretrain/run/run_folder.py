"""RunFolder: the files of a pretraining run, and how it continues from them.

    config.json               the recipe that is in use
    config.step-00001250.json the recipe up to step 1250, if other settings were given when the run was resumed there
    env.json                  versions, machine, the data's report
    metrics.jsonl             one object per logged step, evaluation and change of settings
    log.txt                   the messages of the run
    checkpoints/step-00001250/
        model/                a model folder like any other: embed with it, convert it, evaluate it
        training.safetensors  the optimizer's tensors and the LSTMs' states
        progress.json         step, tokens read, positions in the streams
        sha256.json           the checksums of these files, compared before the run resumes from them
    checkpoints/latest        the name of the newest checkpoint
    checkpoints/best          the name of the checkpoint with the lowest validation perplexity
    model/                    the finished model

A checkpoint is written under a hidden name, synced to disk and renamed; then `latest` is replaced the same way. Killed
at any moment, the run has a complete checkpoint, or none yet.

Of several ranks only the first one writes; the others take part where states are gathered, and read what it wrote.
"""

import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from elmo.disk.atomic import write_file
from elmo.disk.bounded import read_bytes, readable
from elmo.disk.folder_lock import locked
from elmo.disk.json_file import forget_records_after, read_json, read_record, read_records, write_json
from elmo.errors import ConfigError, OutputError
from elmo.ops.native.threads import num_threads
from elmo.pretrain.ranks.distributed import Ranks
from elmo.pretrain.run.saved_training import model_of, restore_from, write_training
from elmo.pretrain.settings.checks import require_unused
from elmo.pretrain.settings.config import PretrainConfig
from elmo.pretrain.step.stream import RunPosition
from elmo.pretrain.step.trainer import Trainer
from elmo.pretrain.step.trainer_state import tensors_of
from elmo.process.environment import environment
from elmo.weights.native.write import write as write_checkpoint

_CHECKPOINT = re.compile(r"step-\d+")
_POINTER_BYTES = 1 << 12
FINETUNING_FILE = "finetune.json"
"""What a run of fine-tuning has, see `finetune.py`."""
# Settings of `elmo prepare` that decide which sentence a place in the streams is, for the same text.
_ORDERING = ("tokens_per_shard", "sentences", "tokenizer")


@dataclass(frozen=True)
class RunFolder:
    """One run's folder. What is called on one rank must be called on all, unless it only reads, records or logs."""

    path: Path
    ranks: Ranks = Ranks()

    def begin(self, config: PretrainConfig, facts: dict[str, Any]) -> None:
        """Makes the folder of a new run."""

        def write() -> None:
            self.path.mkdir(parents=True, exist_ok=True)
            env = {**environment(num_threads()), "processes": self.ranks.size, **facts}
            write_json(self.path / "env.json", env)
            write_json(self.path / "config.json", asdict(config))

        self.ranks.on_first(write)

    def require_free(self) -> None:
        """OutputError if a new run can't be written here."""
        self.ranks.on_first(lambda: require_unused(self.path))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Holds the folder's lock, and removes what a killed run left half done. OutputError if it is held already."""
        with ExitStack() as stack:

            def take() -> None:
                stack.enter_context(locked(self.path, "'elmo pretrain' or 'elmo finetune'"))
                self._remove_leftovers()

            self.ranks.on_first(take)
            yield

    def require_begun(self) -> None:
        """ConfigError if there is no run to resume, OutputError if none can be resumed here."""
        if not self.is_begun:
            raise ConfigError(f"{self.path}: there is no run to resume, no config.json. Start it without --resume.")

    def require_pretraining(self) -> None:
        """ConfigError if it is a run of fine-tuning: as pretraining it would lose what it began from."""
        if self.ranks.on_first(lambda: (self.path / FINETUNING_FILE).is_file()):
            raise ConfigError(f"{self.path}: is a run of 'elmo finetune'. Continue it with elmo finetune --resume.")

    def require_same_data(self, report: Mapping[str, Any]) -> None:
        """ConfigError if the run was begun on other text: places in its streams would be those of other sentences.

        `report`: of the prepared data (`TrainingData.report`), wherever it is now.
        """

        def compare() -> None:
            path = self.path / "env.json"
            noted = read_record(path).get("data") if path.is_file() else None
            if noted is None:
                return
            before, now = _order_of(noted), _order_of(report)
            for name in now:
                if before[name] not in (None, now[name]):
                    raise ConfigError(
                        f"{self.path}: the run was started on data whose {name} were {before[name]!r:.200}, now they "
                        f"are {now[name]!r:.200}. Resume with the data that it was started on (env.json has its "
                        "report), or continue the model on these: elmo finetune."
                    )

        self.ranks.on_first(compare)

    @property
    def is_begun(self) -> bool:
        """Whether there is a run to resume."""
        return (self.path / "config.json").is_file()

    @property
    def checkpoints(self) -> Path:
        """The folder of the checkpoints."""
        return self.path / "checkpoints"

    def config(self) -> PretrainConfig:
        """The recipe in use: the one the run was started with, or the last one it was resumed with."""
        return self._recipe_in(self.path / "config.json")

    def change_config(self, config: PretrainConfig, step: int) -> dict[str, tuple[Any, Any]]:
        """Makes `config` the recipe from `step` on; the settings that changed, each as (before, now).

        The recipe before is kept as config.step-STEP.json. All ranks must call it together.
        """

        def change() -> dict[str, tuple[Any, Any]]:
            before, now = asdict(self.config()), asdict(config)
            changes = {name: (before[name], value) for name, value in now.items() if value != before[name]}
            if changes:
                history = self._history_file(step)
                # If the run was killed before its next checkpoint, the recipe of the steps up to here is there already.
                if not history.is_file():
                    write_json(history, before)
                write_json(self.path / "config.json", now)
            return changes

        return self.ranks.on_first(change)

    def _history_file(self, step: int) -> Path:
        return self.path / f"config.step-{step:08d}.json"

    def _recipe_in(self, path: Path) -> PretrainConfig:
        return PretrainConfig.from_dict(read_json(path), str(path))

    @property
    def latest(self) -> Path | None:
        """The newest complete checkpoint."""
        # Killed between the first checkpoint and its pointer, the run has no pointer yet.
        return self._pointed("latest") or next(reversed(self._checkpoints()), None)

    @property
    def best(self) -> Path | None:
        """The checkpoint of the lowest validation perplexity so far."""
        return self._pointed("best")

    @property
    def best_step(self) -> int | None:
        """The step of that checkpoint."""
        return None if (best := self.best) is None else _step_of(best)

    def save_before_nan(self, trainer: Trainer, position: RunPosition) -> Path:
        """The state before a step that was not finite, beside the checkpoints; `position`: as it was then."""
        folder = self.checkpoints / f"step-{trainer.step_number:08d}-before-nan"
        tensors = tensors_of(trainer)
        self.ranks.on_first(lambda: write_training(folder, trainer, tensors, position))
        return folder

    def save(self, trainer: Trainer, keep: int, *, is_best: bool = False) -> Path:
        """Write a checkpoint; older ones beyond `keep` are removed only afterwards, the best one never.

        Raises OutputError with the bytes needed and free; the existing checkpoints stay complete.
        """
        folder = self.checkpoints / f"step-{trainer.step_number:08d}"
        tensors = tensors_of(trainer)

        def write() -> None:
            if folder != self.latest:  # the same step has the same state: nothing would change
                write_training(folder, trainer, tensors, trainer.position)
            self._point("latest", folder)
            self._remove_old(keep)
            if is_best:
                self._point("best", folder)

        self.ranks.on_first(write)
        return folder

    def restore(self, trainer: Trainer) -> None:
        """Bring a fresh trainer to where the newest checkpoint was taken."""
        folder = self.ranks.on_first(lambda: self.latest)
        if folder is None and self.ranks.on_first(lambda: (self.path / "model").is_dir()):
            raise ConfigError(
                f"{self.path}: the checkpoints are gone, so the run would begin anew and replace its finished model. "
                f"Continue that one: elmo finetune --model {self.path / 'model'}; or start another run."
            )
        if folder is not None:
            restore_from(folder, trainer, self._recipe_of(folder))
        metrics = self.path / "metrics.jsonl"
        self.ranks.on_first(lambda: forget_records_after(metrics, "step", trainer.step_number))

    def _recipe_of(self, checkpoint: Path) -> PretrainConfig:
        """The recipe by which the steps before a checkpoint were taken."""
        history = self._history_file(_step_of(checkpoint))
        return self._recipe_in(history if history.is_file() else self.path / "config.json")

    def finish(self, trainer: Trainer, metadata: dict[str, str]) -> Path:
        """Write the finished model."""
        folder = self.path / "model"
        self.ranks.on_first(lambda: write_checkpoint(model_of(trainer, metadata), folder, force=True))
        return folder

    def record(self, **values: Any) -> None:
        """Append one object to metrics.jsonl."""
        self._append("metrics.jsonl", json.dumps(values) + "\n")

    def log(self, text: str) -> None:
        """Append a message to log.txt, with the time."""
        self._append("log.txt", f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")

    def metrics(self) -> list[dict[str, Any]]:
        """The objects of metrics.jsonl; a line that a killed process did not finish is left out."""
        metrics = self.path / "metrics.jsonl"
        return self.ranks.on_first(lambda: [values for _, values in read_records(metrics, "step")])

    def write_json(self, name: str, values: dict[str, Any]) -> None:
        """A file of facts beside the metrics, written atomically by the first rank."""
        if self.ranks.is_first:
            write_json(self.path / name, values)

    def _append(self, name: str, text: str) -> None:
        if not self.ranks.is_first:
            return
        path = self.path / name
        try:
            with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError as error:
            raise OutputError(
                f"{path}: can't be written: {error.strerror}. The last checkpoint is complete: {self.latest}. Free "
                f"some space ({shutil.disk_usage(self.path).free} bytes are free), then continue with --resume."
            ) from error

    def _point(self, name: str, folder: Path) -> None:
        if self._pointed(name) == folder:
            return
        write_file(self.checkpoints / name, folder.name.encode())

    def _pointed(self, name: str) -> Path | None:
        pointer = self.checkpoints / name
        if not pointer.is_file():
            return None
        with readable(pointer, OutputError, "Check the disk, then resume."):
            pointed = read_bytes(pointer, limit=_POINTER_BYTES).decode("utf-8", "replace").strip()
        return next((folder for folder in self._checkpoints() if folder.name == pointed), None)

    def _checkpoints(self) -> list[Path]:
        """All of them, oldest first: whatever has such a name is complete."""
        whole = (path for path in self.checkpoints.glob("step-*") if _CHECKPOINT.fullmatch(path.name))
        return sorted(whole, key=_step_of)

    def _remove_old(self, keep: int) -> None:
        kept = {self.latest, self.best}
        for old in self._checkpoints()[:-keep]:
            if old in kept:
                continue
            # Renamed first: a folder with a checkpoint's name is complete, also when the run is killed here. What can't
            # be removed (file servers refuse now and then) doesn't end a run whose newest checkpoint is safe.
            with suppress(OSError):
                shutil.rmtree(old.rename(old.with_name(f".{old.name}.unfinished")))

    def _remove_leftovers(self) -> None:
        of_checkpoints = (self.checkpoints.glob(f".*.{ending}") for ending in ("unfinished", "old"))
        # Nothing is lost with a checkpoint that was being replaced: that is never the latest one.
        for left in chain(self.path.glob(".*.unfinished"), *of_checkpoints):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)


def _step_of(checkpoint: Path) -> int:
    return int(checkpoint.name.removeprefix("step-"))


def _order_of(report: Mapping[str, Any]) -> dict[str, Any]:
    """What decides which sentence a place in the streams is: the settings, and of each split's text the sentences,
    tokens and the SHA-256 of its files."""
    texts = {
        name: (split["sentences"], split["tokens"], [file["sha256"] for file in split["files"]])
        for name, split in report["splits"].items()
    }
    return {"texts": texts} | {name: report.get("settings", {}).get(name) for name in _ORDERING}
