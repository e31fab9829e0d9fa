"""Keywords: a misspelled or foreign name of an argument ends in an error that says the right one.

So does a switch that is neither on nor off: "no" would count as true, and replace a file that was to be kept.
"""

import difflib
import inspect
import sys
from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from elmo.errors import ConfigError
from elmo.setting_checks import is_bool

P = ParamSpec("P")
R = TypeVar("R")

# What other libraries call the same thing.
_OUR_NAMES = {
    "requires_grad": "trainable",
    "num_output_representations": "num_mixes",
    "do_layer_norm": "layer_norm",
    "scalar_mix_parameters": "layers",
    "train_mix": "layers",
    "fixed_mix": "layers",
    "top_only": "layers",
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
    """`function`, which raises ConfigError instead of TypeError for a keyword that it doesn't have, and for more
    arguments without a keyword than it takes, and for a value of a `bool` that is none.

    Its signature stays visible to `help`, completion and type checkers.
    """

    @wraps(function)
    def checked(*arguments: P.args, **keywords: P.kwargs) -> R:
        if len(arguments) > _most_positional(function):
            raise ConfigError(_too_many_message(function, len(arguments)))
        for name, value in keywords.items():
            if name not in _names(function):
                raise ConfigError(_message(function, name))
            if name in _switches(function) and not is_bool(value):
                raise ConfigError(f"{name} is {value!r}, but must be True or False. Pass one of them, or leave it out.")
        return function(*arguments, **keywords)

    return checked


@cache
def _names(function: Callable[..., object]) -> tuple[str, ...]:
    return tuple(name for name in inspect.signature(function).parameters if name not in ("self", "cls"))


@cache
def _switches(function: Callable[..., object]) -> frozenset[str]:
    parameters = inspect.signature(function).parameters.values()
    return frozenset(it.name for it in parameters if it.annotation in (bool, "bool"))


@cache
def _most_positional(function: Callable[..., object]) -> int:
    """How many arguments it takes without a keyword, `self` or `cls` among them; with *arguments, any number."""
    kinds = [it.kind for it in inspect.signature(function).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return sys.maxsize
    return sum(kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds)


def _too_many_message(function: Callable[..., object], given: int) -> str:
    hidden = next(iter(inspect.signature(function).parameters), "") in ("self", "cls")
    most, names = _most_positional(function) - hidden, _names(function)
    pair = " Two files of one model are passed as a pair: (options_file, weight_file)." if "model" in names else ""
    return (
        f"{function.__qualname__.removesuffix('.__init__')} takes {most} argument{'s' if most != 1 else ''} without a "
        f"keyword, but {given - hidden} were given.{pair} Name the others: {', '.join(names[most:])}."
    )


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
