"""Arguments under the names that other libraries have for them: the error says the name here."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from elmo.errors import ConfigError

P = ParamSpec("P")
R = TypeVar("R")

_BATCHES = "Sentences are put into batches by their length; max_tokens of the Embedder bounds a batch."
_ADVICE = {
    "requires_grad": "Did you mean 'trainable'?",
    "num_output_representations": "Did you mean 'num_mixes'?",
    "do_layer_norm": "Did you mean 'layer_norm'?",
    "scalar_mix_parameters": "Did you mean 'fixed_mix'?",
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


def knows_other_names(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, which raises ConfigError instead of TypeError for a keyword that only other libraries have.

    Its signature stays visible to `help`, completion and type checkers.
    """
    own = inspect.signature(function).parameters
    advice = {name: text for name, text in _ADVICE.items() if name not in own}

    @wraps(function)
    def checked(*arguments: P.args, **keywords: P.kwargs) -> R:
        for name in keywords:
            if name in advice:
                what = function.__qualname__.removesuffix(".__init__")
                raise ConfigError(f"{what} has no argument {name!r}. {advice[name]}")
        return function(*arguments, **keywords)

    return checked
