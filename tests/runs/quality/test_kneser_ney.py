"""The fast Kneser-Ney model against Chen & Goodman's formulas, spelled out with dictionaries."""

import itertools
import json
import lzma
import math
from collections import Counter, defaultdict

import numpy as np
import pytest

from elmo.text.vocabulary import BEGINNING_MARK, Vocabulary

RARE = [f"rare{n}" for n in range(40)]
VOCABULARY = ["<S>", "</S>", "<UNK>", "a", "b", "c", "d", "never", *RARE]
ENCODED_WITH = Vocabulary(tuple(VOCABULARY))
KINDS = ["modified", "single"]


def random_sentences(seed, num_sentences, words="abcdxy"):
    """Zipf-like words, of which x and y are outside the vocabulary."""
    chance = np.random.default_rng(seed)
    shares = 1 / np.arange(1, len(words) + 1)
    lengths = chance.integers(1, 8, num_sentences)
    return [chance.choice(list(words), n, p=shares / shares.sum()).tolist() for n in lengths]


class DictionaryKneserNey:
    """One n-gram at a time, from the formulas; words are strings, n-grams tuples."""

    def __init__(self, sentences, order, kind, begin="<S>", end="</S>"):
        self.order, self.begin = order, begin
        raw = Counter()
        for sentence in sentences:
            words = [begin, *(word if word in VOCABULARY else "<UNK>" for word in sentence), end]
            for length in range(1, order + 1):
                raw.update(tuple(words[i : i + length]) for i in range(len(words) - length + 1))
        words_before = defaultdict(set)
        for gram in raw:
            words_before[gram[1:]].add(gram[0])
        self.counts = {}
        for gram, count in raw.items():
            if gram != (begin,):
                plain = len(gram) == order or gram[0] == begin
                self.counts[gram] = count if plain else len(words_before[gram])
        self.discounts = {length: self.estimate(length, kind) for length in range(1, order + 1)}

    def estimate(self, length, kind):
        n1, n2, n3, n4 = (sum(len(g) == length and c == j for g, c in self.counts.items()) for j in (1, 2, 3, 4))
        if kind == "single":
            return [n1 / (n1 + 2 * n2)] * 3 if n1 and n2 else [0.5] * 3
        if not (n1 and n2 and n3 and n4):
            return [0.5, 1.0, 1.5]
        y = n1 / (n1 + 2 * n2)
        found = [1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3]
        return found if all(0 <= d <= j for j, d in enumerate(found, 1)) else [0.5, 1.0, 1.5]

    def probability(self, word, context):
        """p(word | context), the context a tuple of at most order - 1 words."""
        followers = {g[-1]: c for g, c in self.counts.items() if len(g) == len(context) + 1 and g[:-1] == context}
        lower = self.probability(word, context[1:]) if context else 1 / (len(VOCABULARY) - 1)
        if not followers:
            return lower
        total, discounts = sum(followers.values()), self.discounts[len(context) + 1]
        removed = {follower: discounts[min(count, 3) - 1] for follower, count in followers.items()}
        own = (followers[word] - removed[word]) / total if word in followers else 0.0
        return own + sum(removed.values()) / total * lower

    def sentence(self, sentence, end="</S>"):
        words = [self.begin, *(word if word in VOCABULARY else "<UNK>" for word in sentence), end]
        return [self.probability(words[i], tuple(words[max(0, i - self.order + 1) : i])) for i in range(1, len(words))]


@pytest.fixture(scope="module")
def fit(script):
    """A model of sentences."""

    def fit(sentences, order, kind="modified", direction="forward"):
        row = script.facing(script.encode(sentences, ENCODED_WITH), direction)
        return script.fit(row, script.DIRECTIONS[direction], len(VOCABULARY), order, kind)

    return fit


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("num_sentences", [1, 12, 60])
def test_probabilities_equal_the_formulas_written_out_with_dictionaries(script, fit, order, kind, num_sentences):
    train, test = random_sentences(order, num_sentences), [*random_sentences(99, 12), ["never", "a", "never"]]
    slow = DictionaryKneserNey(train, order, kind)
    expected = np.log([p for sentence in test for p in slow.sentence(sentence)])
    found = fit(train, order, kind).log_probabilities(script.encode(test, ENCODED_WITH))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", [1, 2])
def test_probabilities_equal_the_formulas_where_every_order_estimates_its_discounts(script, fit, seed):
    train, test = random_sentences(seed, 100, ["a", "b", "c", "x", *RARE]), random_sentences(9, 20, ["a", "b", *RARE])
    model, slow = fit(train, 3), DictionaryKneserNey(train, 3, "modified")
    assert [level.estimated for level in model.levels] == [True, True, True]
    assert len({discount for level in model.levels for discount in level.discounts}) == 9
    expected = np.log([p for sentence in test for p in slow.sentence(sentence)])
    found = model.log_probabilities(script.encode(test, ENCODED_WITH))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", [1, 3, 5])
