"""The language model that a verb asks for: how it is named, and network and softmax from one reading of the files.

`elmo VERB TEXT` uses the default model, `elmo VERB MODEL TEXT` and `elmo VERB TEXT -m MODEL` the one that is named.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import tyro

from elmo.cli.early_checks import As
from elmo.errors import ConfigError
from elmo.process.device import Device

if TYPE_CHECKING:
    from elmo.model.bilm import BiLM
    from elmo.model.lm_head import LMHead


ModelFlag = Annotated[str | None, As("unchecked"), tyro.conf.arg(aliases=["-m"], metavar="MODEL")]


def model_and_input(inputs: Sequence[str], model: str | None, verb: str, what: str = "TEXT") -> tuple[str | None, str]:
    """The model and the input out of the positional arguments `[MODEL] TEXT` and the flag --model."""
    if len(inputs) == 1:
        return model, inputs[0]
    if len(inputs) == 2 and model is None:
        return inputs[0], inputs[1]
    given = ", ".join(map(repr, inputs))
    if model is not None and len(inputs) == 2:
        raise ConfigError(
            f"two models are named, --model {model} and {inputs[0]}, but one is used. Name one: elmo {verb} {what} -m "
            f"{model}"
        )
    raise ConfigError(
        f"{len(inputs)} arguments were given ({given}), but 'elmo {verb}' takes one {what}, and perhaps a model before "
        f"it. Put quotation marks around what has spaces in it: elmo {verb} [MODEL] {what}"
    )


def load(model: str | None, device: Device = "auto") -> "tuple[BiLM, LMHead]":
    """The biLM and its softmax on `device`. Raises WeightFileError (no such model, or it has no softmax)."""
    # Here, so that the --help of a verb does not wait for torch.
    from elmo.lm.named_model import load_language_model

    return load_language_model(model, device)
