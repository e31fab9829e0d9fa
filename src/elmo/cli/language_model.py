"""The language model that a verb asks for: network and softmax, from one reading of the files."""

from typing import TYPE_CHECKING

from elmo.process.device import Device, chosen_device

if TYPE_CHECKING:
    from elmo.model.bilm import BiLM
    from elmo.model.lm_head import LMHead


def load(model: str | None, device: Device = "auto") -> "tuple[BiLM, LMHead]":
    """The biLM and its softmax on `device`. Raises WeightFileError (no such model, or it has no softmax)."""
    # Here, so that the --help of a verb does not wait for torch.
    from elmo.model.bilm import BiLM
    from elmo.model.lm_head import LMHead
    from elmo.weights import formats
    from elmo.weights.hub import resolve

    place = chosen_device(device)
    files = resolve(model)
    checkpoint = formats.read(files)
    head = LMHead.from_checkpoint(checkpoint, str(files[1] if isinstance(files, tuple) else files))
    return BiLM.from_checkpoint(checkpoint).to(place), head.to(place)
