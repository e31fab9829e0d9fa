"""The sequence autoencoder and the classifier on a last state, equal to plain loops; one begun from the other."""

import io
import json
import math

import numpy as np
import pytest
import torch

from elmo.cli.main import main
from elmo.config import BiLMConfig
from elmo.errors import ConfigError, Interrupted
from elmo.model.bilm import BiLM
from elmo.ops.sampled_softmax import LogUniformSampler
from elmo.tasks.autoencoder.model import Autoencoder, Reproduced
from elmo.tasks.autoencoder.settings import AutoencoderSettings
from elmo.tasks.autoencoder.task import TASK
from elmo.tasks.settings import FitSettings, TokenSettings
from elmo.tasks.sst.data import LabelledSentence
from elmo.tasks.sst.model import LastState
from elmo.tasks.sst.settings import ClassifierSettings
from elmo.tasks.tokens.frozen_layers import FrozenLayers
from elmo.tasks.tokens.representation import TokenRepresentation, TokenSources
from elmo.tasks.train.apply import predict_and_loss
from elmo.tasks.train.fit import fit
from elmo.tasks.unlabelled import TextLine
from elmo.text.token_map import TokenMap, WordMap

KNOWN = {"<S>": 1, "</S>": 2, "<UNK>": 3, "the": 4, "cat": 5, "sat": 6, "고양이": 7}
CONFIG = BiLMConfig(
    characters="none", num_words=8, word_dim=6, token_projection=False, cell_size=6, projection_size=6, num_layers=1,
    projection_clip=None, direction="forward",
)  # fmt: skip
WORDS = ["<UNK>", "</S>", "the", "cat", "sat", "고양이"]
SENTENCES = ["the cat sat", "고양이", "sat the dog cat the"]


@pytest.fixture
def forward_lm() -> BiLM:
    torch.manual_seed(4)
    return BiLM(CONFIG, TokenMap(None, WordMap(KNOWN))).eval()


def representation(lm, **settings):
    settings = {"train_bilm": True, "layers": "top", "train_gamma": False, "elmo_dropout": 0.0, **settings}
    return TokenRepresentation(TokenSettings(**settings), TokenSources(FrozenLayers(lm)))


def states(lm, words):
    """The state after <S> and after each of some words, one after the other: an LSTM as in a textbook."""
    layer, table = lm.forward_lstm.layers[0], lm.token_encoder.word_embedding
    hidden = cell = torch.zeros(6)
    for word in ["<S>", *words]:
        own = table[KNOWN.get(word, KNOWN["<UNK>"])]
        gates = layer.input_weight @ own + layer.recurrent_weight @ hidden + layer.bias
        write, keep, show, new = gates.view(4, 6)
        cell = torch.sigmoid(keep + CONFIG.forget_bias) * cell + torch.sigmoid(write) * torch.tanh(new)
        assert cell.abs().max() < CONFIG.cell_clip
        hidden = torch.sigmoid(show) * torch.tanh(cell)
        yield hidden


def assert_same_gradients(model, found, expected):
    """Of all trained weights; `found` and `expected`: two computations of one loss."""
    trained = {name: one for name, one in model.named_parameters() if one.requires_grad}
    assert any("input_weight" in name for name in trained) and any("word_embedding" in name for name in trained)
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-5)
    gradients = [torch.autograd.grad(loss, list(trained.values())) for loss in (found, expected)]
    for name, one, other in zip(trained, *gradients, strict=True):
        assert other.abs().sum() > 0, name
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-4, msg=name)


@pytest.fixture
def autoencoder(forward_lm) -> Autoencoder:
    return Autoencoder(AutoencoderSettings(), {"words": WORDS}, representation(forward_lm))


def plain_nats(model, sentence):
    """Of each token and of the end, read after the whole sentence and after those before it."""
    read = list(states(model.tokens.live.bilm, [*sentence, "</S>", *sentence]))
    for place, word in enumerate([*sentence, "</S>"]):
        logits = model.softmax.weight @ read[len(sentence) + 1 + place] + model.softmax.bias
        powers = [torch.exp(logit) for logit in logits]
        yield -torch.log(powers[WORDS.index(word) if word in WORDS else 0] / sum(powers))


def test_the_autoencoder_equals_a_plain_loop_with_its_gradients(autoencoder):
    lines = [TextLine(sentence.split()) for sentence in SENTENCES]
    nats = [list(plain_nats(autoencoder, line.tokens)) for line in lines]
    every = [one for own in nats for one in own]
    assert len(every) == 3 + 1 + 5 + 3
    assert_same_gradients(autoencoder, autoencoder.train().loss(lines), sum(every) / len(every))
    with torch.no_grad():
        predictions = autoencoder.eval().predict(lines)
    for prediction, own, line in zip(predictions, nats, lines, strict=True):
        assert prediction.nats == pytest.approx(sum(own).item(), rel=1e-5)
        assert len(prediction.tokens) == len(line.tokens) + 1
    scores = TASK.score(lines, predictions)
    assert scores["perplexity"] == pytest.approx(math.exp(sum(every).item() / 12), rel=1e-5)


