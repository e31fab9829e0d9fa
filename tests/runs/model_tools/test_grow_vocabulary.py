"""A model gets another vocabulary."""

import numpy as np
import pytest

from elmo.corpus.prepare import prepare
from elmo.corpus.settings import CorpusSettings
from elmo.corpus.shards import TrainingData
from elmo.lm.language_model import EngineLanguageModel
from elmo.lm.perplexity import evaluate
from elmo.text.vocabulary import BEGINNING_MARK, SPECIAL_WORDS
from elmo.weights import formats
from elmo.weights.native.write import write


@pytest.fixture
def data(tmp_path):
    """Lists "a", "학교" and the beginning "학교", which stand for 4, 3 and 2 of 10 tokens; "c" is unknown."""
    text = tmp_path / "text.txt"
    text.write_text("a a a a 학교 학교 학교 학교에 학교는 c\n", encoding="utf-8")
    prepare([text], tmp_path / "data", CorpusSettings(vocab_size=6, num_beginnings=1))
    return TrainingData.open(tmp_path / "data")


def test_new_entries_share_what_unknown_had(script, tmp_path, old, data, capsys):
    write(old, tmp_path / "old")
    assert script.main([str(tmp_path / "old"), str(data.folder), str(tmp_path / "new")]) == 0
    new = formats.read(tmp_path / "new")
    assert new.vocabulary == [*SPECIAL_WORDS, "a", "학교", "학교" + BEGINNING_MARK]
    for row in (0, 1, 3):
        assert np.array_equal(new.softmax["weight"][row], old.softmax["weight"][row])
        assert new.softmax["bias"][row] == old.softmax["bias"][row]
    for row, share in ((2, 1 / 6), (4, 3 / 6), (5, 2 / 6)):
        assert np.array_equal(new.softmax["weight"][row], old.softmax["weight"][2])
        assert new.softmax["bias"][row] == pytest.approx(old.softmax["bias"][2] + np.log(share))
    sentences = [["a", "a"], ["a"]]
    before, after = (evaluate(EngineLanguageModel(model), sentences) for model in (old, new))
    # "b" is gone, so that its chance falls to all others: what stays in proportion is the rest.
    assert after.of("mean") < before.of("mean")


def test_a_model_without_a_softmax_is_refused(script, tmp_path, tiny_bilm, data, capsys):
    write(tiny_bilm.to_checkpoint(), tmp_path / "old")
    assert script.main([str(tmp_path / "old"), str(data.folder), str(tmp_path / "new")]) == 2
    assert "no plain softmax" in capsys.readouterr().err
