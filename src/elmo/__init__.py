"""ELMo: deep contextualized word vectors. Nothing heavy is imported before a name is used.

from elmo import Embedder, ELMo

Vectors
    Embedder            tokens or raw text -> vectors of every layer
    EmbeddedText        what `Embedder.embed_text` returns: tokens, their places in the text, their vectors
    embed_corpus        files of text -> a file of vectors, resumable
    read_vectors        a file of vectors -> its arrays and tokens, as StoredVectors
    similarity          cosines; nearest finds the vectors with the largest ones, maxsim compares texts token by token
In a model of your own
    ELMo                the layer for downstream models: biLM and scalar mixes
    BiLM                the pretrained network; BiLMConfig is its architecture
    ScalarMix           the learned weighted sum of layers
    load_task_model     a trained model of a task
As a language model
    perplexity          how well a model predicts sentences
    log_probabilities   of each sentence
    substitutes         the words that a model expects in a position
Pictures, by matplotlib
    plot_uses           the uses of a word on a map
    plot_similarity     the cosines of the tokens of two sentences
    plot_mix            the weights of each layer in a mix
In all of them
    Progress            what `progress=` takes besides True and False: receives the progress of a long operation
Errors
    ElmoError           every error that is raised on purpose: ConfigError, TextError, WeightFileError, OutputError,
                        MissingExtraError, OutOfMemory, Interrupted; TextWarning warns of text that a model can't know
"""

from importlib import import_module
from typing import TYPE_CHECKING

from elmo.version import __version__

if TYPE_CHECKING:
    from elmo.analysis.pictures import plot_mix, plot_similarity, plot_uses
    from elmo.config import BiLMConfig
    from elmo.embed.corpus.embed_corpus import embed_corpus
    from elmo.embed.embedder import Embedder
    from elmo.embed.results.embedded_text import EmbeddedText
    from elmo.embed.results.similarity import maxsim, nearest, similarity
    from elmo.embed.storage.readers import StoredVectors, read_vectors
    from elmo.errors import (
        ConfigError,
        ElmoError,
        Interrupted,
        MissingExtraError,
        OutOfMemory,
        OutputError,
        TextError,
        TextWarning,
        WeightFileError,
    )
    from elmo.layer.elmo import ELMo
    from elmo.lm.named_model import log_probabilities, perplexity, substitutes
    from elmo.model.bilm import BiLM
    from elmo.model.scalar_mix import ScalarMix
    from elmo.process.progress.report import Progress
    from elmo.tasks.saved_model import load as load_task_model

__all__ = [
    "BiLM",
    "BiLMConfig",
    "ConfigError",
    "ELMo",
    "ElmoError",
    "EmbeddedText",
    "Embedder",
    "Interrupted",
    "MissingExtraError",
    "OutOfMemory",
    "OutputError",
    "Progress",
    "ScalarMix",
    "StoredVectors",
    "TextError",
    "TextWarning",
    "WeightFileError",
    "__version__",
    "embed_corpus",
    "load_task_model",
    "log_probabilities",
    "maxsim",
    "nearest",
    "perplexity",
    "plot_mix",
    "plot_similarity",
    "plot_uses",
    "read_vectors",
    "similarity",
    "substitutes",
]

# Each public name: its module, and its name there.
_PLACES = {
    "BiLM": ("elmo.model.bilm", "BiLM"),
    "BiLMConfig": ("elmo.config", "BiLMConfig"),
    "ELMo": ("elmo.layer.elmo", "ELMo"),
    "EmbeddedText": ("elmo.embed.results.embedded_text", "EmbeddedText"),
    "Embedder": ("elmo.embed.embedder", "Embedder"),
    "Progress": ("elmo.process.progress.report", "Progress"),
    "ScalarMix": ("elmo.model.scalar_mix", "ScalarMix"),
    "StoredVectors": ("elmo.embed.storage.readers", "StoredVectors"),
    "embed_corpus": ("elmo.embed.corpus.embed_corpus", "embed_corpus"),
    "load_task_model": ("elmo.tasks.saved_model", "load"),
    "log_probabilities": ("elmo.lm.named_model", "log_probabilities"),
    "maxsim": ("elmo.embed.results.similarity", "maxsim"),
    "nearest": ("elmo.embed.results.similarity", "nearest"),
    "perplexity": ("elmo.lm.named_model", "perplexity"),
    "plot_mix": ("elmo.analysis.pictures", "plot_mix"),
    "plot_similarity": ("elmo.analysis.pictures", "plot_similarity"),
    "plot_uses": ("elmo.analysis.pictures", "plot_uses"),
    "read_vectors": ("elmo.embed.storage.readers", "read_vectors"),
    "similarity": ("elmo.embed.results.similarity", "similarity"),
    "substitutes": ("elmo.lm.named_model", "substitutes"),
}
# Names of AllenNLP. An ImportError: `from elmo import Elmo` shows no message of an AttributeError.
_FORMER = {
    "Elmo": "elmo.ELMo.from_pretrained((options_file, weight_file), num_mixes=2), in capitals",
    "ElmoEmbedder": "elmo.Embedder.from_pretrained((options_file, weight_file))",
    "ElmoTokenEmbedder": "elmo.ELMo.from_pretrained((options_file, weight_file))",
    "batch_to_ids": "elmo.ELMo, whose objects take sentences, or their ids from character_ids(sentences)",
}
_ERRORS = {name for name in __all__ if name not in _PLACES and name != "__version__"}


if not TYPE_CHECKING:  # type checkers then see the names above, and report any other

    def __getattr__(name: str) -> object:
        if name in _FORMER:
            raise ImportError(f"elmo has no {name!r}: use {_FORMER[name]}. docs/coming-from.md has the others.")
        if name not in _PLACES and name not in _ERRORS:
            raise AttributeError(f"module 'elmo' has no attribute {name!r}. It has: {', '.join(__all__)}")
        module, there = _PLACES.get(name, ("elmo.errors", name))
        try:
            value = getattr(import_module(module), there)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            from elmo.errors import MissingExtraError

            raise MissingExtraError("torch", "torch", f"elmo.{name}") from None
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
