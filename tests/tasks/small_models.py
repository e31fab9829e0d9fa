"""Small models of the built-in tasks, and examples for each of them."""

import json
from pathlib import Path

import numpy as np
import torch

from elmo.model.bilm import BiLM
from elmo.static.vectors import StaticVectors
from elmo.tasks.columns import TaggedSentence
from elmo.tasks.coref.documents import Document, ResolverSettings
from elmo.tasks.coref.model import Resolver
from elmo.tasks.ner.data import NerSettings, TaggerSettings
from elmo.tasks.ner.model import Tagger
from elmo.tasks.ner.task import TASK
from elmo.tasks.pos.data import TokenTaggerSettings
from elmo.tasks.pos.model import TokenTagger
from elmo.tasks.saved_model import SavedTaskModel
from elmo.tasks.settings import TokenSettings
from elmo.tasks.snli.data import EntailmentSettings, SentencePair
from elmo.tasks.snli.model import ESIM
from elmo.tasks.squad.data import Answer, Question
from elmo.tasks.squad.model import Reader
from elmo.tasks.squad.tokens import ReaderSettings, tokenized
from elmo.tasks.srl.data import LabelerSettings, Proposition, RoleSentence
from elmo.tasks.srl.model import RoleLabeler
from elmo.tasks.sst.data import ClassifierSettings, LabelledSentence
from elmo.tasks.sst.model import Classifier
from elmo.tasks.task_model import TaskModel
from elmo.tasks.tokens.frozen_layers import FrozenLayers
from elmo.tasks.tokens.representation import TokenRepresentation, TokenSources


def static_of(words) -> dict[str, StaticVectors]:
    vectors = np.random.default_rng(0).normal(size=(len(words), 6)).astype(np.float32)
    return {"static": StaticVectors(tuple(words), vectors)}


WORDS = ("Anna", "saw", "her", "old", "dog", "it", "barked")
STATIC = static_of(WORDS)
VOCABULARY = {"labels": ["A", "B", "V"], "characters": list("abdno"), "words": ["Anna"], "genres": ["nw"]}
SEE, ANNA, BARK = list(WORDS), ["Anna"], ["it", "barked", "unseen"]
DOCUMENT = Document(
    ("nw/a", "0"), (WORDS, ("it", "barked", "."), ("Anna", "saw", "it")), ("A",) * 7 + ("B",) * 6,
    (((0, 0), (2, 2), (10, 10)), ((2, 4), (5, 5))),
)  # fmt: skip


MODELS = {
    "ner": (
        Tagger, TaggerSettings(hidden_sizes=(5,), character_filters=4),
        [TaggedSentence(SEE, [(0, 1, "A"), (2, 5, "B")]), TaggedSentence(ANNA), TaggedSentence(BARK, [(0, 1, "B")])],
    ),
    "pos": (
        TokenTagger, TokenTaggerSettings(hidden_sizes=(5,), character_filters=4),
        [TaggedSentence(SEE, tags=list("ABVABVA")), TaggedSentence(ANNA, tags=["A"]),
         TaggedSentence(BARK, tags=list("BVB"))],
    ),
    "sst": (
        Classifier, ClassifierSettings(hidden_size=4),
        [LabelledSentence(SEE, "A"), LabelledSentence(ANNA, "B"), LabelledSentence(BARK, "V")],
    ),
    "snli": (
        ESIM, EntailmentSettings(hidden_size=8),
        [SentencePair(SEE, SEE, "A"), SentencePair(ANNA, SEE, "B"), SentencePair(BARK, SEE, "V")],
    ),
    "srl": (
        RoleLabeler, LabelerSettings(num_layers=2, hidden_size=16, indicator_dim=3),
        [RoleSentence(SEE, [Proposition((1, 2), [(0, 1, "A"), (1, 2, "V")])], [(1, 2)]),
         RoleSentence(ANNA, predicates=[]),
         RoleSentence(BARK, [Proposition((1, 2), [(1, 2, "V")]), Proposition((2, 3), [(0, 1, "B")])], [(1, 2)])],
    ),
    "squad": (
        Reader, ReaderSettings(hidden_size=4, character_filters=5),
        [Question("1", tokenized("who barked ?"), tokenized("Anna saw her old dog ."), (Answer("dog", (4, 5)),)),
         Question("2", tokenized("who ?"), tokenized("it barked"), (Answer("it", (0, 1)),))],
    ),
    "coref": (
        Resolver, ResolverSettings(
            hidden_size=4, span_hidden_sizes=(5, 5), character_filters=3, feature_size=3, mention_loss=1.0
        ),
        [DOCUMENT, DOCUMENT.window(1, 2)],
    ),
}  # fmt: skip
"""Of each task: its model's class, settings of that, and labelled examples."""


def small_tokens(bilm: BiLM | None = None, static=None, **settings) -> TokenRepresentation:
    """With ELMo if there is a biLM."""
    encoder = "none" if bilm is None else "elmo"
    sources = TokenSources(None if bilm is None else FrozenLayers(bilm), static)
    return TokenRepresentation(TokenSettings(encoder=encoder, elmo_dropout=0.0, **settings), sources)


def small_model(task: str, tokens: TokenRepresentation, seed: int = 0) -> TaskModel:
    """With random weights, in evaluation."""
    kind, settings, _ = MODELS[task]
    torch.manual_seed(seed)
    return kind(settings, VOCABULARY, tokens).eval()


def rounded(predictions):
    """To four digits, so that sums in another order give the same."""
    return json.loads(json.dumps(predictions, default=vars), parse_float=lambda digits: round(float(digits), 4))


def saved_tagger(sentences, bilm_folder: Path | None = None, static=None, seed=0, **tokens):
    """A tagger of entities as if it had been trained."""
    torch.manual_seed(seed)
    encoder = "none" if bilm_folder is None else "elmo"
    settings = NerSettings(
        tokens=TokenSettings(encoder=encoder, model=str(bilm_folder or ""), **tokens),
        tagger=TaggerSettings(hidden_sizes=(5,), character_filters=4),
    )
    vocabulary = TASK.vocabulary(sentences, settings)
    frozen = None if bilm_folder is None else FrozenLayers(BiLM.from_pretrained(bilm_folder))
    sources = TokenSources(frozen, static, ["saw", "new"])
    model = TASK.build(settings, vocabulary, TokenRepresentation(settings.tokens, sources))
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            parameter.data.mul_(1.1) if "bilm" in name else torch.nn.init.normal_(parameter)
    return SavedTaskModel(TASK, settings, vocabulary, model.eval(), {"seed": 1})
