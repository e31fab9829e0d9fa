"""Keyword arguments: the names that other libraries have for them, and switches that are neither on nor off.

"no" would count as true, and replace a file that was to be kept.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from elmo.errors import ConfigError
from elmo.setting_checks import is_bool

P = ParamSpec("P")
R = TypeVar("R")

_BATCHES = "Sentences are put into batches by their length; max_tokens of the Embedder bounds a batch."
_ADVICE = {
    "requires_grad": "Did you mean 'trainable'?",
    "num_output_representations": "Did you mean 'num_mixes'?",
    "do_layer_norm": "Did you mean 'layer_norm'?",
    "scalar_mix_parameters": "Did you mean 'layers'?",
    "train_mix": "Did you mean 'layers'?",
    "fixed_mix": "Did you mean 'layers'?",
    "top_only": "Did you mean 'layers'?",
    "keep_sentence_boundaries": "Did you mean 'keep_boundaries'?",
    "pooling": "Did you mean 'pool'?",
    "normalize_embeddings": "Did you mean 'normalize'?",
    "show_progress_bar": "Did you mean 'progress'?",
    "convert_to_tensor": "Did you mean 'output'?",
    "layer": "Did you mean 'layers'?",
    "cuda_device": "Did you mean 'device'?",
    "batch_size": _BATCHES,
    "tokenizer": "Sentences are lists of tokens; embed_text(text, tokenizer=...) takes raw text.",
    "device": "Move it as any torch module: .to(device).",
}


def known_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, which raises ConfigError for a keyword that only other libraries have, and for a value of a `bool`
    that is none. Its signature stays visible to `help`, completion and type checkers.
    """
    own = inspect.signature(function).parameters
    advice = {name: text for name, text in _ADVICE.items() if name not in own}
    switches = {name for name, parameter in own.items() if parameter.annotation in (bool, "bool")}

    @wraps(function)
    def checked(*arguments: P.args, **keywords: P.kwargs) -> R:
        for name, value in keywords.items():
            if name in advice:
                what = function.__qualname__.removesuffix(".__init__")
                raise ConfigError(f"{what} has no argument {name!r}. {advice[name]}")
            if name in switches and not is_bool(value):
                raise ConfigError(f"{name} must be True or False (got {value!r}). Pass one of them, or leave it out.")
        return function(*arguments, **keywords)

    return checked