def test_a_perplexity_beyond_what_exp_can_hold_is_a_large_one():
    line = TextLine(["the"])
    assert TASK.score([line], [Reproduced(["cat", "</S>"], 1, 5000.0)])["perplexity"] == pytest.approx(math.exp(700))


def test_with_few_samples_a_step_compares_with_those_alone(forward_lm):
    """The state of torch decides which. Each score is lowered by the log of the word's chance to be among them."""
    settings = AutoencoderSettings(num_negative_samples=2)
    model = Autoencoder(settings, {"words": WORDS}, representation(forward_lm)).train()
    lines = [TextLine(sentence.split()) for sentence in SENTENCES]
    found = []
    for seed in (1, 1, 2, 3, 4, 5, 6, 7):
        torch.manual_seed(seed)
        found.append(model.loss(lines).item())
    assert found[0] == found[1]
    assert len(set(found)) > 1
    torch.manual_seed(1)
    sample = LogUniformSampler(6, 2).draw(np.random.default_rng(int(torch.randint(1 << 62, ()))))
    chances = [math.log((rank + 2) / (rank + 1)) / math.log(7) for rank in range(6)]
    lowered = [math.log(1 - (1 - chance) ** sample.num_draws) for chance in chances]
    nats = []
    for line in lines:
        read = list(states(model.tokens.live.bilm, [*line.tokens, "</S>", *line.tokens]))
        for word, state in zip([*line.tokens, "</S>"], read[len(line.tokens) + 1 :], strict=True):
            scores = (model.softmax.weight @ state + model.softmax.bias - torch.tensor(lowered)).tolist()
            gold = WORDS.index(word) if word in WORDS else 0
            compared = {gold, *sample.ids.tolist()}
            nats.append(math.log(sum(math.exp(scores[one]) for one in compared)) - scores[gold])
    assert found[0] == pytest.approx(sum(nats) / len(nats), rel=1e-4)
    assert model.eval().loss(lines).item() not in found


def test_a_stopped_autoencoder_goes_on_bit_for_bit(forward_lm, tmp_path, stop_after):
    """Its samples are drawn as they would have been."""
    lines = [TextLine(sentence.split()) for sentence in SENTENCES * 8]
    settings = FitSettings(epochs=3, batch_size=8, least_batches=0)

    def run(folder, flag=None):
        torch.manual_seed(0)
        own = AutoencoderSettings(num_negative_samples=2)
        model = Autoencoder(own, {"words": WORDS}, representation(forward_lm, new_bilm=True))
        fit(model, TASK, lines, [], settings, folder, seed=1, flag=flag)
        return model.state_dict()

    whole = run(tmp_path / "whole")
    with pytest.raises(Interrupted):
        run(tmp_path / "cut", stop_after(4))
    again = run(tmp_path / "cut")
    assert all(torch.equal(tensor, again[name]) for name, tensor in whole.items())


def test_the_last_state_equals_a_plain_loop_with_its_gradients(forward_lm):
    settings = ClassifierSettings(network="last_state", hidden_size=5, pooled_dropout=0.0)
    model = LastState(settings, {"labels": ["bad", "good"]}, representation(forward_lm)).train()
    batch = [
        LabelledSentence(text.split(), label) for text, label in zip(SENTENCES, ("bad", "good", "bad"), strict=True)
    ]
    hidden, _, _, last = model.head
    losses = []
    for example in batch:
        *_, state = states(model.tokens.live.bilm, example.tokens)
        logits = last.weight @ torch.relu(hidden.weight @ state + hidden.bias) + last.bias
        losses.append(torch.log(torch.exp(logits).sum()) - logits[["bad", "good"].index(example.label)])
    assert_same_gradients(model, model.loss(batch), sum(losses) / 3)


@torch.no_grad()
def test_empty_sentences_do_no_harm_to_the_last_state(forward_lm):
    model = LastState(ClassifierSettings(), {"labels": ["bad", "good"]}, representation(forward_lm)).eval()
    one, nothing = model([LabelledSentence(["the", "cat"]), LabelledSentence([])])
    assert torch.isfinite(nothing).all()
    torch.testing.assert_close(model([LabelledSentence(["the", "cat"])])[0], one)
    torch.testing.assert_close(model([LabelledSentence([])])[0], nothing)


@pytest.mark.parametrize("network", [Autoencoder, LastState])
def test_a_model_that_reads_in_both_directions_is_refused(tiny_bilm, network):
    """It would have seen what it is to predict."""
    settings = AutoencoderSettings() if network is Autoencoder else ClassifierSettings()
    with pytest.raises(
        ConfigError, match="the encoder 'elmo' reads in both directions. Pass such a model with --model"
    ):
        network(settings, {"words": WORDS, "labels": ["a", "b"]}, representation(tiny_bilm))


