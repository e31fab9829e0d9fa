"""scikit-learn: ElmoVectorizer, texts -> one vector each, as a step of a pipeline.

make_pipeline(ElmoVectorizer("small-en"), LogisticRegression()).fit(texts, labels)
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from jaxtyping import Float32

from elmo.embed.results.pooling import Pool
from elmo.errors import ConfigError, MissingExtraError
from elmo.integrations.model_reference import ModelReference, State
from elmo.integrations.texts import tokenized
from elmo.layer_choice import Layers
from elmo.setting_checks import require_value
from elmo.text.sentence_checks import require_ordered, rows_of
from elmo.text.sentences import Tokenize

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise MissingExtraError("scikit-learn", "scikit-learn", "ElmoVectorizer") from error


class ElmoVectorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Texts -> (texts, dim): the vectors of a text's tokens, pooled to one.

    `model`: a name, folder, file or hub id; None: the default model. `layers`: as for `Embedder.embed`; "all" puts the
    layers side by side. `pool`: "mean", "max", "first", "last" or "first_last". `normalize`: divide each vector by its
    L2 norm. `tokenizer`: "auto", "unicode", "whitespace", or a function from a string to a list of strings, and
    `plain_quotes`: as for `Embedder.embed_text`; texts that are lists of tokens are taken as they are. `dtype`,
    `state`: as for `Embedder`, but no state is carried. A text without tokens has zeros. Nothing is learned: `fit`
    notes the model's hash (`model_hash_`), so that a pickled pipeline (which holds no weights) never computes with
    other weights than it was fitted with.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        layers: Layers = "average",
        pool: Pool = "mean",
        normalize: bool = False,
        tokenizer: str | Tokenize = "auto",
        plain_quotes: bool = True,
        dtype: str = "float32",
        state: State = "zero",
    ) -> None:
        self.model = model
        self.layers = layers
        self.pool: Pool = pool
        self.normalize = normalize
        self.tokenizer = tokenizer
        self.plain_quotes = plain_quotes
        self.dtype = dtype
        self.state: State = state

    def fit(self, X: Iterable[Any], y: object = None) -> "ElmoVectorizer":  # noqa: N803 - as scikit-learn names it
        """Loads the model and checks the settings. Raises ConfigError, WeightFileError."""
        _texts(X)
        require_value("pool", self.pool, Pool)  # a row of a table is one vector
        reference = ModelReference(self.model, self.dtype, self.state)
        self.n_features_ = reference.dim(self.layers)
        self.model_, self.model_hash_ = reference.model, reference.model_hash
        return self

    def fit_transform(  # noqa: D102 - scikit-learn's  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        X: Iterable[Any],  # noqa: N803 - as scikit-learn names it
        y: object = None,
    ) -> Float32[np.ndarray, "texts dim"]:
        # Of texts that can be read only once, `fit` would leave nothing to `transform`.
        texts = _texts(X)
        self.fit(texts, y)
        return self._rows(texts)  # scikit-learn gives them X's index, as it does to what `transform` returns

    def transform(self, X: Iterable[Any]) -> Float32[np.ndarray, "texts dim"]:  # noqa: N803 - as scikit-learn names it
        """The vector of each text, in order."""
        check_is_fitted(self)
        return self._rows(_texts(X))

    def _rows(self, texts: list[Any]) -> Float32[np.ndarray, "texts dim"]:
        reference = ModelReference(self.model_, self.dtype, self.state, self.model_hash_)
        embedder = reference.embedder
        sentences = tokenized(texts, self.tokenizer, embedder.reader, plain_quotes=self.plain_quotes)
        rows = np.empty((len(texts), reference.dim(self.layers)), np.float32)
        vectors = embedder.embed_iter(sentences, self.layers, pool=self.pool, normalize=self.normalize)
        for row, vector in enumerate(vectors):
            rows[row] = vector.reshape(-1)
        return rows

    @property
    def _n_features_out(self) -> int:
        return self.n_features_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags


def _texts(X: Any) -> list[Any]:  # noqa: N803 - as scikit-learn names it
    """The texts of one column, however it is passed."""
    if len(shape := tuple(getattr(X, "shape", ()))) > 1:
        if shape[1:] != (1,):  # the cells of a row would be read as the tokens of one text
            raise ConfigError(
                f"texts of shape {shape} are no single column. In a ColumnTransformer, name it by a string, not a list."
            )
        return list(np.asarray(X, dtype=object)[:, 0])
    return list(require_ordered(rows_of(X), "X", "one column or list of texts"))
