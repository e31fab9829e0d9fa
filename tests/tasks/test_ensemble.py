"""An ensemble of every task: of equal models it is one of them; of different ones, what is averaged by hand."""

import json
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise, product

import pytest
import torch
from tests.tasks.small_models import (
    ANNA,
    BARK,
    DOCUMENT,
    MODELS,
    SEE,
    STATIC,
    VOCABULARY,
    rounded,
    saved_tagger,
    small_model,
    small_tokens,
)

from elmo.cli.main import main
from elmo.errors import ConfigError
from elmo.tasks.coref.model import Resolver, rank
from elmo.tasks.coref.spans import clusters_of
from elmo.tasks.saved_model import Ensemble, load_ensemble, save
from elmo.tasks.srl.data import Proposition, RoleSentence
from elmo.tasks.srl.model import Instances
from elmo.tasks.sst.data import ClassifierSettings
from elmo.tasks.sst.model import Classifier
from elmo.tasks.tags import spans_of
from elmo.tasks.task_model import TaskModel
from elmo.tasks.train.apply import evaluate

LABELS = VOCABULARY["labels"]
# Here the predicates are still to be found.
EXAMPLES = {name: examples for name, (*_, examples) in MODELS.items()} | {
    "srl": [RoleSentence(text) for text in (SEE, ANNA, BARK)]
}


def model_of(task: str, seed: int) -> TaskModel:
    model = small_model(task, small_tokens(static=STATIC), seed)
    for parameter in model.parameters():  # small random weights would decide nothing
        if parameter.requires_grad:
            torch.nn.init.normal_(parameter, std=0.5)
    return model


@pytest.fixture(params=MODELS)
def task(request) -> str:
    return request.param


@torch.no_grad()
def test_of_equal_models_it_is_one_of_them(task):
    examples, model = EXAMPLES[task], model_of(task, 1)
    alone = model.predict(examples)
    assert alone == Ensemble([model]).predict(examples)
    together = Ensemble([model, deepcopy(model), deepcopy(model)]).predict(examples)
    assert rounded(alone) == rounded(together)


@torch.no_grad()
def test_the_order_of_the_models_means_nothing_and_each_of_them_counts(task):
    examples = EXAMPLES[task]
    models = [model_of(task, seed) for seed in (1, 2, 3)]
    assert rounded(Ensemble(models).predict(examples)) == rounded(Ensemble(models[::-1]).predict(examples))
    found = [model.predict(examples) for model in models]
    assert found[0] != found[1], "the models agree, so this shows nothing"


@torch.no_grad()
@pytest.mark.parametrize("task", ["sst", "snli"])
def test_labels_have_the_mean_of_the_probabilities(task):
    examples, models = EXAMPLES[task], [model_of(task, seed) for seed in (1, 2)]
    single = [model.predict(examples) for model in models]
    for place, found in enumerate(Ensemble(models).predict(examples)):
        for label in LABELS:
            mean = sum(own[place]["probabilities"][label] for own in single) / 2
            assert found["probabilities"][label] == pytest.approx(mean, abs=1e-6)
        assert found["label"] == max(found["probabilities"], key=found["probabilities"].get)


@torch.no_grad()
def test_each_tokens_tag_has_the_highest_mean_probability():
    examples, models = EXAMPLES["pos"], [model_of("pos", seed) for seed in (1, 2)]
    mean = sum(model(examples).softmax(dim=2) for model in models) / 2
    for row, example, found in zip(mean, examples, Ensemble(models).predict(examples), strict=True):
        best = [max(zip(values.tolist(), LABELS, strict=True))[1] for values in row[: len(example.tokens)]]
        assert found.tags == best


@torch.no_grad()
def test_tags_are_the_best_sequence_of_the_mean_scores():
    examples, models = EXAMPLES["ner"], [model_of("ner", seed) for seed in (1, 2)]
    found = Ensemble(models).predict([examples[2]])
    emissions = sum(model([examples[2]]).emissions[0] for model in models) / 2
    moves = sum(model.crf.transitions for model in models) / 2
    crf, best = models[0].crf, (-torch.inf, ())
    for tags in product(range(len(models[0].tags)), repeat=3):
        if crf.begins[tags[0]] and crf.ends[tags[-1]] and all(crf.allowed[pair] for pair in pairwise(tags)):
            score = sum(emissions[at, tag] for at, tag in enumerate(tags)) + sum(moves[pair] for pair in pairwise(tags))
            best = max(best, (float(score), tags))
    assert found == [spans_of([models[0].tags[tag] for tag in best[1]])]


@torch.no_grad()
def test_predicates_and_roles_follow_the_mean_probabilities():
    examples, models = EXAMPLES["srl"], [model_of("srl", seed) for seed in (1, 2)]
    found = Ensemble(models).predict(examples)
    vectors = [model.tokens([example.tokens for example in examples]) for model in models]
    chances = sum(model.finder(own.input, own.mask).sigmoid() for model, own in zip(models, vectors, strict=True)) / 2
    predicates = [
        [(at, at + 1) for at in range(len(example.tokens)) if row[at] > 0.5]
        for row, example in zip(chances, examples, strict=True)
    ]
    assert [[one.predicate for one in own] for own in found] == predicates
    assert any(predicates), "no predicate is found, so this shows nothing"
    instances = Instances.of(
        [
            replace(example, propositions=[Proposition(one) for one in own])
            for example, own in zip(examples, predicates, strict=True)
        ]
    )
    logits, mask = zip(
        *(model.tag_logits(own, instances) for model, own in zip(models, vectors, strict=True)), strict=True
    )
    mean = sum(one.softmax(dim=2) for one in logits) / 2
    spans = models[0].decode(mean.log(), mask[0])
    assert [list(one.spans) for own in found for one in own] == spans


