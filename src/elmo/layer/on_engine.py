"""A biLM in torch, read by the engine where that gives the same vectors faster: on a CPU, without gradients.

The engine computes from a copy of the weights. Weights that are frozen are copied again when torch has counted a
change (`load_state_dict`, `copy_`, `to`). Weights that have or require a gradient are compared with the copy at every
call, because torch does not count the steps of fused optimizers; so are those made in inference mode, whose changes it
never counts. Only a write that torch does not count, into a frozen weight, needs `refresh`: `weight.data[...] = 1`, or
one through numpy.
"""

import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn.modules import module as hooks_of_all
from torch.overrides import _get_current_function_mode_stack
from torch.utils._device import DeviceContext

from elmo.config import BiLMConfig
from elmo.engine.engine import Engine
from elmo.model.bilm import BiLM, BiLMOutput, BiLMState
from elmo.model.projected_lstm import ProjectedLSTM, ProjectedLSTMLayer
from elmo.model.token_encoder import Convolution, Highway, TokenEncoder
from elmo.ops.native.kinds import ComputeType, native_types
from elmo.process.thread_lock import ThreadLock
from elmo.text.batches import number_tokens, pad
from elmo.weights.shapes import network_shapes


def engine_of(bilm: BiLM, dtype: ComputeType = "float32") -> Engine | None:
    """The engine with the biLM's weights as they are now; None where torch must compute.

    That is so where a gradient is needed, on other devices and in other types than float32, while something traces the
    operations, and if the biLM isn't as it was built: a module has a hook or was replaced, added or patched, a weight
    has another shape or is not a plain parameter. Any number of threads may ask at once.
    """
    if torch.is_grad_enabled() or _is_traced() or not _is_as_built(bilm) or not _is_in_float32_on_a_cpu(bilm):
        return None
    return _remembered(bilm, (dtype, *native_types()), lambda: Engine(bilm.config, _copies(bilm), dtype))


def unchanged(bilm: BiLM) -> object:
    """The same object as long as no weight has changed; another one at each call if the biLM isn't as it was built."""
    return _remembered(bilm, "unchanged", object) if _is_as_built(bilm) else object()


def refresh(bilm: BiLM) -> None:
    """Lets go of the engine's copies: the next call takes the weights as they are then."""
    with _lock.mutex:
        _known.pop(bilm, None)


def read(bilm: BiLM, sentences: Sequence[Sequence[str]] | Int[Tensor, "batch tokens characters"]) -> BiLMOutput:
    """All layers of sentences, boundaries included: lists of tokens, or character ids as `BiLM.forward` takes them."""
    engine = engine_of(bilm)
    if isinstance(sentences, Tensor):
        if engine is None:
            return bilm(sentences)
        distinct = bilm.distinct_tokens(sentences, None)
        ids, places, lengths = distinct.characters, distinct.places.numpy(), distinct.lengths.numpy()
        table = engine.token_vectors(None if ids is None else ids.numpy())
    elif engine is None:
        return bilm(*padded_ids(bilm, sentences))
    else:
        tokens, rows = number_tokens(sentences, bilm.token_map.boundary_tokens)
        batch, ids = pad(rows, np.arange(len(rows))), bilm.token_map.ids(tokens)
        places, lengths = batch.places, batch.lengths
        table = engine.token_vectors(ids.characters, ids.words)
    layers, state = engine.contextualize(table[places], lengths)
    mask = np.arange(places.shape[1])[None, :] < lengths[:, None]
    return BiLMOutput(torch.from_numpy(layers), torch.from_numpy(mask), BiLMState(*map(torch.from_numpy, state)))


def padded_ids(
    bilm: BiLM, sentences: Sequence[Sequence[str]]
) -> tuple[Int[Tensor, "batch tokens characters"] | None, Int[Tensor, "batch tokens"] | None]:
    """The ids of characters and words that the biLM is called with, 0 after each sentence."""
    characters, words = bilm.token_map.characters, bilm.token_map.words
    return (
        None if characters is None else padded(map(characters.ids, sentences), characters.max_characters_per_token),
        None if words is None else padded(map(words.ids, sentences)),
    )


def padded(rows: Iterable[Int[np.ndarray, "tokens ..."]], *width: int) -> Int[Tensor, "batch tokens ..."]:
    """Ids of sentences as one tensor, int64 on the CPU, 0 after each sentence. `width`: ids of a token."""
    found = list(rows)
    ids = torch.zeros(len(found), max(map(len, found), default=0), *width, dtype=torch.int64, device="cpu")
    for padded_row, row in zip(ids, found, strict=True):
        padded_row[: len(row)] = torch.from_numpy(row)
    return ids


Made = TypeVar("Made")


