"""The classifier on a language model's last state, equal to a plain loop; begun from another task's model."""

import pytest
import torch

from elmo.cli.main import main
from elmo.config import BiLMConfig
from elmo.errors import ConfigError
from elmo.model.bilm import BiLM
from elmo.tasks.settings import TokenSettings
from elmo.tasks.sst.data import ClassifierSettings, LabelledSentence
from elmo.tasks.sst.model import LastState
from elmo.tasks.tokens.frozen_layers import FrozenLayers
from elmo.tasks.tokens.representation import TokenRepresentation, TokenSources
from elmo.text.token_map import TokenMap, WordMap

KNOWN = {"<S>": 1, "</S>": 2, "<UNK>": 3, "the": 4, "cat": 5, "sat": 6, "고양이": 7}
CONFIG = BiLMConfig(
    characters="none", num_words=8, word_dim=6, token_projection=False, cell_size=6, projection_size=6, num_layers=1,
    projection_clip=None, direction="forward",
)  # fmt: skip
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


def test_a_model_that_reads_in_both_directions_is_refused(tiny_bilm):
    with pytest.raises(
        ConfigError, match="needs a forward language model, but the encoder's direction is both. Pass one with --model"
    ):
        LastState(ClassifierSettings(), {"labels": ["a", "b"]}, representation(tiny_bilm))


@pytest.fixture
def files(tmp_path, forward_lm, monkeypatch):
    forward_lm.save_pretrained(tmp_path / "lm")
    (tmp_path / "labelled.tsv").write_text("good\tthe cat sat\nbad\t고양이 sat\n" * 20, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


LAST = "--network last_state --layers top --no-train-gamma --hidden-size 4 --epochs 2 --batch-size 8 --quiet"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            f"sst --train labelled.tsv -o run --encoder none --static w.txt {LAST}",
            "direction is unknown. Pass one",
        ),
        (
            f"sst --train labelled.tsv -o run --model small-en --train-bilm {LAST}",
            "direction is both. Pass one",
        ),
        (
            f"sst --train labelled.tsv -o run --model lm --static w.txt --placement output {LAST}",
            "placement must be 'input' with --network last_state (got 'output')",
        ),
        (
            f"sst --train labelled.tsv -o run --model lm --character-filters 9 {LAST}",
            "character_filters must be 0 with --network last_state (got 9)",
        ),
    ],
)
def test_errors_name_the_next_step_and_nothing_is_written(files, command, message, capsys):
    (files / "w.txt").write_text("the 1 2\ncat 3 4\n고양이 5 6\n", encoding="utf-8")
    assert main(["task", "train", *command.split()]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert message in said
    assert not (files / "run").exists()
