"""spaCy's training: the architecture "elmo.Tok2Vec.v1", a frozen biLM under a scalar mix that is learned.

    [components.tok2vec.model]
    @architectures = "elmo.Tok2Vec.v1"
    model = "small-en"

For each token gamma * sum_k softmax(weights)_k * layer_k (Peters et al. 2018, equation 1); the components that listen
train `weights` and `gamma`. Whitespace tokens get zeros.
"""

from collections import OrderedDict
from collections.abc import Callable

import numpy as np
from jaxtyping import Float32

from elmo.errors import MissingExtraError
from elmo.integrations.model_reference import ModelReference
from elmo.integrations.spacy import sentence_places
from elmo.process.thread_lock import ThreadLock
from elmo.setting_checks import require_setting
from elmo.text.sentence_checks import Tokens

try:
    from spacy.tokens import Doc
    from spacy.util import registry
    from thinc.api import Model
    from thinc.types import Floats2d
except ImportError as error:
    raise MissingExtraError("spacy", "spacy", "the spaCy architecture elmo.Tok2Vec.v1") from error

_HASH = "model_hash"


@registry.architectures("elmo.Tok2Vec.v1")
def make(
    model: str | None = None, dtype: str = "float32", state: str = "zero", cache_megabytes: int = 256
) -> Model[list[Doc], list[Floats2d]]:
    """The layer; spaCy calls it.

    `model`, `dtype`, `state`: see `ModelReference`. `cache_megabytes`: memory for the layers of sentences, which are
    the same in every epoch; 0: compute them each time. It never changes a result.
    """
    require_setting(cache_megabytes >= 0, "cache_megabytes", cache_megabytes, "0 or more")
    reference = ModelReference(model, dtype, state)  # type: ignore[arg-type]
    layers = LayerMemory(reference, cache_megabytes << 20)
    return Model(
        "elmo_tok2vec",
        forward,
        init=_initialize,
        params={"weights": None, "gamma": None},
        dims={"nO": None},
        attrs={"layers": layers, _HASH: ""},
    )


class LayerMemory:
    """All layers of sentences, remembered up to a number of bytes; the least recently used are forgotten first."""

    def __init__(self, reference: ModelReference, max_bytes: int) -> None:
        self.reference, self.max_bytes = reference, max_bytes
        self._known: OrderedDict[tuple[str, ...], Float32[np.ndarray, "layers tokens dim"]] = OrderedDict()
        self._bytes = 0
        self._lock = ThreadLock()

    def __call__(self, sentences: list[tuple[str, ...]]) -> list[Float32[np.ndarray, "layers tokens dim"]]:
        """The layers of each sentence. Threads take turns."""
        with self._lock.mutex:
            return self._layers(sentences)

    def _layers(self, sentences: list[tuple[str, ...]]) -> list[Float32[np.ndarray, "layers tokens dim"]]:
        new = [sentence for sentence in dict.fromkeys(sentences) if sentence not in self._known]
        embedder = self.reference.embedder
        computed = dict(zip(new, embedder.embed(map(Tokens, embedder.reader.tokens(new))), strict=True))
        found = [computed[sentence] if sentence in computed else self._known[sentence] for sentence in sentences]
        for sentence, array in zip(sentences, found, strict=True):
            self._remember(sentence, array)
        return found

    def _remember(self, sentence: tuple[str, ...], array: Float32[np.ndarray, "layers tokens dim"]) -> None:
        if sentence not in self._known:
            self._bytes += array.nbytes
        self._known[sentence] = array
        self._known.move_to_end(sentence)
        while self._bytes > self.max_bytes:
            self._bytes -= self._known.popitem(last=False)[1].nbytes


def forward(
    model: Model[list[Doc], list[Floats2d]], docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    """The mixed vectors of each doc, and what takes their gradient to `weights` and `gamma`."""
    xp = model.ops.xp
    layers = [xp.asarray(array) for array in _layers(model, docs)]
    gamma, weights = model.get_param("gamma"), model.get_param("weights")
    shares = xp.exp(weights - weights.max())
    shares /= shares.sum()
    sums = [xp.tensordot(shares, array, axes=1) for array in layers]

    def backprop(gradients: list[Floats2d]) -> list[Doc]:
        pairs = list(zip(gradients, layers, strict=True))
        of_shares = gamma * sum(xp.tensordot(array, gradient, axes=([1, 2], [0, 1])) for gradient, array in pairs)
        of_gamma = sum(float((gradient * total).sum()) for gradient, total in zip(gradients, sums, strict=True))
        model.inc_grad("weights", shares * (of_shares - (shares * of_shares).sum()))
        model.inc_grad("gamma", model.ops.asarray1f([of_gamma]))
        return []

    return [gamma * total for total in sums], backprop


def _layers(model: Model, docs: list[Doc]) -> list[Float32[np.ndarray, "layers tokens dim"]]:
    """All layers of every token of each doc."""
    memory: LayerMemory = model.attrs["layers"]
    memory.reference.model_hash = model.attrs[_HASH] or None  # that of the folder the layer was read from
    embedder = memory.reference.embedder
    places = [sentence_places(doc) for doc in docs]
    sentences = [tuple(doc[i].text for i in part) for doc, parts in zip(docs, places, strict=True) for part in parts]
    arrays = iter(memory(sentences))
    found = []
    for doc, parts in zip(docs, places, strict=True):
        layers = np.zeros((embedder.num_layers, len(doc), embedder.layer_dim), np.float32)
        for part in parts:
            layers[:, part] = next(arrays)
        found.append(layers)
    return found


def _initialize(model: Model, X: object = None, Y: object = None) -> None:  # noqa: N803 - as thinc names them
    reference = model.attrs["layers"].reference
    embedder = reference.embedder
    model.attrs[_HASH] = reference.model_hash
    model.set_dim("nO", embedder.layer_dim)
    model.set_param("weights", model.ops.alloc1f(embedder.num_layers))
    model.set_param("gamma", model.ops.asarray1f([1.0]))
