"""The coreference model: every weight learns, and documents of any length are resolved in bounded memory."""

import pytest
import torch
from tests.tasks.small_models import static_of

from elmo.errors import ConfigError
from elmo.tasks.coref.documents import CorefSettings, Document, ResolverSettings
from elmo.tasks.coref.model import Resolver
from elmo.tasks.coref.task import TASK
from elmo.tasks.settings import TokenSettings
from elmo.tasks.tokens.frozen_layers import FrozenLayers
from elmo.tasks.tokens.representation import TokenRepresentation, TokenSources

SMALL = ResolverSettings(hidden_size=4, span_hidden_sizes=(5, 5), character_filters=3, feature_size=3)
DOCUMENT = Document(
    ("nw/a", "0"),
    (("Anna", "saw", "her", "dog", "."), ("It", "barked", "."), ("She", "laughed")),
    ("A",) * 5 + ("B",) * 5,
    (((0, 0), (2, 2), (8, 8)), ((2, 3), (5, 5))),
)


@pytest.fixture
def build(tiny_bilm):
    def build(resolver=SMALL, train_words=(), encoder="none", **tokens):
        settings = TokenSettings(encoder=encoder, **tokens)
        frozen = None if encoder == "none" else FrozenLayers(tiny_bilm)
        torch.manual_seed(0)
        tokens = TokenRepresentation(settings, TokenSources(frozen, static_of(["Anna", "dog"]), train_words))
        return Resolver(resolver, {"characters": list("Anad"), "genres": ["nw", "bn"]}, tokens)

    return build


@torch.no_grad()
def test_the_head_attention_does_not_read_elmo(build):
    model = build(encoder="elmo").eval()
    states = model._states(DOCUMENT)
    assert states.embedded.shape[1] == 6 + 9
    torch.testing.assert_close(states.embedded[:1, :6].norm(dim=1), torch.ones(1))


@torch.no_grad()
@pytest.mark.parametrize("document", [Document(("a", ""), ()), Document(("a", ""), (("Anna",),))])
def test_an_empty_document_and_one_of_one_word_have_no_clusters(build, document):
    assert build().eval().predict([document])[0].clusters == []


@pytest.mark.slow
@torch.no_grad()
@pytest.mark.parametrize("num_sentences", [1, 1000])
def test_a_document_of_20_000_words_is_resolved(build, num_sentences):
    words = ("Anna", "saw", "her", "dog") * (5000 // num_sentences)
    document = Document(("a", ""), (words,) * num_sentences)
    (found,) = build().eval().predict([document])
    assert len(found.kept) == int(0.25 * 20_000)
    mentions = [mention for cluster in found.clusters for mention in cluster]
    assert len(mentions) == len(set(mentions))


def test_without_anything_for_heads_there_is_an_error():
    settings = CorefSettings(tokens=TokenSettings(encoder="elmo"), resolver=ResolverSettings(character_filters=0))
    with pytest.raises(ConfigError, match="describe the heads of spans"):
        TASK.check_settings(settings)


@pytest.mark.parametrize(
    ("name", "genre"),
    [("nw/x/1_0", "nw"), ("GUM_academic_art", "academic"), ("105_persuasion_brat", ""), ("", "")],
)
def test_genres_follow_from_names(name, genre):
    assert ResolverSettings().genre_of(name) == genre


@pytest.mark.parametrize("pattern", ["(", "[a-z]+"])
def test_a_pattern_without_a_group_is_refused(pattern):
    with pytest.raises(ConfigError, match="genre_pattern"):
        ResolverSettings(genre_pattern=pattern)


def test_a_trained_word_that_begins_with_zeros_learns_with_the_others(build):
    settings = ResolverSettings(**{**vars(SMALL), "mention_loss": 1.0})  # all spans have a part in the loss
    model = build(settings, train_static=True, train_words=["Anna", "barked"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for length in (0, 1):  # before the step, and after it
        states = model.eval()._states(DOCUMENT).embedded[:, :6].norm(dim=1)
        torch.testing.assert_close(states[[0, 6]], torch.tensor([1.0, length]))
        optimizer.zero_grad()
        model.loss([DOCUMENT]).backward()
        found = model.tokens.static_embeddings()["static"].trained.grad.norm(dim=1)
        assert found.isfinite().all()
        assert (found[1:] > 0).all()
        optimizer.step()
