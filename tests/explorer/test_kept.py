"""What is kept: indexes in the cache, figures beside their weights, mixes of runs, pages without a server."""

import csv
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.explorer import answers

from elmo.cli.main import main
from elmo.errors import ConfigError, OutputError, TextError
from elmo.explorer.explored import Explored, learned_mixes
from elmo.explorer.texts import SOURCES_FILE, ExploredText, bundled_examples, bundled_text, own_example
from elmo.text.tokenizer import marked
from elmo.weights.native.write import write


def test_an_index_is_made_once_and_again_if_it_is_damaged(explored, monkeypatch):
    embedder, text = explored.model.embedder, explored.text
    folder = text.index(embedder).folder
    monkeypatch.setattr("elmo.explorer.texts.build_index", lambda *_, **__: pytest.fail("it is there already"))
    assert text.index(embedder).folder == folder
    monkeypatch.undo()
    (folder / "words.txt").write_text("other\n")
    assert text.index(embedder).words[0] == "the"
    layer = folder / "layer-1.npy"
    written = layer.read_bytes()
    layer.write_bytes(written[:-2] + bytes(2))
    text.index(embedder)
    assert layer.read_bytes() == written


def test_another_text_has_another_index(explored, tmp_path):
    (tmp_path / "other.txt").write_text("another text\n")
    other = ExploredText(tmp_path / "other.txt", "other.txt")
    assert other.index(explored.model.embedder).folder != explored.index().folder


def test_a_changed_tokenizer_has_another_index(explored, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    text = ExploredText(explored.text.path, "text.txt", "own_words:words")
    keys = set()
    for body in ("text.split()", "text.lower().split()", "text.lower().split()"):
        (tmp_path / "own_words.py").write_text(f"def words(text):\n    return {body}\n")
        keys.add(text._key(explored.model.embedder))
    assert len(keys) == 2


def test_every_model_has_its_index_before_the_page_is_served(explored, tiny_checkpoint, tmp_path, monkeypatch):
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "cache"))
    halved = {name: tensor / 2 for name, tensor in tiny_checkpoint.tensors.items()}
    for name, tensors in (("one", tiny_checkpoint.tensors), ("two", halved)):
        write(replace(tiny_checkpoint, tensors=tensors), tmp_path / name)
    indexes = []

    def run(*_, **__):
        indexes.extend((tmp_path / "cache" / "explorer").glob("*/words.txt"))

    monkeypatch.setattr("elmo.serve.listening.run", run)
    models = ["--model", str(tmp_path / "one"), str(tmp_path / "two"), "--text", str(explored.text.path)]
    assert main(["explore", *models, "--port", "0", "--no-browser", "--quiet"]) == 0
    assert len(indexes) == 2


def test_a_text_that_is_not_there_is_named(explored, tmp_path):
    with pytest.raises((TextError, OSError), match=r"nowhere\.txt"):
        ExploredText(tmp_path / "nowhere.txt", "nowhere.txt").index(explored.model.embedder)


def test_figures_of_other_weights_are_not_shown(explored, tiny_checkpoint, tmp_path):
    write(tiny_checkpoint, tmp_path / "model")
    text = explored.text
    own = Explored.load(str(tmp_path / "model"), text=text).model.embedder.model_hash
    for content, is_shown in (
        (json.dumps({"model_hash": own}), True),
        ('{"model_hash": "a"}', False),
        ("[]", False),
        ("", False),
    ):
        (tmp_path / "model" / "quality.json").write_text(content)
        assert (Explored.load(str(tmp_path / "model"), text=text).quality is not None) is is_shown, content


def test_mixes_are_read_from_a_run(tmp_path):
    (tmp_path / "run" / "seed-3").mkdir(parents=True)
    outcome = {"epochs": 2, "mix_weights": [{"weights": [0.25, 0.5, 0.25], "gamma": 1.1}]}
    (tmp_path / "run" / "seed-3" / "scores.json").write_text(json.dumps(outcome))
    assert [(mix.name, mix.weights) for mix in learned_mixes(tmp_path / "run")] == [("run, seed-3", [0.25, 0.5, 0.25])]
    with pytest.raises(ConfigError, match="has no learned mixes"):
        learned_mixes(tmp_path)
    (tmp_path / "run" / "seed-3" / "scores.json").write_text('{"mix_weights": 3}')
    with pytest.raises(ConfigError, match=r"scores\.json: is not the outcome"):
        learned_mixes(tmp_path / "run")


def test_a_text_of_ones_own_opens_on_two_uses_of_one_of_its_words(explored):
    example = own_example(explored.index())
    words = {tokens[place] for tokens, place in zip(example.sentences, example.places, strict=True)}
    assert len(words) == 1
    assert explored.info().examples == [example]
    assert all(" ".join(tokens) in explored.text.path.read_text() for tokens in example.sentences)


