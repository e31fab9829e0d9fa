"""The characters' part of the token encoder through the native library, in one call for any number of tokens.

Source: ops/native/inference/kernel.h, `encode`. The same in numpy, step by step, is in `engine.token_encoder`; a
token's bits don't depend on the tokens that are encoded with it.
"""

from collections.abc import Callable

import numpy as np

from elmo.config import BiLMConfig
from elmo.engine.held_once import Weight
from elmo.engine.native.panels import PANEL, lay_out
from elmo.engine.network_weights import Tensors
from elmo.ops import native
from elmo.ops.native.arguments import aligned
from elmo.ops.native.character_encoder import CharacterEncoder
from elmo.ops.native.kinds import ComputeType
from elmo.ops.native.structures import Matrix
from elmo.ops.native.threads import num_threads, run_parallel
from elmo.shapes import Float, Int

# Factors added up before they join the sum: short sums round less, and the LSTMs amplify the rounding of their inputs.
_CHUNK = 32
# Tokens of one thread's share below which making a thread takes longer than it saves.
_ENOUGH_FOR_A_THREAD = 64


class NativeCharacters:
    """Convolutions, highway layers and, if `projects`, the projection: laid out."""

    def __init__(self, config: BiLMConfig, tensors: Tensors, dtype: ComputeType, *, projects: bool) -> None:
        self.size = config.projection_size if projects else config.num_filters
        filters = [
            (width, number, _matrix(_in_order_of_characters(np.asarray(tensors[f"convolutions.{n}.weight"])), dtype))
            for n, (width, number) in enumerate(config.filters)
        ]
        self._encoder = CharacterEncoder(
            native.required_library(),
            np.ascontiguousarray(tensors["character_embedding"]),
            config.max_characters_per_token,
            filters,
            np.concatenate([tensors[f"convolutions.{n}.bias"] for n in range(len(filters))]),
            [
                [_linear(tensors, f"highways.{index}.{side}", dtype) for side in ("transform", "gate")]
                for index in range(config.num_highway)
            ],
            (*_linear(tensors, "projection", dtype), self.size) if projects else None,
            squashes=config.activation == "tanh",
        )

    @staticmethod
    def fits(config: BiLMConfig, dtype: ComputeType) -> bool:
        """Whether windows begin at whole groups of factors, as the library needs it."""
        return config.has_characters and (dtype == "float32" or config.character_dim % 2 == 0)

    def __call__(self, characters: Int[np.ndarray, "types characters"]) -> Float[np.ndarray, "types size"]:
        """One row for each token."""
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
        return lambda: self._encoder.encode(ids, out)


def _matrix(weight: Weight, dtype: ComputeType) -> Matrix:
    panels = lay_out(weight, dtype)
    return (panels._replace(chunk=_CHUNK) if dtype == "float32" else panels).matrix()


def _linear(tensors: Tensors, name: str, dtype: ComputeType) -> tuple[Matrix, Float[np.ndarray, " padded"]]:
    """Its weight and bias."""
    return _matrix(tensors[f"{name}.weight"], dtype), _padded(np.asarray(tensors[f"{name}.bias"]))


def _padded(bias: Float[np.ndarray, " outer"]) -> Float[np.ndarray, " padded"]:
    """With zeros, to whole panels."""
    return np.pad(bias, (0, -len(bias) % PANEL))


def _in_order_of_characters(weight: Float[np.ndarray, "filters dim width"]) -> Float[np.ndarray, "filters span"]:
    """As the windows lie: one character's vector after the other."""
    return np.ascontiguousarray(weight.swapaxes(1, 2)).reshape(len(weight), -1)
