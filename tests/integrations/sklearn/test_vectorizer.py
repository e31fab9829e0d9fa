"""ElmoVectorizer in scikit-learn's own pipelines."""

import pickle

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from elmo import Embedder
from elmo.errors import ConfigError, WeightFileError
from elmo.integrations.sklearn import ElmoVectorizer

TEXTS = ["the cat sat", "a dog", "", "the bank was steep .", "one"]


@pytest.fixture
def vectorizer(tiny_model) -> ElmoVectorizer:
    return ElmoVectorizer(tiny_model)


@pytest.mark.parametrize("layers", ["average", "top", 0, [0.5, 0.25, 0.25], "all"])
@pytest.mark.parametrize("pool", ["mean", "max", "first_last"])
@pytest.mark.parametrize("normalize", [False, True])
def test_rows_are_the_pooled_vectors_of_the_embedder_bit_for_bit(tiny_model, layers, pool, normalize):
    made = ElmoVectorizer(tiny_model, layers=layers, pool=pool, normalize=normalize)
    rows = made.fit_transform(TEXTS)
    expected = Embedder.from_pretrained(tiny_model).embed(
        [text.split() for text in TEXTS], layers, pool=pool, normalize=normalize
    )
    np.testing.assert_array_equal(rows, expected.reshape(len(TEXTS), -1))
    assert rows.dtype == np.float32
    assert not rows[2].any()


def test_texts_that_can_be_read_only_once_are_fitted_and_transformed(vectorizer):
    np.testing.assert_array_equal(vectorizer.fit_transform(text for text in TEXTS), vectorizer.transform(TEXTS))


@pytest.mark.parametrize(
    "texts",
    [
        np.array(TEXTS, dtype=object),
        np.array(TEXTS)[:, None],
        pd.Series(TEXTS, index=range(10, 15)),
        pd.DataFrame({"text": TEXTS}),
        [text.split() for text in TEXTS],
    ],
    ids=lambda texts: type(texts).__name__,
)
def test_every_kind_of_column_is_read_in_its_order(vectorizer, texts):
    expected = clone(vectorizer).fit(TEXTS).transform(TEXTS)
    np.testing.assert_array_equal(vectorizer.fit(TEXTS).transform(texts), expected)


def test_no_texts_are_no_rows(vectorizer):
    assert vectorizer.fit([]).transform([]).shape == (0, 16)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one string", "X must be one column or list of texts"),
        (["a", None], r"sentences\[1\] must be .*None"),
        (pd.DataFrame({"a": TEXTS, "b": TEXTS}), "are no single column"),
        (np.array([["a b", "c"], ["d", "e"]], dtype=object), "are no single column"),
        ({"text": TEXTS}, r"X must be .* \(dict\)\)"),
        ([{"text": "a"}], r"sentences\[0\] must be .* \(dict\)"),
    ],
)
def test_what_is_no_column_of_texts_is_refused(vectorizer, texts, message):
    with pytest.raises(ConfigError, match=message):
        vectorizer.fit(TEXTS[:1]).transform(texts)


def test_it_must_be_fitted_and_can_be_cloned_and_set(vectorizer):
    with pytest.raises(NotFittedError):
        vectorizer.transform(TEXTS)
    copied = clone(vectorizer.fit(TEXTS)).set_params(layers="top", pool="max")
    assert copied.get_params()["layers"] == "top"
    with pytest.raises(NotFittedError):
        copied.transform(TEXTS)
    with pytest.raises(ConfigError):
        clone(vectorizer).set_params(layers="bottom").fit(TEXTS)
    with pytest.raises(ConfigError, match="pool"):
        clone(vectorizer).set_params(pool=None).fit(TEXTS)


def test_columns_have_names_in_pandas(vectorizer):
    table = vectorizer.set_output(transform="pandas").fit_transform(pd.Series(TEXTS, index=list("abcde")))
    assert list(table.columns[:2]) == ["elmovectorizer0", "elmovectorizer1"]
    assert table.shape == (5, 16) and list(table.index) == list("abcde")
    pd.testing.assert_frame_equal(table, vectorizer.fit(TEXTS).transform(pd.Series(TEXTS, index=list("abcde"))))


def test_a_fitted_pipeline_is_pickled_without_weights_and_predicts_the_same(vectorizer):
    labels = [0, 1, 0, 1, 1]
    pipeline = make_pipeline(vectorizer, LogisticRegression()).fit(TEXTS, labels)
    content = pickle.dumps(pipeline)
    assert len(content) < 5_000
    np.testing.assert_array_equal(pickle.loads(content).predict_proba(TEXTS), pipeline.predict_proba(TEXTS))


def test_other_weights_than_it_was_fitted_with_are_an_error(vectorizer, other_model):
    fitted = vectorizer.fit(TEXTS)
    fitted.model_ = other_model
    with pytest.raises(WeightFileError, match="but this was made with"):
        fitted.transform(TEXTS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_checks_of_scikit_learn_pass(vectorizer):
    """With one column of strings there are few of them; what they leave out is above."""
    checks = list(estimator_checks_generator(vectorizer))
    assert checks
    for estimator, check in checks:
        check(estimator)


def test_the_guide_runs(run_guide):
    run_guide("scikit-learn.md")
