"""The built-in models in every type of number, with gradients, without, in inference mode and under autocast."""

import numpy as np
import pytest
import torch

from elmo.static.vectors import StaticVectors
from elmo.tasks.coref.documents import Document
from elmo.tasks.coref.model import Resolver
from elmo.tasks.coref.settings import ResolverSettings
from elmo.tasks.ner.data import TaggedSentence
from elmo.tasks.ner.model import Tagger
from elmo.tasks.ner.settings import TaggerSettings
from elmo.tasks.pos.data import TagSentence
from elmo.tasks.pos.model import TokenTagger
from elmo.tasks.pos.settings import TokenTaggerSettings
from elmo.tasks.settings import TokenSettings
from elmo.tasks.snli.data import SentencePair
from elmo.tasks.snli.model import ESIM
from elmo.tasks.snli.settings import EntailmentSettings
from elmo.tasks.squad.data import Answer, Question
from elmo.tasks.squad.model import Reader
from elmo.tasks.squad.settings import ReaderSettings
from elmo.tasks.squad.tokens import tokenized
from elmo.tasks.srl.data import Proposition, RoleSentence
from elmo.tasks.srl.model import RoleLabeler
from elmo.tasks.srl.settings import LabelerSettings
from elmo.tasks.sst.data import LabelledSentence
from elmo.tasks.sst.model import Classifier
from elmo.tasks.sst.settings import ClassifierSettings
from elmo.tasks.tokens.frozen_layers import FrozenLayers
from elmo.tasks.tokens.representation import TokenRepresentation, TokenSources

TYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
MODES = ("gradients", "no_grad", "inference_mode", "autocast")
WORDS = ["Anna", "saw", "her", "dog", "."]
CHARACTERS = list("Anadogsewhr")
DOCUMENT = Document(("nw/a", "0"), (tuple(WORDS), ("It", "barked")), ("A",) * 7, (((0, 0), (2, 2)), ((2, 3), (5, 5))))
MODELS = {
    "ner": (
        lambda tokens: Tagger(
            TaggerSettings(hidden_sizes=(6, 4)), {"labels": ["PER"], "characters": CHARACTERS}, tokens
        ),
        [TaggedSentence(WORDS, [(0, 1, "PER")]), TaggedSentence(["dog"], [])],
    ),
    "pos": (
        lambda tokens: TokenTagger(
            TokenTaggerSettings(hidden_sizes=(6, 4)),
            {"labels": ["NOUN", "PUNCT", "VERB"], "words": WORDS, "characters": CHARACTERS},
            tokens,
        ),
        [TagSentence(WORDS, tags=["NOUN", "VERB", "NOUN", "NOUN", "PUNCT"]), TagSentence(["dog"], tags=["NOUN"])],
    ),
    "sst": (
        lambda tokens: Classifier(ClassifierSettings(hidden_size=4), {"labels": ["bad", "good"]}, tokens),
        [LabelledSentence(WORDS, "good"), LabelledSentence(["dog"], "bad")],
    ),
    "snli": (
        lambda tokens: ESIM(EntailmentSettings(hidden_size=8), {"labels": ["yes", "no"]}, tokens),
        [SentencePair(WORDS, ["Anna", "saw"], "yes"), SentencePair(["dog"], WORDS, "no")],
    ),
    "srl": (
        lambda tokens: RoleLabeler(
            LabelerSettings(num_layers=2, hidden_size=16, indicator_dim=3, finder_size=8),
            {"labels": ["A0", "V"]},
            tokens,
        ),
        [RoleSentence(WORDS, [Proposition((1, 2), [(0, 1, "A0"), (1, 2, "V")])], [(1, 2)])],
    ),
    "coref": (
        lambda tokens: Resolver(
            ResolverSettings(
                hidden_size=4, span_hidden_sizes=(5, 5), character_filters=3, feature_size=3, mention_loss=1.0
            ),
            {"characters": CHARACTERS, "genres": ["nw"]},
            tokens,
        ),
        [DOCUMENT],
    ),
    "squad": (
        lambda tokens: Reader(ReaderSettings(hidden_size=4, character_filters=5), {"characters": CHARACTERS}, tokens),
        [Question("1", tokenized("Who saw her dog?"), tokenized("Anna saw her dog."), (Answer("Anna", (0, 1)),))],
    ),
}


@pytest.fixture(params=MODELS)
def task(request, tiny_bilm):
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 6)).astype(np.float32)
    sources = TokenSources(FrozenLayers(tiny_bilm), {"static": StaticVectors(tuple(WORDS), vectors)})
    tokens = TokenRepresentation(TokenSettings(encoder="elmo", elmo_dropout=0.0, placement="both"), sources)
    torch.manual_seed(0)
    build, examples = MODELS[request.param]
    return build(tokens).eval(), examples


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", TYPES)
def test_the_loss_is_next_to_that_of_double_precision(task, dtype, mode):
    model, examples = task
    with torch.no_grad():
        exact = model.double().loss(examples)
    model.to(dtype)
    lower = torch.float16 if dtype == torch.float16 else torch.bfloat16
    with (
        torch.set_grad_enabled(mode in ("gradients", "autocast")),
        torch.inference_mode(mode == "inference_mode"),
        torch.autocast("cpu", dtype=lower, enabled=mode == "autocast"),
    ):
        found = model.loss(examples)
    rounded = torch.finfo(lower if mode == "autocast" else dtype).eps
    # As in tests/layer: some 64 roundings between the words and the loss.
    torch.testing.assert_close(found.double(), exact, rtol=64 * rounded, atol=64 * rounded)
    if mode in ("gradients", "autocast"):
        found.backward()
        assert all(torch.isfinite(weight.grad).all() for weight in model.parameters() if weight.grad is not None)
