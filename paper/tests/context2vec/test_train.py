"""Training: it learns what stands where, is repeatable, and refuses what can't be learned from."""

from pathlib import Path

import numpy as np
import pytest
import torch

from elmo.errors import TextError
from elmo.static.training.corpus import Corpus
from elmo_paper.context2vec.files import SPECIAL_WORDS, Context2VecModel
from elmo_paper.context2vec.network import Context2VecEncoder
from elmo_paper.context2vec.settings import Context2VecSettings
from elmo_paper.context2vec.train import numbered, train_context2vec

SETTINGS = Context2VecSettings(unit=8, epochs=60, min_count=2, batch_sentences=20, learning_rate=1e-2)


@pytest.fixture
def corpus(tmp_path) -> Corpus:
    """Animals eat and sleep, things fall and break: what stands in a place follows from the sentence."""
    path = tmp_path / "text.txt"
    lines = [f"the {noun} {verb} here ." for noun in ("cat", "dog", "Horse") for verb in ("eats", "sleeps")]
    lines += [f"a {noun} {verb} there" for noun in ("stone", "cup", "plate") for verb in ("falls", "breaks")]
    path.write_text("\n".join(lines * 10) + "\nalone\n", encoding="utf-8")
    return Corpus([path])


def test_it_learns_what_stands_where(corpus, recorded_progress):
    trained = train_context2vec(corpus, SETTINGS, progress=recorded_progress)
    recorded_progress.require_stages(counting_words="bytes", training="tokens")
    assert trained.losses[-1] < 0.5 * trained.losses[0]
    assert (trained.num_sentences, trained.num_tokens) == (120, 60 * 5 + 60 * 4)
    encoder = Context2VecEncoder(Context2VecModel(trained.words, trained.network.sizes, trained.tensors()))
    (context,) = encoder.embed_iter([["the", "zzz", "sleeps", "here", "."]])
    scores = trained.network.targets.weight.detach().numpy() @ context[0, 1]
    best = {trained.words[3 + row] for row in np.argsort(-scores[3:])[:3]}
    assert best == {"cat", "dog", "horse"}


def test_it_is_repeatable(corpus):
    before = torch.get_rng_state()
    once, again = (train_context2vec(corpus, Context2VecSettings(unit=4, epochs=2, min_count=1)) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), before)  # a caller's own random numbers stay what they were
    assert once.losses == again.losses
    assert all(torch.equal(a, b) for a, b in zip(once.network.parameters(), again.network.parameters(), strict=True))


def test_batches_hold_every_sentence_once_and_no_padding(corpus):
    words = (*SPECIAL_WORDS, "the", "cat", "eats", "here", ".")
    text = numbered(corpus, words, longest=128)
    batches = list(text.batches(7, np.random.default_rng(0)))
    assert sum(len(batch) for batch in batches) == 120
    assert max(len(batch) for batch in batches) == 7
    assert {batch.shape[1] for batch in batches} == {4, 5}
    rows = sorted(tuple(row) for batch in batches for row in batch)
    assert rows.count((3, 4, 5, 6, 7)) == 10
    assert rows.count((0, 0, 0, 0)) == 60  # unknown words


def test_words_of_the_text_that_look_like_the_special_ones_are_unknown(tmp_path):
    (tmp_path / "text.txt").write_text("<EOS> the <BOS> <UNK>\n" * 4, encoding="utf-8")
    corpus = Corpus([tmp_path / "text.txt"])
    settings = Context2VecSettings(unit=2, epochs=1, lower_case=False)
    assert train_context2vec(corpus, settings).words == (*SPECIAL_WORDS, "the")


def test_a_text_without_sentences_of_fitting_length_is_refused(tmp_path):
    (tmp_path / "text.txt").write_text("one\n" * 4, encoding="utf-8")
    with pytest.raises(TextError, match="no sentence of 2 to 128 tokens"):
        train_context2vec(Corpus([Path(tmp_path / "text.txt")]), Context2VecSettings(unit=2))
