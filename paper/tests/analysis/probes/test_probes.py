"""Linear probes: treebanks, controls, the probe against a plain gradient descent, the table."""

from dataclasses import replace

import numpy as np
import pytest

from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError, TextError
from elmo.static.vectors import StaticVectors
from elmo.tasks.columns import TaggedSentence
from elmo_paper.analysis.encoders import StaticEncoder
from elmo_paper.analysis.probes.controls import ambiguous, control_tags, majority_tags, unseen
from elmo_paper.analysis.probes.experiment import MAJORITY, Measures, Treebanks, probe_table
from elmo_paper.analysis.probes.linear_probe import Split, fit

pytest.importorskip("scipy")


def tagged(words: str, tags: str) -> TaggedSentence:
    return TaggedSentence(words.split(), tags=tags.split())


TRAIN = [tagged("a dog runs", "D N V"), tagged("a runs x", "D N N")]
TEST = [tagged("a runs new", "D V N")]


def conllu(sentences: list[TaggedSentence]) -> str:
    lines = []
    for one in sentences:
        words = zip(one.tokens, one.tags, strict=True)
        lines += [f"{n}\t{word}\t_\t{tag}\tX{tag}" + "\t_" * 5 for n, (word, tag) in enumerate(words, 1)] + [""]
    return "\n".join(lines) + "\n"


@pytest.fixture
def files(tmp_path) -> Treebanks:
    random = np.random.default_rng(0)
    words = [(f"n{n}", "N") for n in range(20)] + [(f"v{n}", "V") for n in range(20)]
    paths = []
    for name, count in (("train", 80), ("dev", 20), ("test", 30)):
        chosen = [[words[place] for place in random.integers(len(words), size=4)] for _ in range(count)]
        text = conllu([tagged(*map(" ".join, zip(*one, strict=True))) for one in chosen])
        (tmp_path / f"{name}.conllu").write_text(text)
        paths.append(tmp_path / f"{name}.conllu")
    return Treebanks(*paths)


def test_answers_without_vectors_and_kinds_of_words():
    assert majority_tags(TRAIN, TEST) == ["D", "V", "N"]  # "runs" is V and N once each: the first one of equals
    assert unseen(TRAIN, TEST).tolist() == [False, False, True]
    assert ambiguous(TRAIN, TEST).tolist() == [False, True, False]


def test_a_control_task_gives_each_word_one_tag_of_the_training_tags():
    train, test = control_tags([TRAIN, TEST], seed=1)
    given = {}
    for one in [*train, *test]:
        for word, tag in zip(one.tokens, one.tags, strict=True):
            assert given.setdefault(word, tag) == tag and tag in {"D", "N", "V"}
    assert control_tags([TRAIN, TEST], seed=1) == [train, test]
    assert any(control_tags([TRAIN, TEST], seed=seed) != [train, test] for seed in range(2, 9))


def test_a_probe_is_a_regression_on_standardized_vectors():
    random = np.random.default_rng(2)
    vectors = (random.normal(size=(300, 5)) * [1, 2, 3, 1, 1] + [5, 0, 0, 0, 0]).astype(np.float32)
    tags = (vectors @ random.normal(size=(5, 3)) + random.normal(size=(300, 3))).argmax(axis=1)
    train, dev, test = (Split(vectors[part], tags[part]) for part in np.split(np.arange(300), [200, 250]))
    scaler, linear_model = (pytest.importorskip(f"sklearn.{name}") for name in ("preprocessing", "linear_model"))
    scaled = scaler.StandardScaler().fit(train.vectors)
    # scikit-learn's C is of the sum over tokens, and its penalty has a factor of 1/2.
    reference = linear_model.LogisticRegression(C=1 / (2 * 1e-2 * 200), tol=1e-7)
    expected = reference.fit(scaled.transform(train.vectors), train.tags).predict(scaled.transform(test.vectors))
    assert (fit(train, dev, [1e-2]).predict(test.vectors) == expected).mean() >= 0.98


def test_one_tag_is_nothing_to_probe():
    split = Split(np.ones((3, 2), dtype=np.float32), np.zeros(3, dtype=np.int64))
    with pytest.raises(ConfigError, match="the same tag"):
        fit(split, split)


def test_the_table_has_baseline_layers_controls_and_intervals(files, recorded_progress):
    words = [*(f"n{n}" for n in range(20)), *(f"v{n}" for n in range(20))]
    vectors = np.random.default_rng(1).normal(size=(40, 3)).astype(np.float32)
    vectors[:20, 0] += 4  # nouns can be told from verbs
    encoders = {"static": StaticEncoder(StaticVectors(tuple(words), vectors))}
    found = probe_table(files, encoders, column="upos", progress=recorded_progress)
    recorded_progress.require({"static: embedding": "sentences", "static: probing": "layers"})
    majority, static = found.rows
    assert (majority.encoder, majority.layer, majority.accuracy, majority.control) == ("", MAJORITY, 100, None)
    assert (static.encoder, static.layer) == ("static", "")
    assert static.accuracy > 90 and static.interval[0] <= static.accuracy <= static.interval[1]
    assert static.selectivity == static.accuracy - static.control and static.control < 90
    assert static.code is not None and 1 < static.code.compression < 40
    assert found.tokens == (320, 80, 120) and found.num_tags == 2
    record = found.record()["rows"][1]
    assert record["compression"] == static.code.compression and record["code"]["bits"] == static.code.bits


def test_what_is_not_asked_for_or_not_there_is_not_measured(files):
    static = StaticEncoder(StaticVectors(("n1", "v1"), np.eye(2, dtype=np.float32)))
    measures = Measures(control=False, code=False)
    rows = probe_table(files, {"static": static}, column="upos", measures=measures).rows
    assert (rows[1].control, rows[1].selectivity, rows[1].code) == (None, None, None)
    assert [(row.unseen, row.ambiguous) for row in rows] == [(None, None)] * 2  # of the words that the test file lacks


def test_one_test_sentence_says_nothing_of_others_and_equal_random_tags_nothing_of_a_layer(files, monkeypatch):
    monkeypatch.setattr("elmo_paper.analysis.probes.experiment.control_tags", lambda splits, _: [
        [replace(one, tags=("NOUN",) * len(one.tokens)) for one in split] for split in splits
    ])  # fmt: skip
    one = replace(files, test=files.test.with_name("one.conllu"))
    one.test.write_text(files.test.read_text().partition("\n\n")[0] + "\n\n")
    static = StaticEncoder(StaticVectors(("n1", "v1"), np.eye(2, dtype=np.float32)))
    majority, row = probe_table(one, {"static": static}, column="upos", measures=Measures(code=False)).rows
    assert majority.interval == row.interval == (0, 100) and row.control is None


def test_static_vectors_of_none_of_the_words_are_refused(files):
    static = StaticEncoder(StaticVectors(("elsewhere",), np.eye(1, dtype=np.float32)))
    with pytest.raises(TextError, match="the static vectors: has none of the 40 distinct words of the text"):
        probe_table(files, {"static": static}, column="upos")


def test_a_layer_is_compared_with_the_layer_below(files, tiny_bilm):
    rows = probe_table(
        files, {"biLM": Embedder(tiny_bilm)}, column="upos", measures=Measures(control=False, code=False)
    ).rows
    assert [row.over_layer_below is None for row in rows] == [True, True, False, False]
    difference, low, high = rows[3].over_layer_below
    assert difference == pytest.approx(rows[3].accuracy - rows[2].accuracy) and low <= difference <= high
