"""The characters' part of the token encoder through the native library, in one call for any number of tokens.

Source: ops/native/inference/kernel.h, `encode`. The same in numpy, step by step, is in `engine.token_encoder`; a
token's bits don't depend on the tokens that are encoded with it.
"""

import ctypes
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from elmo.config import BiLMConfig
from elmo.engine.held_once import Weight
from elmo.engine.memory import address, aligned
from elmo.engine.native.panels import PANEL, Panels, lay_out
from elmo.engine.network_weights import Tensors
from elmo.errors import ConfigError
from elmo.ops import native
from elmo.ops.native.kinds import KINDS, ComputeType
from elmo.ops.native.structures import Encoder, Packed
from elmo.ops.native.threads import num_threads, run_parallel
from elmo.shapes import Float, Int, Shaped

# Factors added up before they join the sum: short sums round less, and the LSTMs amplify the rounding of their inputs.
_CHUNK = 32
# Tokens of one thread's share below which making a thread takes longer than it saves.
_ENOUGH_FOR_A_THREAD = 64


class NativeCharacters:
    """Convolutions, highway layers and, if `projects`, the projection: laid out."""

    def __init__(self, config: BiLMConfig, tensors: Tensors, dtype: ComputeType, *, projects: bool) -> None:
        self._library = cast(Any, native.library())
        self._kind = KINDS[dtype]
        self._kept: list[Any] = []  # arrays that the structure points into
        vectors = np.asarray(tensors["character_embedding"])
        self._alphabet = len(vectors)
        self.size = config.projection_size if projects else config.num_filters
        layers = [f"highways.{index}." for index in range(config.num_highway)]
        convolutions = [np.asarray(tensors[f"convolutions.{n}.weight"]) for n in range(len(config.filters))]
        filters = [_in_order_of_characters(convolution) for convolution in convolutions]
        projection = self._packed(tensors["projection.weight"], dtype) if projects else Packed()
        self._encoder = Encoder(
            self._array(vectors),
            self._array(np.array([width for width, _ in config.filters], np.int64)),
            self._array(np.array([number for _, number in config.filters], np.int64)),
            self._packed_array(filters, dtype),
            self._array(np.concatenate([tensors[f"convolutions.{n}.bias"] for n in range(len(filters))])),
            self._packed_array([tensors[f"{layer}transform.weight"] for layer in layers], dtype),
            self._packed_array([tensors[f"{layer}gate.weight"] for layer in layers], dtype),
            self._addresses([np.asarray(tensors[f"{layer}transform.bias"]) for layer in layers]),
            self._addresses([np.asarray(tensors[f"{layer}gate.bias"]) for layer in layers]),
            projection,
            self._array(_padded(np.asarray(tensors["projection.bias"]))) if projects else None,
            config.max_characters_per_token,
            config.character_dim,
            len(filters),
            config.num_filters,
            config.num_highway,
            self.size,
            config.activation == "tanh",
        )

    @staticmethod
    def fits(config: BiLMConfig, dtype: ComputeType) -> bool:
        """Whether windows begin at whole groups of factors, as the library needs it."""
        return config.has_characters and (dtype == "float32" or config.character_dim % 2 == 0)

    def __call__(self, characters: Int[np.ndarray, "types characters"]) -> Float[np.ndarray, "types size"]:
        """One row for each token. Raises ConfigError for ids that the alphabet lacks."""
        if characters.size and not 0 <= characters.min() <= characters.max() < self._alphabet:
            wrong = characters.min() if characters.min() < 0 else characters.max()
            raise ConfigError(
                f"there is the character id {wrong}, but this model knows 0 to {self._alphabet - 1}. Make the ids with "
                "the model's own TokenMap."
            )
        ids = np.ascontiguousarray(characters, np.int32)
        out = aligned((len(ids), self.size), np.float32)
        parts = max(1, min(num_threads(), len(ids) // _ENOUGH_FOR_A_THREAD))
        limits = [len(ids) * part // parts for part in range(parts + 1)]
        run_parallel([self._job(ids[a:b], out[a:b]) for a, b in zip(limits, limits[1:], strict=False)])
        return out

    def _job(
        self, ids: Int[np.ndarray, "types characters"], out: Float[np.ndarray, "types size"]
    ) -> Callable[[], None]:
        """Some tokens, for one thread."""

        def run() -> None:
            encoder = ctypes.byref(self._encoder)
            work = aligned(self._library.elmo_encode_work_bytes(encoder), np.uint8)
            addresses = address(ids), len(ids), address(work), address(out)
            self._library.elmo_encode_tokens(self._kind, encoder, *addresses)

        return run

    def _array(self, values: Shaped[np.ndarray, "..."]) -> int | None:
        self._kept.append(np.ascontiguousarray(values))
        return address(self._kept[-1])

    def _panels(self, weight: Weight, dtype: ComputeType) -> Panels:
        panels = lay_out(weight, dtype)
        self._kept.append(panels._replace(chunk=_CHUNK) if dtype == "float32" else panels)
        return self._kept[-1]

    def _packed(self, weight: Weight, dtype: ComputeType) -> Packed:
        return self._panels(weight, dtype).packed()

    def _packed_array(self, weights: list[Any], dtype: ComputeType) -> int:
        self._kept.append((Packed * len(weights))(*(self._packed(weight, dtype) for weight in weights)))
        return ctypes.addressof(self._kept[-1])

    def _addresses(self, biases: list[Float[np.ndarray, " outer"]]) -> int | None:
        return self._array(np.array([self._array(_padded(bias)) for bias in biases], np.uint64))


def _padded(bias: Float[np.ndarray, " outer"]) -> Float[np.ndarray, " padded"]:
    """With zeros, to whole panels."""
    return np.pad(bias, (0, -len(bias) % PANEL))


def _in_order_of_characters(weight: Float[np.ndarray, "filters dim width"]) -> Float[np.ndarray, "filters span"]:
    """As the windows lie: one character's vector after the other."""
    return np.ascontiguousarray(weight.swapaxes(1, 2)).reshape(len(weight), -1)
