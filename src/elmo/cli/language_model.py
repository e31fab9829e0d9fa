"""The language model that a verb asks for: network and softmax, from one reading of the files."""

from typing import TYPE_CHECKING, Literal

from elmo.errors import ConfigError

if TYPE_CHECKING:
    from elmo.model.bilm import BiLM
    from elmo.model.lm_head import LMHead

Device = Literal["auto", "cpu", "cuda"]


def load(model: str | None, device: Device = "auto") -> "tuple[BiLM, LMHead]":
    """The biLM and its softmax on `device`. Raises WeightFileError (no such model, or it has no softmax)."""
    # Here, so that the --help of a verb does not wait for torch.
    from elmo.model.bilm import BiLM
    from elmo.model.lm_head import LMHead
    from elmo.weights import formats
    from elmo.weights.hub import resolve

    place = _place(device)
    files = resolve(model)
    checkpoint = formats.read(files)
    head = LMHead.from_checkpoint(checkpoint, str(files[1] if isinstance(files, tuple) else files))
    return BiLM.from_checkpoint(checkpoint).to(place), head.to(place)


def _place(device: Device) -> str:
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise ConfigError(
            f"device is cuda, but torch {torch.__version__} finds no GPU to use. Run 'elmo doctor' to see why, or use "
            "--device cpu."
        )
    return device
