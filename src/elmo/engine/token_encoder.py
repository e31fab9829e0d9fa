"""TokenEncoder: a token's characters (and its word, if the model has words) -> its context-insensitive vector.

Source: as `model/token_encoder.py`: characters -> convolutions -> maximum over positions -> highway layers ->
projection. A token's vector does not depend, to the last bit, on the tokens that are encoded with it.
"""

import numpy as np

from elmo.config import BiLMConfig
from elmo.engine.backend import Product, backend_for, product
from elmo.engine.inputs import require_ids
from elmo.engine.native import NativeCharacters, in_order_of_characters
from elmo.engine.weight_store import Tensors, part
from elmo.ops.native.kinds import ComputeType
from elmo.shapes import Float, Int

# Tokens encoded together: they share the windows of the longest, and a multiple of the six rows of a native product.
_TOKENS = 240


class TokenEncoder:
    """The weights of the token encoder, laid out."""

    def __init__(self, config: BiLMConfig, tensors: Tensors, dtype: ComputeType) -> None:
        self._config = config
        dtype = rounded_to(dtype)
        tensors = self._tensors = part(tensors, "token_encoder.")
        self._characters = self._native_characters(dtype)
        if config.has_characters and self._characters is None:
            self._filters = [
                (width, product(in_order_of_characters(tensors[f"convolutions.{index}.weight"]), dtype))
                for index, (width, _) in enumerate(config.filters)
            ]
            self._filter_bias = np.concatenate(
                [tensors[f"convolutions.{index}.bias"] for index in range(len(config.filters))]
            )
            highways = (part(tensors, f"highways.{index}.") for index in range(config.num_highway))
            self._highways = [_Highway(weights, dtype) for weights in highways]
        self._projection = None
        if config.token_projection and (self._characters is None or config.has_words):
            self._projection = product(tensors["projection.weight"], dtype)

    def _native_characters(self, dtype: ComputeType) -> NativeCharacters | None:
        """The library's way from characters on, and through the projection if there are no words beside them."""
        config = self._config
        if backend_for(dtype, self._tensors.values()) != "native" or not NativeCharacters.fits(config, dtype):
            return None
        projects = config.token_projection and not config.has_words
        return NativeCharacters(config, self._tensors, dtype, projects=projects)

    def __call__(
        self,
        characters: Int[np.ndarray, "types characters"] | None,
        words: Int[np.ndarray, " types"] | None,
    ) -> Float[np.ndarray, "types projection"]:
        """One vector for each token. Raises ConfigError for ids that the model doesn't know."""
        require_ids(self._config, characters, words)
        characters = characters if self._config.has_characters else None
        words = words if self._config.has_words else None
        if self._characters is not None and characters is not None and words is None:
            return self._characters(characters)
        known = characters if characters is not None else words
        assert known is not None  # a model reads one of them
        out = np.empty((len(known), self._config.projection_size), self._dtype)
        order = np.arange(len(known)) if characters is None else np.argsort(columns_used(characters), kind="stable")
        for start in range(0, len(known), _TOKENS):
            chosen = order[start : start + _TOKENS]
            out[chosen] = self._encoded(*(ids if ids is None else ids[chosen] for ids in (characters, words)))
        return out

    @property
    def _dtype(self) -> np.dtype:
        return next(iter(self._tensors.values())).dtype

    def _encoded(
        self, characters: Int[np.ndarray, "types characters"] | None, words: Int[np.ndarray, " types"] | None
    ) -> Float[np.ndarray, "types projection"]:
        parts = []
        if words is not None:
            parts.append(self._tensors["word_embedding"][words])
        if characters is not None:
            parts.append(self._from_characters(characters))
        features = np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
        return features if self._projection is None else self._projection(features, self._tensors["projection.bias"])

    def _from_characters(self, characters: Int[np.ndarray, "types characters"]) -> Float[np.ndarray, "types filters"]:
        if self._characters is not None:
            return self._characters(characters)
        widest = max(width for width, _ in self._filters)
        columns = min(characters.shape[1], int(columns_used(characters).max(initial=0)) + widest)
        embedding = self._tensors["character_embedding"]
        vectors = embedding[characters[:, :columns]].reshape(len(characters), -1)
        dim = embedding.shape[1]
        best = [_best_windows(vectors, width * dim, dim, filters) for width, filters in self._filters]
        features = np.concatenate(best, axis=1) + self._filter_bias
        features = np.maximum(features, 0) if self._config.activation == "relu" else np.tanh(features)
        for highway in self._highways:
            features = highway(features)
        return features


class _Highway:
    """y = g * relu(W_t x + b_t) + (1 - g) * x with g = sigmoid(W_g x + b_g); always relu."""

    def __init__(self, tensors: Tensors, dtype: ComputeType) -> None:
        self._transform = product(tensors["transform.weight"], dtype), np.asarray(tensors["transform.bias"])
        self._gate = product(tensors["gate.weight"], dtype), np.asarray(tensors["gate.bias"])

    def __call__(self, inputs: Float[np.ndarray, "types filters"]) -> Float[np.ndarray, "types filters"]:
        (transform, transform_bias), (gate, gate_bias) = self._transform, self._gate
        gates = 0.5 * np.tanh(0.5 * gate(inputs, gate_bias)) + 0.5
        with np.errstate(over="ignore", invalid="ignore"):  # as in products
            return gates * np.maximum(transform(inputs, transform_bias), 0) + (1 - gates) * inputs


def rounded_to(dtype: ComputeType) -> ComputeType:
    """What the factors of products are rounded to in the token encoder: for int8 that is bfloat16.

    A word's error goes into all its tokens, and these products, one per word type, take little of the time.
    """
    return "bfloat16" if dtype == "int8" else dtype


def columns_used(characters: Int[np.ndarray, "types characters"]) -> Int[np.ndarray, " types"]:
    """For each row the columns up to the last one that differs from the row's end.

    What follows is padding. A window of width w that starts in the padding sees w paddings, whatever the token, so one
    of them is as good as all: a row may be cut behind the longest token and the widest filter.
    """
    differs = characters != characters[:, -1:]
    return np.where(differs.any(axis=1), characters.shape[1] - differs[:, ::-1].argmax(axis=1), 0)


def _best_windows(
    vectors: Float[np.ndarray, "types values"], span: int, dim: int, filters: Product
) -> Float[np.ndarray, "types filters"]:
    """Each filter's maximum over the windows of `span` values, which begin every `dim` values."""
    windows = np.lib.stride_tricks.sliding_window_view(vectors, span, axis=1)[:, ::dim]
    types, positions, _ = windows.shape
    scores = filters(windows.reshape(types * positions, span))
    return scores.reshape(types, positions, -1).max(axis=1)