@torch.no_grad()
def test_answers_have_the_best_product_of_the_mean_probabilities():
    examples, models = EXAMPLES["squad"], [model_of("squad", seed) for seed in (1, 2)]
    both = [model(examples) for model in models]
    start, end = (sum(one[place].exp() for one in both) / 2 for place in (0, 1))
    for row, (example, found) in enumerate(zip(examples, Ensemble(models).predict(examples), strict=True)):
        count, longest = len(example.passage.tokens), models[0].settings.max_answer_tokens
        spans = [(a, b) for a in range(count) for b in range(a, min(count, a + longest))]
        chance, first, last = max((float(start[row, a] * end[row, b]), a, b) for a, b in spans)
        assert found.probability == pytest.approx(chance, rel=1e-5)
        assert (found.start, found.end) == (example.passage.offsets[first][0], example.passage.offsets[last][1])


@torch.no_grad()
def test_antecedents_have_the_mean_of_the_scores_over_one_set_of_spans():
    """With every span kept, the single models score the same pairs, so their tables can be averaged afterwards."""
    everything = replace(MODELS["coref"][1], spans_per_token=100.0, max_width=1, max_antecedents=1000, mention_loss=0.0)
    models = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        models.append(Resolver(everything, VOCABULARY, small_tokens(static=STATIC)).eval())
    single = [rank(model([DOCUMENT]), [len(own) for own in DOCUMENT.sentences]) for model in models]
    assert torch.equal(single[0].spans, single[1].spans)
    scores = sum(ranked.scores for ranked in single) / 2
    expected = clusters_of([tuple(span) for span in single[0].spans.tolist()], scores)
    (found,) = Ensemble(models).predict([DOCUMENT])
    assert [*map(list, found.clusters)] == [*map(list, expected)]


def test_models_that_decide_between_other_things_are_refused():
    torch.manual_seed(0)
    other = Classifier(ClassifierSettings(hidden_size=4), {"labels": ["A", "Z"]}, small_tokens(static=STATIC))
    with pytest.raises(ConfigError, match="a Classifier that decides between .* and a Classifier that decides"):
        Ensemble([model_of("sst", 1), other])
    with pytest.raises(ConfigError, match="can't be averaged"):
        Ensemble([model_of("sst", 1), model_of("snli", 1)])


class Third(TaskModel):
    """A model of somebody else's, who has not thought of ensembles."""

    def forward(self, examples):
        raise NotImplementedError

    def loss_of(self, outputs, examples):
        raise NotImplementedError

    def decide(self, outputs, examples):
        return []


def test_a_model_without_an_average_says_so():
    with pytest.raises(ConfigError, match="a Third that decides between None"):
        Ensemble([Third(), Third()])


@pytest.fixture
def folders(tmp_path, train_sentences, bilm_folder) -> list[str]:
    """Three taggers with one biLM."""
    for seed in (1, 2, 3):
        save(saved_tagger(train_sentences, bilm_folder, seed=seed), tmp_path / str(seed))
    return [str(tmp_path / str(seed)) for seed in (1, 2, 3)]


def test_saved_models_are_loaded_with_one_encoder_and_scored_beside_their_own(folders, dev_file, dev_sentences):
    saved = load_ensemble(folders, device="cpu")
    assert isinstance(saved.model, Ensemble)
    assert len({id(model.tokens.frozen) for model in saved.model.models}) == 1
    scores, pairs = evaluate(saved, dev_file)
    single = [evaluate(load_ensemble([folder], device="cpu"), dev_file)[0]["f1"] for folder in folders]
    assert scores["single_models"]["f1"] == pytest.approx(single)
    mean = sum(single) / 3
    assert scores["single_models"]["mean"] == pytest.approx(mean)
    variance = sum((one - mean) ** 2 for one in single) / 2
    assert scores["single_models"]["standard_deviation"] == pytest.approx(variance**0.5) != 0
    assert len(pairs) == len(dev_sentences)


def test_the_command_line_takes_several_models(folders, dev_file, tmp_path, capsys):
    assert main(["task", "evaluate", folders[0], str(dev_file), "--ensemble", *folders[1:], "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["single_models"]["f1"]) == 3
    text = tmp_path / "text.txt"
    text.write_text("Anna saw Rome\n")
    assert main(["task", "predict", folders[0], str(text), "--ensemble", folders[1]]) == 0
    assert capsys.readouterr().out.splitlines()[0].split()[0] == "Anna"
    assert main(["task", "evaluate", folders[0], str(dev_file), "--ensemble", str(tmp_path / "none")]) == 2
    assert "not a task model" in capsys.readouterr().err
