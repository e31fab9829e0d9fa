"""The language model that a verb asks for: how it is named, and network and softmax from one reading of the files.

`elmo VERB TEXT` uses the default model, `elmo VERB MODEL TEXT` and `elmo VERB TEXT -m MODEL` the one that is named.
"""

from collections.abc import Sequence
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from elmo.cli.early_checks import As
from elmo.errors import ConfigError
from elmo.process.device import Device
from elmo.text.files.text_file import is_file

if TYPE_CHECKING:
    from elmo.lm.language_model import LanguageModel


_WEIGHT_FILES = (".hdf5", ".h5", ".safetensors", ".json", ".pkl", ".index")

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
        f"it. Put quotation marks around an argument with spaces: elmo {verb} [MODEL] {what}"
    )


def model_and_texts(inputs: Sequence[str], model: str | None, verb: str) -> tuple[str | None, list[str]]:
    """The model and the texts out of the positional arguments `[MODEL] TEXT [TEXT ...]` and the flag --model.

    The first of several is a model unless --model names one, or it is a file that isn't one of weights, or a pattern.
    """
    if not inputs:
        raise ConfigError(f"no text was given. Name one, or - for standard input: elmo {verb} TEXT")
    first, *rest = inputs
    if model is not None and rest and Path(first).is_dir():
        raise ConfigError(
            f"two models are named, --model {model} and {first}, but one is used. Name one: elmo {verb} TEXT -m {model}"
        )
    is_text = is_file(first) and Path(first).suffix.lower() not in _WEIGHT_FILES
    if model is not None or not rest or is_text or has_magic(first):
        return model, list(inputs)
    return first, rest


def load(model: str | None, device: Device = "auto") -> "LanguageModel":
    """The biLM and its softmax on `device`. Raises WeightFileError (no such model, or it has no softmax)."""
    # Here, so that the --help of a verb does not wait for it.
    from elmo.lm.named_model import load_language_model

    return load_language_model(model, device)
