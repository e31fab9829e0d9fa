"""The span ranker equals AllenNLP's CoreferenceResolver; its factored scorers equal plain networks."""

import json

import numpy as np
import pytest
import torch

from elmo.tasks.coref import model as ranker_file
from elmo.tasks.coref import spans as span_file
from elmo.tasks.coref.documents import ResolverSettings
from elmo.tasks.coref.model import PairFacts, Ranked, RankerInput, SpanRanker, rank
from elmo.tasks.coref.spans import (
    MentionScorer,
    PairScorer,
    TokenStates,
    antecedent_loss,
    clusters_of,
    gold_table,
    span_vectors,
)
from elmo.tasks.layers.recurrent import BiLSTM


@pytest.fixture(params=["small", "larger"])
def case(request, golden_folder, monkeypatch):
    # The original keeps the best spans also where they cross.
    monkeypatch.setattr(ranker_file, "keep_best", lambda _, scores, count: scores.topk(count).indices.sort().values)
    folder = golden_folder / "tasks" / "coref_model"
    if not (folder / f"{request.param}.npz").is_file():
        folder = request.getfixturevalue("shared") / "golden" / "tasks" / "coref_model"
    with np.load(folder / f"{request.param}.npz", allow_pickle=False) as found:
        arrays = {name: torch.from_numpy(found[name]) for name in found.files}
    return arrays, json.loads((folder / f"{request.param}.json").read_text())


def ranked(network, tokens, lengths, facts=None) -> Ranked:
    return rank([RankerInput(network, tokens, facts or PairFacts(None, genre=0))], lengths)


def weight(case, name):
    return case[0][f"weight.{name}"]


def encoder(case) -> BiLSTM:
    """The original's LSTM reads the whole document as one sequence."""
    prefix = "_context_layer._module."
    lstm = BiLSTM(case[0]["embeddings"].shape[1], [weight(case, prefix + "weight_hh_l0").shape[1]])
    forward, backward = lstm.layers[0]
    for layer, suffix in ((forward, ""), (backward, "_reverse")):
        for name, parameter in layer.named_parameters():
            parameter.data.copy_(weight(case, prefix + name + suffix))
    return lstm


def ranker(case) -> SpanRanker:
    facts = case[1]
    hidden = len(weight(case, "_mention_feedforward._module._linear_layers.0.bias"))
    settings = ResolverSettings(
        max_width=facts["max_span_width"],
        spans_per_token=facts["spans_per_word"],
        max_antecedents=facts["max_antecedents"],
        span_hidden_sizes=(hidden, hidden),
        feature_size=facts["feature_size"],
        speakers=False,
    )
    encoded = 2 * weight(case, "_context_layer._module.weight_hh_l0").shape[1]
    network = SpanRanker(encoded, case[0]["embeddings"].shape[1], settings).eval()
    names = (("_mention", "mention_scorer"), ("_antecedent", "pair_scorer"))
    with torch.no_grad():
        network.widths.weight.copy_(weight(case, "_endpoint_span_extractor._span_width_embedding.weight"))
        network.distances.weight.copy_(weight(case, "_distance_embedding.weight"))
        for theirs, ours in names:
            scorer = network.get_submodule(ours)
            layers = [scorer.first, scorer.rest[2], scorer.rest[5]]
            stem = f"{theirs}_feedforward._module._linear_layers."
            for layer, name in zip(layers, (stem + "0", stem + "1", f"{theirs}_scorer._module"), strict=True):
                layer.weight.copy_(weight(case, name + ".weight"))
                layer.bias.copy_(weight(case, name + ".bias"))
    return network


def states(case, lstm, dtype) -> TokenStates:
    embedded = case[0]["embeddings"].to(dtype)
    encoded = lstm.to(dtype)(embedded[None], torch.ones(1, len(embedded), dtype=torch.bool))[0]
    prefix = "_attentive_span_extractor._global_attention._module."
    scores = embedded @ weight(case, prefix + "weight")[0].to(dtype) + weight(case, prefix + "bias").to(dtype)
    return TokenStates(encoded, embedded, scores)