def test_a_text_opens_on_sentences_that_the_page_shows(explored, monkeypatch):
    most = min(map(len, explored.index().sentences))
    monkeypatch.setattr("elmo.explorer.texts.MOST_TOKENS", most)
    example = own_example(explored.index())
    assert example is None or all(len(tokens) <= most for tokens in example.sentences)
    monkeypatch.setattr("elmo.explorer.texts.MOST_TOKENS", most - 1)
    assert own_example(explored.index()) is None


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_bundled_sentence_has_a_source_and_an_open_licence(language):
    text = bundled_text(language)
    lines = text.path.read_text(encoding="utf-8").splitlines()
    with SOURCES_FILE.open(encoding="utf-8", newline="") as file:
        rows = [
            row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if row["file"] == text.path.name
        ]
    numbers = [int(number) for row in rows for number in row["lines"].split()]
    assert sorted(numbers) == list(range(1, len(lines) + 1))
    assert all(row["source"] not in ("", "unknown") for row in rows)
    assert all(re.search("public domain|CC0|CC BY", row["licence"]) for row in rows)
    assert not any(re.search(r"NC\b|-ND", row["licence"]) for row in rows)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_words_of_the_examples_are_in_the_bundled_text(language):
    words = bundled_text(language).path.read_text(encoding="utf-8").split()
    for example in bundled_examples(language):
        for tokens, place in zip(example.sentences, example.places, strict=True):
            assert words.count(tokens[place]) >= 8, tokens


def means_did(use: SimpleNamespace) -> bool:
    """한 is "did" after these words of the bundled text, and "one" everywhere else."""
    return use.position > 0 and use.tokens[use.position - 1] in {"연기를", "역할을", "배경으로", "라고"}


def test_in_the_first_korean_example_every_use_that_is_shown_has_the_meaning_of_its_sentence():
    explored = Explored.load("small-ko")
    example = bundled_examples("ko")[0]
    for number, is_done in enumerate((False, True)):
        shown = answers.neighbors(explored, (example.sentences[number], example.places[number]), 6, None).layers
        uses = [use for layer in shown[1:] for use in layer.same[:3]]
        assert len(uses) == 6
        assert set(map(means_did, uses)) == {is_done}


ONE = """숲에서 [한] 사람을 만났다 .
책상 위에 [한] 권의 책이 있다 .
우리는 [한] 가족이다 .
그는 [한] 마리의 개를 길렀다 .
물을 [한] 잔 마셨다 .
[한] 아이가 울고 있었다 .
마을에는 [한] 노인이 살았다 .
나는 [한] 달 동안 쉬었다 .
그 집에는 [한] 그루의 나무가 있었다 .
[한] 나라의 왕이 죽었다 ."""
DID = """공부를 [한] 학생이 시험을 보았다 .
약속을 [한] 사람이 오지 않았다 .
여행을 [한] 친구가 사진을 보냈다 .
전쟁을 [한] 나라는 가난해졌다 .
그가 [한] 일은 옳았다 .
노래를 [한] 가수가 상을 받았다 .
거짓말을 [한] 아이가 울었다 .
어제 [한] 말을 기억한다 .
결혼을 [한] 두 사람은 행복했다 .
요리를 [한] 음식이 맛있다 ."""


@pytest.mark.slow
@pytest.mark.parametrize(("sentences", "is_done", "right"), [(ONE, False, [10, 10]), (DID, True, [6, 6])])
def test_how_often_the_nearest_han_has_the_same_meaning(sentences, is_done, right):
    """The figures of docs/explorer.md and of the example's note; the sentences were written before measuring."""
    explored = Explored.load("small-ko")
    found = [answers.neighbors(explored, marked(sentence), 6, None).layers for sentence in sentences.splitlines()]
    nearest = [[layers[layer].same[0] for layers in found] for layer in (1, 2)]
    assert [sum(means_did(use) is is_done for use in uses) for uses in nearest] == right


@pytest.mark.parametrize("language", ["en", "ko"])
def test_an_example_that_fails_says_why_in_both_languages(language):
    failing = [example for example in bundled_examples(language) if not example.works]
    assert failing
    assert all(set(example.why) == {"en", "ko"} for example in failing)


@pytest.mark.parametrize("model", ["small-en", "small-ko"])
def test_the_bundled_figures_belong_to_the_bundled_weights(model):
    first = Explored.load(model).quality["gap"]["first"]
    assert first["both"] > max(first["forward"], first["backward"])


def test_a_cache_that_can_not_be_made_is_told_with_its_variable(explored, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "file"))
    with pytest.raises(OutputError, match=r"file/explorer: can't be used: .* Set ELMO_CACHE to a folder"):
        explored.text.index(explored.model.embedder)
