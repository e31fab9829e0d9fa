"""What training CoVe leaves on disk, and how it continues from there.

    cove.pth                 the encoder of the best epoch so far, in the layout of the published weights
    vectors.txt              a copy of the word vectors that it reads, with their own ending
    training/
        run.json             the settings, and the SHA-256 of all files
        best.safetensors     all weights of the best epoch so far
        last/                weights.safetensors  log.json  sha256.json: those after the last epoch, and all epochs
        translations.txt     what became of the test sentences, but for pairs with an empty side

Each file or folder appears whole or not at all, the best weights before the log that speaks of them.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from elmo.disk.atomic import new_file, new_folder, recover, write_file
from elmo.disk.json_file import read_record, write_json
from elmo.disk.sums import SUMS_FILE, what_changed, write_sums
from elmo.errors import ConfigError, OutputError, WeightFileError
from elmo.weights.native.tensor_file import disk_errors
from elmo_paper.cove.files import WEIGHTS_SUFFIX
from elmo_paper.cove.network import Translator

Log = list[dict[str, Any]]
"""An object for each epoch done."""

_WEIGHTS, _LOG = "weights.safetensors", "log.json"


class TrainFolder:
    """One training on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._run = path / "training" / "run.json"
        self._best = self._run.with_name("best.safetensors")
        self._last = self._run.with_name("last")

    def begin(self, facts: Mapping[str, Any], vectors: Path, *, resume: bool) -> None:
        """Makes the folder. With `resume`, ConfigError unless there is one of a training with the same `facts`."""
        if resume:
            self._require_same(facts)
        elif self.path.exists() and any(self.path.iterdir()):
            raise OutputError(f"{self.path}: exists already. Choose another name, or continue with --resume.")
        else:
            write_json(self._run, facts)
        copy = self.path / f"vectors{vectors.suffix}"  # its ending says how it is packed
        if not any(self.path.glob("vectors*")):  # with another ending, perhaps: its bytes are compared
            with new_file(copy, size=vectors.stat().st_size, force=False) as unfinished:
                shutil.copyfile(vectors, unfinished)

    def _require_same(self, facts: Mapping[str, Any]) -> None:
        if not self._run.is_file():
            raise ConfigError(f"{self.path}: there is no training to resume. Start it without --resume.")
        noted = read_record(self._run)
        for name, value in facts.items():
            if not isinstance(noted, dict) or noted.get(name) != value:
                raise ConfigError(
                    f"{self.path}: {name} differs from what this training began with, but all its epochs must have "
                    "the same. Resume with the same files and settings, or choose another folder."
                )

    def save(self, network: Translator, log: Log, *, is_best: bool) -> None:
        """Writes the weights after an epoch, with the log up to it."""
        weights = network.state_dict()
        size = sum(tensor.nbytes for tensor in weights.values())
        if is_best:
            with new_file(self._best, size=size, force=True) as unfinished, disk_errors():
                save_file(weights, unfinished)
            # Of a path, torch would write the name into the archive.
            encoder = self.path / f"cove{WEIGHTS_SUFFIX}"
            with new_file(encoder, size=size, force=True) as unfinished, unfinished.open("wb") as file:
                torch.save(network.encoder.state_dict(), file)
        parts = frozenset({_WEIGHTS, _LOG, SUMS_FILE})
        with new_folder(self._last, size=size, force=True, replaceable=parts) as unfinished:
            with disk_errors():
                save_file(weights, unfinished / _WEIGHTS)
            (unfinished / _LOG).write_text(json.dumps(log, indent=1), encoding="utf-8")
            write_sums(unfinished, [_WEIGHTS, _LOG])

    def restore(self, network: Translator) -> Log:
        """Gives the network the last epoch's weights, if there is one; the log. WeightFileError if it is damaged."""
        recover(self._last)
        if not self._last.is_dir():
            return []
        if changed := what_changed(self._last, needs_sums=True):
            raise _damaged(self._last, changed)
        _load(network, self._last / _WEIGHTS)
        return read_record(self._last / _LOG)

    def restore_best(self, network: Translator) -> None:
        """Gives the network the best epoch's weights."""
        _load(network, self._best)

    def write_translations(self, lines: Sequence[str]) -> None:
        """A line for each test sentence that was translated."""
        write_file(self._run.with_name("translations.txt"), "".join(f"{line}\n" for line in lines).encode())


def _load(network: Translator, path: Path) -> None:
    try:
        network.load_state_dict(load_file(path))
    except (OSError, SafetensorError, RuntimeError) as error:
        raise _damaged(path, str(error).splitlines()[0]) from None


def _damaged(path: Path, why: str) -> WeightFileError:
    return WeightFileError(f"{path}: can't be used ({why}): it is damaged. Start again in another folder.")