def test_words_are_the_most_frequent_ones_of_the_text(tmp_path):
    (tmp_path / "text").write_text("the cat the\n\n고양이 cat the\n", encoding="utf-8")
    settings = TASK.settings(autoencoder=AutoencoderSettings(num_words=2))
    lines = TASK.read(tmp_path / "text", settings)
    assert [line.tokens for line in lines] == [["the", "cat", "the"], ["고양이", "cat", "the"]]
    assert TASK.vocabulary(lines, settings) == {"words": ["<UNK>", "</S>", "the", "cat"]}


@pytest.fixture
def files(tmp_path, forward_lm, monkeypatch):
    forward_lm.save_pretrained(tmp_path / "lm")
    (tmp_path / "text.txt").write_text("the cat sat\n고양이 sat\ncat the cat\n" * 20, encoding="utf-8")
    (tmp_path / "labelled.tsv").write_text("good\tthe cat sat\nbad\t고양이 sat\n" * 20, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


LAST = "--network last_state --layers top --no-train-gamma --hidden-size 4 --epochs 2 --batch-size 8 --quiet"


def test_a_task_begins_with_what_the_autoencoder_has_learned(files, capsys, monkeypatch):
    train = "task train autoencoder --train text.txt -o sa --model lm --epochs 3 --learning-rate 0.03 --quiet"
    assert main(train.split()) == 0
    lines = [json.loads(line) for line in (files / "sa/seed-1/metrics.jsonl").read_text().splitlines()]
    assert lines[-1]["loss"] < lines[0]["loss"]
    assert main(["task", "evaluate", "sa", "text.txt", "--json"]) == 0
    assert {"accuracy", "perplexity", "sentences"} <= set(json.loads(capsys.readouterr().out))
    begin = f"task train sst --train labelled.tsv -o run --model sa/model/bilm --train-bilm {LAST}"
    assert main(begin.split()) == 0
    assert main(["task", "evaluate", "run", "labelled.tsv", "--json"]) == 0
    capsys.readouterr()
    for model, key in (("run", "label"), ("sa", "tokens")):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("고양이 sat\n".encode()), encoding="utf-8"))
        assert main(["task", "predict", model, "--json"]) == 0
        assert key in json.loads(capsys.readouterr().out)["prediction"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (f"sst --train labelled.tsv -o run --encoder none {LAST}", "the model would read nothing: there are no"),
        (
            f"sst --train labelled.tsv -o run --encoder none --static w.txt {LAST}",
            "'none' isn't a biLM. Pass such a model",
        ),
        (
            f"sst --train labelled.tsv -o run --model small-en --train-bilm {LAST}",
            "reads in both directions. Pass such",
        ),
        ("autoencoder --train text.txt -o run --model small-en --quiet", "'elmo' reads in both directions. Pass such"),
        ("sst --train labelled.tsv -o run --bilm-rate 0.5", "--bilm-rate was given without --train-bilm"),
        ("sst --train labelled.tsv -o run --new-bilm", "new_bilm must be off without train_bilm (got True)"),
        ("autoencoder --train text.txt -o run --unfreeze-epochs 2", "--unfreeze-epochs was given with --new-bilm"),
        (
            f"sst --train labelled.tsv -o run --model lm --static w.txt --placement output {LAST}",
            "placement must be 'input' with --network last_state (got 'output')",
        ),
        (
            f"sst --train labelled.tsv -o run --model lm --character-filters 9 {LAST}",
            "character_filters must be 0 with --network last_state (got 9)",
        ),
        (
            "autoencoder --train text.txt -o run --model lm --no-new-bilm --epochs 1",
            "the biLM's top layer is frozen for 1 of 1 epochs and the others for longer, so no layer would be trained",
        ),
        (
            "sst --train labelled.tsv -o run --model small-en --train-bilm --epochs 2 --unfreeze-epochs 2",
            "frozen for 2 of 2 epochs and the others for longer, so no layer would be trained. Choose more --epochs",
        ),
        (
            "autoencoder --train text.txt -o run --model lm --best-by perplexity",
            "best_by must be accuracy, of which more is better (got 'perplexity')",
        ),
        ("autoencoder --train nothing.txt -o run --model lm", "nothing.txt: there is no sentence in it. Check"),
    ],
)
def test_errors_name_the_next_step_and_nothing_is_written(files, command, message, capsys):
    (files / "nothing.txt").write_text("\n\n", encoding="utf-8")
    (files / "w.txt").write_text("the 1 2\ncat 3 4\n고양이 5 6\n", encoding="utf-8")
    assert main(["task", "train", *command.split()]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert message in said
    assert not (files / "run").exists()


@pytest.mark.parametrize("size", [1, 2])
def test_the_dev_loss_is_the_mean_over_all_tokens_in_any_batches(autoencoder, size):
    examples = [TextLine(text.split()) for text in SENTENCES]
    expected = autoencoder.eval().loss(examples).item()
    assert predict_and_loss(autoencoder, TASK, examples, FitSettings(batch_size=size))[1] == pytest.approx(
        expected, rel=1e-6
    )