@pytest.mark.parametrize(("dtype", "suffix", "tolerance"), [(torch.float32, "f32", 1e-4), (torch.float64, "f64", 1e-8)])
@pytest.mark.parametrize("max_floats", [1 << 24, 200])
def test_every_stage_equals_the_originals(case, dtype, suffix, tolerance, max_floats, monkeypatch):
    monkeypatch.setattr(span_file, "_MAX_FLOATS", max_floats)
    arrays, facts = case
    network = ranker(case).to(dtype)
    tokens = states(case, encoder(case), dtype)
    found = ranked(network, tokens, facts["sentence_lengths"])
    near = {"atol": tolerance, "rtol": tolerance}
    assert torch.equal(found.candidates, arrays["spans"])
    vectors = span_vectors(tokens, found.candidates, network.widths(found.candidates[:, 1] - found.candidates[:, 0]))
    torch.testing.assert_close(vectors, arrays[f"span_representation_{suffix}"], **near)
    torch.testing.assert_close(found.mention_scores, arrays[f"mention_scores_{suffix}"], **near)
    assert torch.equal(found.spans, arrays["top_spans"])
    expected = arrays[f"coreference_scores_{suffix}"]
    columns = found.scores.shape[1]
    torch.testing.assert_close(found.scores, expected[:, :columns], **near)
    assert (expected[:, columns:] < -1e30).all()
    gold = gold_table(found.pairs, arrays["span_labels"][found.kept], columns)
    assert torch.equal(gold, arrays["gold_labels"][:, :columns])
    loss = antecedent_loss(found.scores, gold)
    torch.testing.assert_close(loss, arrays[f"loss_{suffix}"], atol=tolerance, rtol=max(tolerance, 1e-6))
    predicted = clusters_of([tuple(span) for span in found.spans.tolist()], found.scores)
    theirs = sorted(sorted(map(tuple, cluster)) for cluster in facts["predicted_clusters"])
    assert predicted == theirs


def test_gradients_equal_the_originals(case):
    arrays, facts = case
    network, lstm = ranker(case).double(), encoder(case)
    tokens = states(case, lstm, torch.float64)
    found = ranked(network, tokens, facts["sentence_lengths"])
    gold = gold_table(found.pairs, arrays["span_labels"][found.kept], found.scores.shape[1])
    antecedent_loss(found.scores, gold).backward()
    ours = {"_endpoint_span_extractor._span_width_embedding.weight": network.widths.weight}
    ours["_distance_embedding.weight"] = network.distances.weight
    for theirs, scorer in (("_mention", network.mention_scorer), ("_antecedent", network.pair_scorer)):
        stem = f"{theirs}_feedforward._module._linear_layers."
        for layer, name in (
            (scorer.first, stem + "0"),
            (scorer.rest[2], stem + "1"),
            (scorer.rest[5], f"{theirs}_scorer._module"),
        ):
            ours[name + ".weight"], ours[name + ".bias"] = layer.weight, layer.bias
    for layer, suffix in zip(lstm.layers[0], ("", "_reverse"), strict=True):
        for name, parameter in layer.named_parameters():
            ours[f"_context_layer._module.{name}{suffix}"] = parameter
    expected = dict(zip(facts["grad_norm_names"], arrays["grad_norms_f64"].tolist(), strict=True))
    assert len(ours) == len(expected) - 2  # the head attention's belong to the test's own product
    for name, parameter in ours.items():
        # An absolute bound too: the last bias of the mention scorer has a gradient of nearly 0.
        assert parameter.grad.norm().item() == pytest.approx(expected[name], rel=1e-5, abs=1e-8), name


def document(dtype=torch.float64):
    torch.manual_seed(0)
    return TokenStates(*(torch.randn(*shape, dtype=dtype, requires_grad=True) for shape in ((9, 6), (9, 5), (9,))))


