r"""ELMo in one file: from the characters of a token to its vectors, in the order of the paper, one token at a time.

    characters -> char CNN -> highway layers -> projection -> LSTMs in two directions -> layers -> scalar mix
                                                                                           \-> softmax: the next word

"The paper" is Peters et al. (2018), *Deep contextualized word representations*. What it leaves open is cited as "spec",
a section of docs/specification.md, whose facts were read in the original implementation, bilm-tf. Symbols:

    t_k       token k of a sentence of N tokens
    x_k       its token vector, which doesn't depend on the sentence: P numbers (the paper's x_k^LM)
    h_{k,j}   the output of LSTM layer j at token k, j = 1 ... L; h_{k,0} is x_k (the paper's h_{k,j}^LM)
    * and σ   the element-wise product, and the logistic function

This file defines the results. `elmo.engine` (C or numpy) and `elmo.model` (torch) compute the same numbers fast and are
tested against it, and it is tested against vectors of the original implementations. It computes in the type of the
weights: those of a `Checkpoint`, `formats.read(hub.resolve("small-en"))` in `elmo.weights`, with its `config`.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from elmo.config import BiLMConfig
from elmo.shapes import Float, Int

Tensors = Mapping[str, Float[np.ndarray, "..."]]
State = dict[tuple[str, int], tuple[Float[np.ndarray, " projection"], Float[np.ndarray, " cell"]]]


def embed(config: BiLMConfig, tensors: Tensors, tokens: Sequence[str]) -> Float[np.ndarray, "layers tokens dim"]:
    """All layers of a sentence, by a model that reads bytes (paper, 3.2).

    R_k = { h_{k,j} | j = 0 ... L }

    The model reads the sentence boundaries too (spec, 1.4); they are not in the result.
    """
    if config.characters != "bytes" or config.has_words:
        raise ValueError(
            f"embed makes ids of bytes, but the model reads {config.characters!r} and {config.num_words} words. "
            "Call token_vector with the ids that the checkpoint's token_map makes, then bilm."
        )
    with_boundaries = ["<S>", *tokens, "</S>"]
    ids = [character_ids(token, config.max_characters_per_token) for token in with_boundaries]
    x = np.stack([token_vector(config, tensors, characters) for characters in ids])
    layers, _ = bilm(config, tensors, x)
    return layers[:, 1:-1]


def character_ids(token: str, max_characters: int = 50) -> Int[np.ndarray, " characters"]:
    """A token as the bytes of its UTF-8 encoding, between two marks and padded (spec, 1.1 to 1.3).

    [begin] byte_1 + 1 ... byte_n + 1 [end] [padding] ...        n <= max_characters - 2; longer tokens are cut

    Id 0 would mean "no token". Each sentence boundary has an id of its own in place of bytes.
    """
    begin, end, padding = 259, 260, 261
    boundaries = {"<S>": [257], "</S>": [258]}
    kept = [byte + 1 for byte in token.encode("utf-8", errors="ignore")[: max_characters - 2]]
    ids = [begin, *boundaries.get(token, kept), end]
    return np.array(ids + [padding] * (max_characters - len(ids)))


def char_cnn(
    characters: Int[np.ndarray, " characters"],
    embedding: Float[np.ndarray, "alphabet dim"],
    filters: Iterable[tuple[Float[np.ndarray, "number dim width"], Float[np.ndarray, " number"]]],
    activation: str = "relu",
) -> Float[np.ndarray, " filters"]:
    """Filters slide over the characters; the maximum of each is kept (paper, 3.4; Kim et al. 2016; spec, 2.1).

    y_i = f( b_i + max_t sum_u W_i[u] · e_{t+u} )        u = 0 ... width - 1; f is relu or tanh

    e_t is the vector of character t. The maximum is over all positions, also those of the padding.
    """
    e, y = embedding[characters], []
    for W, b in filters:
        windows = np.lib.stride_tricks.sliding_window_view(e, W.shape[2], axis=0)  # (positions, dim, width)
        y.append(b + np.tensordot(windows, W, axes=((1, 2), (1, 2))).max(axis=0))
    return np.maximum(np.concatenate(y), 0) if activation == "relu" else np.tanh(np.concatenate(y))


def highway(
    x: Float[np.ndarray, " filters"],
    W_T: Float[np.ndarray, "filters filters"],
    b_T: Float[np.ndarray, " filters"],
    W_H: Float[np.ndarray, "filters filters"],
    b_H: Float[np.ndarray, " filters"],
) -> Float[np.ndarray, " filters"]:
    """A gate T lets each feature pass transformed, or as it is (paper, 3.4; Srivastava et al. 2015; spec, 2.2).

    T = σ(W_T x + b_T)
    y = T * relu(W_H x + b_H) + (1 - T) * x
    """
    T = sigmoid(W_T @ x + b_T)
    return T * np.maximum(W_H @ x + b_H, 0) + (1 - T) * x


def token_vector(
    config: BiLMConfig, tensors: Tensors, characters: Int[np.ndarray, " characters"] | None, word: int | None = None
) -> Float[np.ndarray, " projection"]:
    """The char CNN, highway layers and a linear projection to P numbers (paper, 3.4; spec, 2.3).

    x_k = W [word vector; highway(char_cnn(characters))] + b

    Published models read characters alone. ELMoForManyLangs' look up words too (spec, 2.7), others nothing else (2.5).
    """

    def weight_and_bias(name: str) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, " outputs"]]:
        return tensors[f"token_encoder.{name}.weight"], tensors[f"token_encoder.{name}.bias"]

    features = [] if word is None else [tensors["token_encoder.word_embedding"][word]]
    if characters is not None:
        filters = [weight_and_bias(f"convolutions.{i}") for i in range(len(config.filters))]
        y = char_cnn(characters, tensors["token_encoder.character_embedding"], filters, config.activation)
        for i in range(config.num_highway):
            y = highway(y, *weight_and_bias(f"highways.{i}.gate"), *weight_and_bias(f"highways.{i}.transform"))
        features.append(y)
    if not config.token_projection:
        return np.concatenate(features)
    W, b = weight_and_bias("projection")
    return W @ np.concatenate(features) + b


def lstm_step(
    x: Float[np.ndarray, " dim"],
    h: Float[np.ndarray, " projection"],
    c: Float[np.ndarray, " cell"],
    W_x: Float[np.ndarray, "gates dim"],
    W_h: Float[np.ndarray, "gates projection"],
    b: Float[np.ndarray, " gates"],
    W_P: Float[np.ndarray, "projection cell"] | None,
    forget_bias: float = 1.0,
    cell_clip: float | None = 3.0,
    projection_clip: float | None = 3.0,
) -> tuple[Float[np.ndarray, " projection"], Float[np.ndarray, " cell"]]:
    """An LSTM layer with a projection reads one token: its new (h, c) (paper, 3.4; Sak et al. 2014; spec, 3.1).

    [i; f; o; j] = W_x x + W_h h + b
    c' = clip( σ(f + forget_bias) * c + σ(i) * tanh(j) )
    h' = clip( W_P (σ(o) * tanh(c')) )                       without W_P: h' = σ(o) * tanh(c')
    """
    i, f, o, j = lstm_gates(x, h, W_x, W_h, b, forget_bias)
    c = clip(f * c + i * j, cell_clip)
    m = o * np.tanh(c)
    return (m if W_P is None else clip(W_P @ m, projection_clip)), c


def lstm_gates(
    x: Float[np.ndarray, " dim"],
    h: Float[np.ndarray, " projection"],
    W_x: Float[np.ndarray, "gates dim"],
    W_h: Float[np.ndarray, "gates projection"],
    b: Float[np.ndarray, " gates"],
    forget_bias: float = 1.0,
) -> tuple[Float[np.ndarray, " cell"], ...]:
    """How much each cell writes, keeps and shows, and what it writes: σ(i), σ(f + forget_bias), σ(o), tanh(j)."""
    i, f, o, j = np.split(W_x @ x + W_h @ h + b, 4)
    return sigmoid(i), sigmoid(f + forget_bias), sigmoid(o), np.tanh(j)


def bilm(
    config: BiLMConfig, tensors: Tensors, x: Float[np.ndarray, "tokens projection"], state: State | None = None
) -> tuple[Float[np.ndarray, "layers tokens dim"], State]:
    """Two language models read the token vectors: all layers, and the state they end in (paper, 3.1 and 3.2).

    forward    p(t_1 ... t_N) = Π_k p(t_k | t_1 ... t_{k-1})         backward   Π_k p(t_k | t_{k+1} ... t_N)
    h_{k,0} = [x_k; x_k]                                             h_{k,j} = [forward h_{k,j}; backward h_{k,j}]

    From layer 2 on, a layer's input is added to its output (skip connection; paper, 3.4; spec, 3.2). The backward model
    reads from the last token to the first. `state` has the (h, c) that a direction's layer starts from; default: zeros.
    """
    sides, state = [], dict(state or {})
    zeros = np.zeros(config.projection_size, x.dtype), np.zeros(config.cell_size, x.dtype)
    constants = config.forget_bias, config.cell_clip, config.projection_clip
    for direction in config.directions:
        turned = slice(None, None, -1 if direction == "backward" else 1)
        layers = [x[turned]]
        for layer in range(config.num_layers):
            name = f"{direction}_lstm.layers.{layer}."
            W_x, W_h, b = (tensors[name + part] for part in ("input_weight", "recurrent_weight", "bias"))
            weights = W_x, W_h, b, tensors.get(name + "projection_weight")
            (h, c), outputs = state.get((direction, layer), zeros), np.zeros_like(x)
            for k, vector in enumerate(layers[-1]):
                h, c = lstm_step(vector, h, c, *weights, *constants)
                outputs[k] = h + vector if layer > 0 and config.skip_connections else h
            state[direction, layer] = h, c
            layers.append(outputs)
        sides.append(np.stack(layers)[:, turned])
    return np.concatenate(sides, axis=2), state


def scalar_mix(
    layers: Float[np.ndarray, "layers tokens dim"],
    w: Float[np.ndarray, " layers"],
    gamma: float = 1.0,
    layer_norm: bool = False,
) -> Float[np.ndarray, "tokens dim"]:
    """ELMo: a sum of the layers, with weights that a task learns (paper, 3.2, equation 1; spec, 5.1).

    ELMo_k = γ sum_j s_j h_{k,j}        s = softmax(w)

    `layer_norm` first gives all numbers of a layer together mean 0 and variance 1 (spec, 5.2).
    """
    if layer_norm:
        layers = np.stack([(layer - layer.mean()) / np.sqrt(layer.var() + 1e-13) for layer in layers])
    s = np.exp(w - w.max())
    return gamma * np.tensordot(s / s.sum(), layers, axes=1)


def log_probabilities(
    h: Float[np.ndarray, " projection"], W: Float[np.ndarray, "words projection"], b: Float[np.ndarray, " words"]
) -> Float[np.ndarray, " words"]:
    """ln p of every word, from the top layer's output in one direction (paper, 3.1; spec, 6.3).

    p(t | context) = softmax(W h + b)

    Forward, h_{k,L} predicts t_{k+1}; backward, t_{k-1}. Both directions share W and b (the paper's Θ_s).
    """
    logits = W @ h + b
    logits -= logits.max()
    return logits - np.log(np.exp(logits).sum())


def sigmoid(values: Float[np.ndarray, " entries"]) -> Float[np.ndarray, " entries"]:
    """1 / (1 + exp(-v)), by a tanh, which can't overflow."""
    return (np.tanh(values / 2) + 1) / 2


def clip(values: Float[np.ndarray, " entries"], bound: float | None) -> Float[np.ndarray, " entries"]:
    """Limits absolute values to `bound`, if there is one."""
    return values if bound is None else np.clip(values, -bound, bound)
