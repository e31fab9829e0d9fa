"""ELMo: deep contextualized word vectors. Nothing heavy is imported before a name is used.

from elmo import Embedder, ELMo

Embedder    tokens -> vectors of every layer
ELMo        the layer for downstream models: biLM and scalar mixes
BiLM        the pretrained network; BiLMConfig is its architecture
ScalarMix   the learned weighted sum of layers
"""

from importlib import import_module
from typing import TYPE_CHECKING

from elmo.errors import MissingExtraError
from elmo.version import __version__

if TYPE_CHECKING:
    from elmo.config import BiLMConfig
    from elmo.embed.embedder import Embedder
    from elmo.model.bilm import BiLM
    from elmo.model.elmo import ELMo
    from elmo.model.scalar_mix import ScalarMix

__all__ = ["BiLM", "BiLMConfig", "ELMo", "Embedder", "ScalarMix", "__version__"]

_MODULES = {
    "BiLM": "elmo.model.bilm",
    "BiLMConfig": "elmo.config",
    "ELMo": "elmo.model.elmo",
    "Embedder": "elmo.embed.embedder",
    "ScalarMix": "elmo.model.scalar_mix",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'elmo' has no attribute {name!r}. Its public names are: {', '.join(__all__)}")
    try:
        value = getattr(import_module(_MODULES[name]), name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtraError("torch", "torch", f"elmo.{name}") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