def test_the_backward_model_is_a_forward_model_of_reversed_sentences(script, fit, order, kind):
    train, test = random_sentences(order, 60), random_sentences(99, 12)
    slow = DictionaryKneserNey([s[::-1] for s in train], order, kind, begin="</S>", end="<S>")
    expected = np.log([p for sentence in test[::-1] for p in slow.sentence(sentence[::-1], end="<S>")])
    row = script.facing(script.encode(test, ENCODED_WITH), "backward")
    found = fit(train, order, kind, "backward").log_probabilities(row)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_boundary_symbols_spelled_in_the_text_are_unknown_words(script):
    row = script.encode([["a", "<S>", "</S>"]], ENCODED_WITH)
    assert row.tolist() == [0, 3, 2, 2, 1]


def test_discounts_that_leave_their_range_fall_back_and_say_so(script):
    counts = np.array([1] * 2 + [2] * 2 + [3] * 50 + [4] * 3)  # D2 = 2 - 3 (1/3) 25 < 0
    assert script.estimate_discounts(counts, "modified") == ((0.5, 1.0, 1.5), False)
    assert script.estimate_discounts(counts, "single") == (pytest.approx((1 / 3,) * 3), True)
    assert script.estimate_discounts(np.array([3, 3]), "single") == ((0.5, 0.5, 0.5), False)


@pytest.fixture
def files(tmp_path):
    """A training text (.xz), a test text and a vocabulary, as the command line takes them."""
    lines = "\n".join(" ".join(sentence) for sentence in random_sentences(5, 80)) + "\n"
    (tmp_path / "train.txt.xz").write_bytes(lzma.compress(lines.encode()))
    (tmp_path / "test.txt").write_text("a b x\n\nd c\n", encoding="utf-8")
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return tmp_path


def command(folder, *more):
    names = {"--train": "train.txt.xz", "--test": "test.txt", "--vocabulary": "vocab.txt"}
    return [*itertools.chain(*((flag, str(folder / name)) for flag, name in names.items())), *more]


def test_the_command_reports_both_directions_and_their_geometric_mean(script, files, capsys):
    assert script.main(command(files, "--order", "2", "--json", str(files / "out.json"))) == 0
    result = json.loads(capsys.readouterr().out)
    assert result == json.loads((files / "out.json").read_text(encoding="utf-8"))
    test = result["tests"][0]
    assert (test["num_sentences"], test["num_words"], test["num_predicted_tokens"]) == (2, 5, 7)
    assert test["oov_share"] == 1 / 5
    slow = DictionaryKneserNey(random_sentences(5, 80), 2, "modified")
    logs = np.log(slow.sentence(["a", "b", "x"]) + slow.sentence(["d", "c"]))
    assert test["perplexity"]["forward"] == pytest.approx(math.exp(-logs.mean()), rel=1e-12)
    forward, backward = test["perplexity"]["forward"], test["perplexity"]["backward"]
    assert forward != backward
    assert test["perplexity"]["mean"] == pytest.approx(math.sqrt(forward * backward), rel=1e-12)


def test_kinds_of_predictions_are_told_apart_as_by_the_bilm(script, files, capsys):
    (files / "test.txt").write_text("a b x\n\nd cc\n", encoding="utf-8")
    words = [*VOCABULARY[:3], *(word for word in VOCABULARY[3:] if word != "c"), "c" + BEGINNING_MARK]
    (files / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    assert script.main(command(files, "--order", "2")) == 0
    test = json.loads(capsys.readouterr().out)["tests"][0]
    assert {kind: part["count"] for kind, part in test["kinds"].items()} == {
        "listed": 3, "beginning": 1, "unknown": 1, "boundary": 2,
    }  # fmt: skip
    for direction in ("forward", "backward", "mean"):
        nats = sum(part["count"] * part["nats_per_token"][direction] for part in test["kinds"].values())
        assert nats / 7 == pytest.approx(test["nats_per_token"][direction], rel=1e-12)


@pytest.mark.parametrize(
    ("name", "content", "flags", "message"),
    [
        ("vocab.txt", b"a\nb\n<UNK>\n", [], "vocab.txt: the first three words must be"),
        ("train.txt.xz", lzma.compress(b"\n \n"), [], "no sentence found"),
        ("test.txt", b"\n \n", [], "no sentence found"),
        ("test.txt", b"a\n", ["--order", "0"], "order is 0"),
    ],
)
def test_what_gives_no_model_is_refused(script, files, capsys, name, content, flags, message):
    (files / name).write_bytes(content)
    assert script.main(command(files, *flags)) == 2
    assert message in capsys.readouterr().err
