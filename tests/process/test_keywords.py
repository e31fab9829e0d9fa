"""Other libraries' names of arguments are answered with the ones here, and signatures stay visible."""

import inspect
from collections.abc import Callable
from dataclasses import is_dataclass

import numpy as np
import pytest

import elmo
from elmo import ELMo, Embedder
from elmo.errors import ConfigError
from elmo.process.keywords import known_keywords


def test_a_call_that_is_right_goes_through():
    @known_keywords
    def scale(values: list[int], *, layer: int = 1) -> list[int]:
        """Scales."""
        return [value * layer for value in values]

    assert scale([1, 2], layer=3) == [3, 6]  # its own, whatever others call so
    assert scale(values=[1]) == [1]
    assert list(inspect.signature(scale).parameters) == ["values", "layer"]
    assert scale.__doc__ == "Scales."
    with pytest.raises(TypeError, match="factor"):
        scale([1], factor=2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda model: Embedder.from_pretrained(keep_sentence_boundaries=True), "Did you mean 'keep_boundaries'"),
        (lambda model: Embedder.from_pretrained(batch_size=3), "max_tokens of the Embedder bounds a batch"),
        (lambda model: ELMo.from_pretrained(requires_grad=True), "Did you mean 'trainable'"),
        (lambda model: ELMo.from_pretrained(num_output_representations=2), "Did you mean 'num_mixes'"),
        (lambda model: ELMo(model, do_layer_norm=True), "ELMo has no argument 'do_layer_norm'. Did you mean 'layer_no"),
        (lambda model: ELMo(model, device="cpu"), r"\.to\(device\)"),
        (lambda model: Embedder(model).embed([["a"]], pooling="mean"), "Did you mean 'pool'"),
        (lambda model: Embedder(model).embed([["a"]], tokenizer="unicode"), "embed_text"),
    ],
)
def test_a_wrong_keyword_is_answered_with_the_right_one(tiny_bilm, call, message):
    with pytest.raises(ConfigError, match=message):
        call(tiny_bilm)


def test_completion_sees_every_keyword():
    for function in (Embedder.from_pretrained, ELMo.from_pretrained, Embedder.embed, ELMo.__init__):
        kinds = {it.kind for it in inspect.signature(function).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds
    assert "cache_bytes" in inspect.signature(Embedder.from_pretrained).parameters


def test_from_pretrained_has_the_keywords_of_the_class_with_the_same_defaults():
    for cls in (ELMo, Embedder):
        own = inspect.signature(cls.__init__).parameters
        loaded = inspect.signature(cls.from_pretrained).parameters
        for name, parameter in own.items():
            if parameter.kind == parameter.KEYWORD_ONLY:
                assert loaded[name].default == parameter.default


def _switches() -> list[tuple[Callable[..., object], str]]:
    """Each switch of what `elmo` has in public: functions, constructors and public methods."""
    owners = [getattr(elmo, name) for name in elmo.__all__ if name != "__version__"]
    found = [it for it in owners if inspect.isfunction(it)]
    for owner in filter(inspect.isclass, owners):
        methods = [getattr(it, "__func__", it) for it in vars(owner).values()]
        # A dataclass and torch check their own.
        found += [it for it in methods if inspect.isfunction(it) and not is_dataclass(owner) and it.__name__ != "train"]
    public = [it for it in found if it.__name__ == "__init__" or not it.__name__.startswith("_")]
    return [
        (it, name)
        for it in public
        for name, parameter in inspect.signature(it).parameters.items()
        if parameter.annotation in (bool, "bool")
    ]


def test_every_switch_in_public_takes_true_and_false_only():
    assert len(_switches()) > 15
    for function, name in _switches():
        with pytest.raises(ConfigError, match=rf"{name} must be True or False \(got 'no'\)"):
            function(**{name: "no"})
    with pytest.raises(ConfigError, match="skip_connections must be true or false .got 'no'."):
        elmo.BiLMConfig(skip_connections="no")


@pytest.mark.parametrize("value", ["no", "False", 0, None, []])
def test_a_switch_is_on_or_off(value):
    @known_keywords
    def write(path: str, *, force: bool = False) -> bool:
        return force

    with pytest.raises(ConfigError, match="force must be True or False"):
        write("x", force=value)
    assert write("x", force=np.bool_(True))
