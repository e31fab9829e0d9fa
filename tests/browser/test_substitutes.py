"""elmo.js expects the words in a gap that Python expects."""

import pytest
from tests.browser.in_node import PACKAGE, Refused, random_checkpoint, sentences_of
from tests.browser.test_vectors import TINY, VARIANTS

from elmo.lm.language_model import EngineLanguageModel
from elmo.lm.substitutes import substitutes
from elmo.weights import formats
from elmo.weights.native.write import write

SUBSTITUTES = """
const elmo = await load(given.folder);
const found = [];
for (const [tokens, place, count] of given.gaps) found.push(await elmo.substitutes(tokens, place, count));
return found;
"""


def require_equal(javascript, folder, gaps):
    model = EngineLanguageModel(formats.read(folder))
    for found, gap in zip(javascript(SUBSTITUTES, folder=str(folder), gaps=gaps), gaps, strict=True):
        expected = substitutes(model, *gap)
        if len(expected) == 1:  # here both sides are the one that the model reads
            expected["both"] = next(iter(expected.values()))
        assert set(found) == set(expected)
        for direction, one in expected.items():
            words, probabilities = zip(*found[direction]["best"], strict=True)
            assert [pytest.approx(value, abs=5e-5) for _, value in one.best] == list(probabilities), (gap, direction)
            gaps_between = [a - b for (_, a), (_, b) in zip(one.best, one.best[1:], strict=False)]
            if min(gaps_between, default=1) > 1e-5:  # else the order is that of roundings
                assert list(words) == [word for word, _ in one.best]
            assert found[direction]["probability"] == pytest.approx(one.probability, abs=5e-5)
            if one.rank is None or one.rank < 20:
                assert found[direction]["rank"] == one.rank


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_bundled_models_expect_the_words_of_python(language, javascript):
    sentences = [sentence for sentence in sentences_of(language, 12) if sentence]
    gaps = [(sentence, place, 8) for sentence in sentences for place in {0, len(sentence) // 2, len(sentence) - 1}]
    gaps.append((["<UNK>", "zzyzx", "</S>", "."], 0, 3))
    require_equal(javascript, PACKAGE / "bundled" / f"small-{language}", gaps)


@pytest.mark.parametrize("name", ["published switches", "forward alone", "backward alone"])
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_other_models_do_too(name, dtype, javascript, tmp_path):
    write(random_checkpoint(VARIANTS[name], words=70), tmp_path / "model", dtype=dtype)
    require_equal(javascript, tmp_path / "model", [(["w1", "w2", "other"], place, 100) for place in range(3)])


def test_what_can_not_be_asked_for_is_refused(javascript, tmp_path):
    write(random_checkpoint(TINY), tmp_path / "model")
    with pytest.raises(Refused, match="has no softmax.safetensors, so it can't predict words. Published models"):
        javascript(SUBSTITUTES, folder=str(tmp_path / "model"), gaps=[(["a"], 0, 1)])
    with pytest.raises(Refused, match=r"place is 1, but the sentence has 1 token. Use a place from 0 to 0."):
        javascript(SUBSTITUTES, folder=str(tmp_path / "model"), gaps=[(["a"], 1, 1)])
    with pytest.raises(Refused, match=r"count must be a whole number of at least 1 \(got 0\)"):
        javascript(SUBSTITUTES, folder=str(tmp_path / "model"), gaps=[(["a"], 0, 0)])


def test_calls_while_the_softmax_is_missed_are_all_told_so_and_a_later_one_finds_it(javascript, tmp_path):
    write(random_checkpoint(TINY, words=70), tmp_path / "model")
    code = """
    const { readFileSync, readdirSync } = await import("node:fs");
    const read = (name) => [name, readFileSync(`${given.folder}/${name}`)];
    const { "softmax.safetensors": softmax, ...others } = Object.fromEntries(readdirSync(given.folder).map(read));
    const elmo = await load(undefined, { files: others });
    const told = [];
    for (let i = 0; i < 60; i++, await null) told.push(elmo.substitutes(["w1"], 0, 1).catch((error) => error.name));
    const before = [...new Set(await Promise.all(told))];
    others["softmax.safetensors"] = softmax;
    return { before, after: (await elmo.substitutes(["w1"], 0, 1)).both.best.length };
    """
    assert javascript(code, folder=str(tmp_path / "model")) == {"before": ["ElmoError"], "after": 1}
