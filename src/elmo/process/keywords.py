"""Keywords: a misspelled or foreign name of an argument ends in an error that says the right one."""

import difflib
import inspect
from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from elmo.errors import ConfigError

P = ParamSpec("P")
R = TypeVar("R")

# What other libraries call the same thing.
_OUR_NAMES = {
    "requires_grad": "trainable",
    "num_output_representations": "num_mixes",
    "do_layer_norm": "layer_norm",
    "scalar_mix_parameters": "fixed_mix",
    "keep_sentence_boundaries": "keep_boundaries",
    "pooling": "pool",
    "normalize_embeddings": "normalize",
    "show_progress_bar": "progress",
    "convert_to_tensor": "output",
    "layer": "layers",
    "cuda_device": "device",
}
_ADVICE = {
    "batch_size": "Sentences are put into batches by their length; max_tokens of the Embedder bounds a batch.",
    "tokenizer": "Sentences are lists of tokens; embed_text(text, tokenizer=...) takes raw text.",
    "device": "Move it as any torch module: .to(device).",
}


def known_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, which raises ConfigError instead of TypeError for a keyword that it doesn't have.

    Its signature stays visible to `help`, completion and type checkers.
    """

    @wraps(function)
    def checked(*arguments: P.args, **keywords: P.kwargs) -> R:
        for name in keywords:
            if name not in _names(function):
                raise ConfigError(_message(function, name))
        return function(*arguments, **keywords)

    return checked


@cache
def _names(function: Callable[..., object]) -> tuple[str, ...]:
    return tuple(name for name in inspect.signature(function).parameters if name not in ("self", "cls"))


def _message(function: Callable[..., object], name: str) -> str:
    known = _names(function)
    what = function.__qualname__.removesuffix(".__init__")
    close = difflib.get_close_matches(name, known, n=1)
    right = next((it for it in (_OUR_NAMES.get(name), *close) if it in known), None)
    if right is not None:
        advice = f"Did you mean {right!r}?"
    elif name in _ADVICE:
        advice = _ADVICE[name]
    else:
        advice = "Leave it out, or name one of these."
    return f"{what} has no argument {name!r}. {advice} Its arguments are: {', '.join(known)}."