def _remembered(bilm: BiLM, what: Hashable, make: Callable[[], Made]) -> Made:
    """What was made of the weights as they are now."""

    def find() -> Any:
        found = _known.get(bilm, {}).get(what)
        return found[1] if found is not None and found[0].is_still(bilm) else None

    made = find()
    if made is None:
        with _lock.mutex:
            made = find()
            if made is None:
                weights = _Weights.of(bilm)  # before they are read: a change meanwhile is seen at the next call
                made = make()
                _known.setdefault(bilm, {})[what] = weights, made
    return made


def _copies(bilm: BiLM) -> dict[str, Float[np.ndarray, "..."]]:
    return {name: weight.detach().numpy().copy() for name, weight in bilm.named_parameters()}


class _Weights(NamedTuple):
    """What the weights were at a time."""

    config: BiLMConfig
    counts: tuple[tuple[object, ...], ...]
    values: tuple[Tensor | None, ...]
    """Of those that have or require a gradient, or were made in inference mode."""

    @classmethod
    def of(cls, bilm: BiLM) -> "_Weights":
        weights = tuple(bilm.parameters())
        compared = (it.requires_grad or it.grad is not None or it.is_inference() for it in weights)
        values = (weight.detach().clone() if it else None for weight, it in zip(weights, compared, strict=True))
        return cls(bilm.config, tuple(map(_count, weights)), tuple(values))

    def is_still(self, bilm: BiLM) -> bool:
        weights = tuple(bilm.parameters())
        return (
            self.config == bilm.config
            and self.counts == tuple(map(_count, weights))
            and all(
                values is None or _have_equal_bits(weight.detach(), values)
                for weight, values in zip(weights, self.values, strict=True)
            )
        )


_known: WeakKeyDictionary[BiLM, dict[Hashable, tuple[_Weights, Any]]] = WeakKeyDictionary()
_lock = ThreadLock()


def _count(weight: Tensor) -> tuple[object, ...]:
    """What differs when torch has counted a change; it does not count those of tensors made in inference mode."""
    count = None if weight.is_inference() else weight._version
    # An address alone may be that of new memory in the place of what was freed.
    memory = StorageWeakRef(weight.untyped_storage()), weight.data_ptr(), weight.stride()
    return count, memory, weight.shape, weight.dtype, weight.device, weight.requires_grad


def _have_equal_bits(one: Float[Tensor, "*shape"], other: Float[Tensor, "*shape"]) -> bool:
    bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}[one.element_size()]
    return torch.equal(one.view(bits), other.view(bits))  # as numbers NaN would differ from itself


def _is_traced() -> bool:
    return (
        torch.compiler.is_compiling()
        or torch.jit.is_tracing()  # pyright: ignore[reportPrivateImportUsage]
        or torch._C._len_torch_dispatch_stack() > 0
        or any(type(mode) is not DeviceContext for mode in _get_current_function_mode_stack())
        or torch._C._are_functorch_transforms_active()
    )


_METHODS: dict[type[nn.Module], frozenset[str]] = {
    kind: frozenset(name for name in dir(kind) if callable(getattr(kind, name, None)))
    for kind in (
        BiLM, TokenEncoder, Convolution, Highway, ProjectedLSTM, ProjectedLSTMLayer, nn.Linear, nn.ModuleList,
    )
}  # fmt: skip
"""What a biLM is made of, with the methods that an attribute of an instance may take the place of."""


@functools.cache
def _shapes(config: BiLMConfig) -> dict[str, tuple[int, ...]]:
    return dict(network_shapes(config))


def _is_as_built(bilm: BiLM) -> bool:
    """Whether the biLM is what `BiLM(config)` builds, without hooks."""
    config = bilm.config
    return (
        not hooks_of_all._global_forward_hooks
        and not hooks_of_all._global_forward_pre_hooks
        and all(map(_is_plain, bilm.modules()))
        and {name: tuple(weight.shape) for name, weight in bilm.named_parameters()} == _shapes(config)
        and bilm.token_encoder.config == config
        and len(bilm.token_encoder.highways if config.has_characters else ()) == config.num_highway
        and all(lstm.skip_connections == config.skip_connections for lstm in bilm.lstms)
        and all(layer.settings == config.lstm_settings for lstm in bilm.lstms for layer in lstm.layers)
    )


def _is_plain(module: nn.Module) -> bool:
    """Whether a module is one of ours or torch's own, with nothing attached to it."""
    methods = _METHODS.get(type(module))
    return (
        methods is not None
        and not module._forward_hooks
        and not module._forward_pre_hooks
        and not module._buffers
        and methods.isdisjoint(vars(module))
        and all(weight is None or type(weight) is nn.Parameter for weight in module._parameters.values())
    )


def _is_in_float32_on_a_cpu(bilm: BiLM) -> bool:
    return all(weight.dtype == torch.float32 and weight.device.type == "cpu" for weight in bilm.parameters())