def equal_with_gradients(one, other, asked):
    torch.testing.assert_close(one, other)
    upstream = torch.randn_like(one)
    for ours, theirs in zip(
        torch.autograd.grad(one, asked, upstream), torch.autograd.grad(other, asked, upstream), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("max_floats", [1 << 24, 50])
def test_factored_scorers_equal_plain_networks(max_floats, monkeypatch):
    monkeypatch.setattr(span_file, "_MAX_FLOATS", max_floats)
    tokens = document()
    spans = torch.tensor([[0, 0], [0, 3], [2, 4], [4, 4], [5, 8], [8, 8]])
    widths = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    vectors = span_vectors(tokens, spans, widths)
    mentions = MentionScorer((6, 5, 4), (7, 7)).double()
    asked = [tokens.encoded, tokens.embedded, tokens.head_scores, widths, *mentions.parameters()]
    plain = mentions.rest(mentions.first(vectors)).squeeze(1)
    equal_with_gradients(mentions(tokens, spans, widths), plain, asked)

    vectors = vectors.detach().requires_grad_()
    pairs = torch.tensor([[i, j] for i in range(6) for j in range(i)])
    features = torch.randn(len(pairs), 3, dtype=torch.float64, requires_grad=True)
    rows = {tuple(pair): row for row, pair in enumerate(pairs.tolist())}
    scorer = PairScorer(vectors.shape[1], 3, (7, 7)).double()
    fast = scorer(vectors, pairs, lambda part: features[[rows[tuple(pair)] for pair in part.tolist()]])
    one, other = vectors[pairs[:, 0]], vectors[pairs[:, 1]]
    plain = scorer.rest(scorer.first(torch.cat([one, other, one * other, features], dim=1))).squeeze(1)
    equal_with_gradients(fast, plain, [vectors, features, *scorer.parameters()])


def test_parts_draw_the_same_dropout_for_their_gradient(monkeypatch):
    """Parts are computed twice in training: with other masks the second time, gradients would be wrong."""
    tokens = document(torch.float32)
    spans, widths = torch.tensor([[0, 0], [1, 2], [3, 3], [4, 5]]), torch.randn(4, 4)
    scorer = MentionScorer((6, 5, 4), (20, 20), dropout=0.5).train()
    monkeypatch.setattr(span_file, "_MAX_FLOATS", 60)
    torch.manual_seed(3)
    found = scorer(tokens, spans, widths)
    weights = scorer.rest[5].weight
    (gradient,) = torch.autograd.grad(found.sum(), [weights])
    # Linear in the last layer's weights: their product with the gradient is the output.
    torch.testing.assert_close((gradient * weights).sum() + 4 * scorer.rest[5].bias.sum(), found.sum())


def test_speakers_genres_and_distances_are_told():
    torch.manual_seed(0)
    network = SpanRanker(
        4, 3, ResolverSettings(max_width=2, spans_per_token=1.0, span_hidden_sizes=(5,)), num_genres=2
    ).eval()
    tokens = TokenStates(torch.randn(6, 4), torch.randn(6, 3), torch.randn(6))

    def scores(speakers, genre):
        return ranked(network, tokens, [2, 4], PairFacts(torch.tensor(speakers), genre)).scores

    same = scores([0] * 6, 0)
    assert torch.equal(same, scores([5] * 6, 0))
    assert not torch.equal(same, scores([0, 0, 1, 1, 1, 1], 0))
    assert not torch.equal(same, scores([0] * 6, 1))


@pytest.mark.parametrize("lengths", [[1], [3], [1, 1]])
def test_documents_of_few_words_are_no_error(lengths):
    network = SpanRanker(4, 3, ResolverSettings(spans_per_token=0.4, span_hidden_sizes=(5,), speakers=False))
    count = sum(lengths)
    tokens = TokenStates(torch.randn(count, 4), torch.randn(count, 3), torch.randn(count))
    found = ranked(network, tokens, lengths)
    assert found.scores.shape[0] == len(found.kept) == int(0.4 * count)
    gold = gold_table(found.pairs, torch.full((len(found.kept),), -1), found.scores.shape[1])
    # Every span's right antecedent is the dummy, the only one where there is one span.
    loss = antecedent_loss(found.scores, gold).item()
    assert loss > 0 if len(found.kept) > 1 else loss == 0
