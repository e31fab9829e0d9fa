"""ELMoTokenEmbeddings in flair's own models."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("flair", exc_type=ImportError)

import flair  # noqa: E402
import torch  # noqa: E402
from flair.data import Corpus, Sentence  # noqa: E402
from flair.datasets import FlairDatapointDataset  # noqa: E402
from flair.embeddings import StackedEmbeddings  # noqa: E402
from flair.embeddings.base import load_embeddings  # noqa: E402
from flair.models import SequenceTagger  # noqa: E402
from flair.trainers import ModelTrainer  # noqa: E402

from elmo import Embedder  # noqa: E402
from elmo.errors import WeightFileError  # noqa: E402
from elmo.integrations.flair import ELMoTokenEmbeddings  # noqa: E402

TEXTS = ["Anna sees the dog in Rome .", "Yes", "밥을 먹었다 ."]


def sentences() -> list[Sentence]:
    return [Sentence(text.split()) for text in TEXTS]


def vectors(sentence: Sentence) -> np.ndarray:
    return np.stack([token.embedding.cpu().numpy() for token in sentence])


@pytest.fixture(autouse=True)
def on_the_processor(monkeypatch):
    monkeypatch.setattr(flair, "device", torch.device("cpu"))


@pytest.mark.parametrize("layers", ["average", "top", 0, [0.5, 0.25, 0.25], "all"])
def test_vectors_are_those_of_the_embedder_bit_for_bit(tiny_model, layers):
    embeddings = ELMoTokenEmbeddings(tiny_model, layers=layers)
    found = sentences()
    embeddings.embed(found)
    embedder = Embedder.from_pretrained(tiny_model)
    for sentence, text in zip(found, TEXTS, strict=True):
        (expected,) = embedder.embed([text.split()], layers)
        if layers == "all":
            expected = np.concatenate(list(expected), axis=1)
        np.testing.assert_array_equal(vectors(sentence), expected)
    assert embeddings.embedding_length == expected.shape[1]


def test_flairs_own_tokens_are_used(tiny_model):
    sentence = Sentence("The bank, in Rome.")
    ELMoTokenEmbeddings(tiny_model).embed(sentence)
    (expected,) = Embedder.from_pretrained(tiny_model).embed([[token.text for token in sentence]], "average")
    np.testing.assert_array_equal(vectors(sentence), expected)
    assert len(sentence) == 6


def test_two_stand_side_by_side(tiny_model):
    different: list[dict[str, Any]] = [{}, {"layers": "top"}, {"plain_quotes": False}]
    stacked = StackedEmbeddings([ELMoTokenEmbeddings(tiny_model, **one) for one in different])
    sentence = sentences()[0]
    stacked.embed(sentence)
    assert sentence[0].embedding.shape == (48,)
    assert stacked.embedding_length == 48


def test_parameters_are_names_and_give_the_same_vectors(tiny_model, other_model):
    embeddings = ELMoTokenEmbeddings(tiny_model, layers="top")
    stored = embeddings.save_embeddings()
    with pytest.raises(WeightFileError, match="but this was made with"):
        load_embeddings(stored | {"model": other_model})
    again = load_embeddings(stored)
    one, two = sentences(), sentences()
    embeddings.embed(one)
    again.embed(two)
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(vectors(first), vectors(second))
    assert list(embeddings.parameters()) == []


def corpus() -> Corpus:
    places = {"Rome": "LOC", "Anna": "PER"}
    data = []
    for text in ("Anna sees Rome .", "The dog sees Anna .", "In Rome a dog", "Rome ."):
        sentence = Sentence(text.split())
        for token in sentence:
            token.set_label("tag", places.get(token.text, "O"))
        data.append(sentence)
    return Corpus(*(FlairDatapointDataset(data) for _ in range(3)), name="tiny")


@pytest.mark.filterwarnings("ignore:.*torch.cuda.amp:FutureWarning")
def test_a_tagger_learns_is_saved_without_the_bilm_and_predicts_the_same(tiny_model, tmp_path):
    flair.set_seed(1)
    texts = corpus()
    tagger = SequenceTagger(
        embeddings=ELMoTokenEmbeddings(tiny_model, layers="all"),
        tag_dictionary=texts.make_label_dictionary("tag", add_unk=False),
        tag_type="tag",
        hidden_size=8,
        use_crf=True,
    )
    ModelTrainer(tagger, texts).train(
        tmp_path / "run",
        learning_rate=0.1,
        mini_batch_size=2,
        max_epochs=3,
        embeddings_storage_mode="cpu",
        shuffle=False,
    )
    saved = tmp_path / "run" / "final-model.pt"
    again = SequenceTagger.load(saved)
    one, two = sentences()[0], sentences()[0]
    tagger.predict(one)
    again.predict(two)
    assert [token.get_label("tag").value for token in one] == [token.get_label("tag").value for token in two]
    kept = torch.load(saved, weights_only=False)["state_dict"]
    assert not [name for name in kept if "lstm.layers" in name or "token_encoder" in name]


def test_the_guide_runs(run_guide):
    run_guide("flair.md")
