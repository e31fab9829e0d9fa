"""The count-based baseline a biLM's perplexity is reported beside: an interpolated Kneser-Ney n-gram model.

    python runs/quality/kneser_ney.py --train TRAIN.xz --test TEST.txt --vocabulary vocab.txt --order 3 [--json OUT]

Two models, as in a biLM: the forward one reads `<S>` and predicts w1 .. wn `</S>`; the backward one reads `</S>` and
predicts wn .. w1 `<S>`. Both predict the entries of the biLM's vocabulary; a word that isn't listed there is its
longest listed beginning or `<UNK>`, counted and predicted like any other. No context reaches into the sentence before.
"mean" is exp of the mean of the two negative log-likelihoods per token, the geometric mean of the two perplexities.

The formulas are those of Chen & Goodman (1998), An Empirical Study of Smoothing Techniques for Language Modeling,
TR-10-98, with one discount per order ("single") or three ("modified"):

    p_k(w | h) = (c(h w) - D(c(h w))) / sum_v c(h v)  +  gamma(h) p_{k-1}(w | h without its first word)
    gamma(h)   = sum_v D(c(h v)) / sum_v c(h v)          (1 for a context never seen)
    p_0(w)     = 1 / (number of words that can be predicted: all but the symbol the direction begins with)

c is the plain count at the highest order and for n-grams that begin with the begin symbol (nothing can stand before
it), and elsewhere the number of distinct words seen before the n-gram, as SRILM and KenLM have it.

A k-gram is one integer: the index of its first k-1 words among the sorted (k-1)-grams, times the vocabulary size, plus
the last word. Sorted arrays of these are the whole model, so that 21 M tokens fit in a few GB without a single object
per n-gram.
"""

import argparse
import json
import resource
import sys
import time
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elmo.errors import ConfigError, ElmoError, TextError
from elmo.lm.sums import KINDS
from elmo.text.characters import BEGIN_SENTENCE, END_SENTENCE
from elmo.text.sentences import read_sentences
from elmo.text.vocabulary import SPECIAL_WORDS, UNKNOWN, TargetIds, Vocabulary, is_beginning

# The id each direction begins a sentence with.
DIRECTIONS = {"forward": SPECIAL_WORDS.index(BEGIN_SENTENCE), "backward": SPECIAL_WORDS.index(END_SENTENCE)}
NO_GRAM = -1
# Where the counts of counts admit no estimate: KenLM's --discount_fallback values, and the middle of (0, 1).
FALLBACK_DISCOUNTS = {"modified": (0.5, 1.0, 1.5), "single": (0.5, 0.5, 0.5)}


# --------------------------------------------------------------------------------------------------------- text


def encode(sentences: Iterable[Sequence[str]], vocabulary: Vocabulary) -> np.ndarray:
    """int32 ids of `<S> w1 .. wn </S>`, sentence after sentence, in one row; empty sentences are skipped.

    A token spelled like a boundary symbol becomes `<UNK>`: in the row those two mean boundaries only.
    """
    ids = TargetIds(vocabulary.words)
    row = array("i")
    for tokens in filter(None, sentences):
        row.append(ids.begin)
        row.extend([ids.unknown if target in (ids.begin, ids.end) else target for target in map(ids.id, tokens)])
        row.append(ids.end)
    return np.frombuffer(row, dtype=np.int32) if row else np.empty(0, np.int32)


def facing(row: np.ndarray, direction: str) -> np.ndarray:
    """The row as the direction reads it. Backward is the row reversed: `</S>` then begins each sentence."""
    return row if direction == "forward" else np.ascontiguousarray(row[::-1])


# -------------------------------------------------------------------------------------------------------- model


@dataclass(frozen=True)
class Level:
    """The k-grams of one order: what they add to the probability of the order below.

    keys            int64 (grams,), sorted: index of the first k-1 words * vocabulary size + last word
    probabilities   float64 (grams,): discounted count over the count of the context
    gammas          float64 (contexts,): share of the order below, by index of the first k-1 words
    discounts       of counts 1, 2 and 3 or more
    estimated       False where the counts of counts admitted no estimate and the fallback values stand
    """

    keys: np.ndarray
    probabilities: np.ndarray
    gammas: np.ndarray
    discounts: tuple[float, float, float]
    estimated: bool

    def find(self, keys: np.ndarray) -> np.ndarray:
        """Index of each key, NO_GRAM where it was never seen."""
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, places, NO_GRAM)


@dataclass(frozen=True)
class KneserNey:
    """An interpolated Kneser-Ney model of one direction; `begin` is the id it starts each sentence from."""

    levels: tuple[Level, ...]
    vocabulary_size: int
    begin: int

    def log_probabilities(self, row: np.ndarray) -> np.ndarray:
        """ln p of every token of a row of sentences but the begin symbols; float64 (tokens,)."""
        targets = np.flatnonzero(row != self.begin)
        words = row[targets].astype(np.int64)
        result = np.full(len(targets), 1.0 / (self.vocabulary_size - 1))
        ending_here = np.zeros(len(row), dtype=np.int64)  # index of the gram that ends at each position: the empty one
        for level in self.levels:
            contexts = ending_here[targets - 1]
            result *= np.where(contexts == NO_GRAM, 1.0, level.gammas[contexts])
            grams = level.find(np.where(contexts == NO_GRAM, NO_GRAM, contexts * self.vocabulary_size + words))
            result += np.where(grams == NO_GRAM, 0.0, level.probabilities[grams])
            # A begin symbol is itself a 1-gram that can be a context; nothing longer ends there.
            ending_here = np.full(len(row), self.begin if level is self.levels[0] else NO_GRAM, dtype=np.int64)
            ending_here[targets] = grams
        return np.log(result)


def fit(row: np.ndarray, begin: int, vocabulary_size: int, order: int, discounts: str = "modified") -> KneserNey:
    """The model of a row of at least one sentence, each starting with id `begin`."""
    levels, num_contexts = [], 1
    for keys, counts in _count_orders(row, begin, vocabulary_size, order):
        levels.append(_build_level(keys, counts, num_contexts, vocabulary_size, discounts))
        num_contexts = len(keys)
    return KneserNey(tuple(levels), vocabulary_size, begin)


def _count_orders(
    row: np.ndarray, begin: int, vocabulary_size: int, order: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Sorted keys and Kneser-Ney counts of the 1-grams, 2-grams, .. up to the order.

    The 1-grams are the whole vocabulary, unseen words with count 0.
    """
    targets = np.flatnonzero(row != begin)
    keys, grams = np.arange(vocabulary_size), row
    counts = np.bincount(row, minlength=vocabulary_size)
    starts_sentence = keys == begin
    for length in range(2, order + 1):
        targets = targets[grams[targets - 1] != NO_GRAM]
        packed = grams[targets - 1] * np.int64(vocabulary_size) + row[targets]
        longer_keys, longer, longer_counts = np.unique(packed, return_inverse=True, return_counts=True)
        del packed
        suffixes = np.empty(len(longer_keys), dtype=np.int32)
        suffixes[longer] = grams[targets]
        num_words_before = np.bincount(suffixes, minlength=len(keys))
        yield keys, _without_begin(np.where(starts_sentence, counts, num_words_before), begin, length - 1)
        starts_sentence = starts_sentence[longer_keys // vocabulary_size]
        keys, counts = longer_keys, longer_counts
        grams = np.full(len(row), NO_GRAM, dtype=np.int32)
        grams[targets] = longer
    yield keys, _without_begin(counts, begin, order)


def _without_begin(counts: np.ndarray, begin: int, length: int) -> np.ndarray:
    """The begin symbol is never predicted, so as a 1-gram it counts nothing."""
    if length == 1:
        counts[begin] = 0
    return counts


def _build_level(keys: np.ndarray, counts: np.ndarray, num_contexts: int, vocabulary_size: int, kind: str) -> Level:
    discounts, estimated = estimate_discounts(counts, kind)
    contexts = keys // vocabulary_size
    discount = np.array([0.0, *discounts])[np.minimum(counts, 3)]
    totals = np.bincount(contexts, weights=counts, minlength=num_contexts)
    gammas = np.ones(num_contexts)  # a context that nothing follows leaves everything to the order below
    np.divide(np.bincount(contexts, weights=discount, minlength=num_contexts), totals, out=gammas, where=totals > 0)
    return Level(keys, (counts - discount) / totals[contexts], gammas, discounts, estimated)


def estimate_discounts(counts: np.ndarray, kind: str) -> tuple[tuple[float, float, float], bool]:
    """Discounts of counts 1, 2 and 3 or more from the counts of counts, and whether they could be estimated.

    "single": D = n1 / (n1 + 2 n2) for all; "modified": D_j = j - (j + 1) D n_{j+1} / n_j.
    Where a needed n_j is 0 or a D_j leaves [0, j], which happens in tiny or pruned sets, the fallback values stand.
    """
    n = [int(np.count_nonzero(counts == j)) for j in range(5)]
    if all(n[1 : 3 if kind == "single" else 5]):
        single = n[1] / (n[1] + 2 * n[2])
        if kind == "single":
            return (single, single, single), True
        one, two, three = (j - (j + 1) * single * n[j + 1] / n[j] for j in (1, 2, 3))
        if 0 <= one <= 1 and 0 <= two <= 2 and 0 <= three <= 3:
            return (one, two, three), True
    return FALLBACK_DISCOUNTS[kind], False


# --------------------------------------------------------------------------------------------------------- run


def evaluate(
    train: np.ndarray, tests: Sequence[np.ndarray], vocabulary_size: int, order: int, discounts: str = "modified"
) -> tuple[dict[str, list[np.ndarray]], dict[str, list[dict]]]:
    """Nats of each prediction of each test row as it is read, and each level's facts, both by direction."""
    nats, facts = {}, {}
    for direction, begin in DIRECTIONS.items():
        report(f"counting the {order}-grams, {direction}")
        model = fit(facing(train, direction), begin, vocabulary_size, order, discounts)
        report(f"scoring, {direction}")
        nats[direction] = [-model.log_probabilities(facing(row, direction)) for row in tests]
        facts[direction] = [
            {"num_ngrams": len(level.keys), "discounts": level.discounts, "discounts_estimated": level.estimated}
            for level in model.levels
        ]
        del model  # two models at once would double the memory
    return nats, facts


def describe(path: Path, row: np.ndarray) -> dict:
    """What a text holds. `oov_share` is the share of `<UNK>` among its words, boundaries not counted."""
    num_sentences = int(np.count_nonzero(row == DIRECTIONS["forward"]))
    num_words = len(row) - 2 * num_sentences
    num_unknown = int(np.count_nonzero(row == SPECIAL_WORDS.index(UNKNOWN)))
    return {
        "file": str(path),
        "num_sentences": num_sentences,
        "num_words": num_words,
        "oov_share": num_unknown / num_words,
    }


def combine(nats: dict[str, np.ndarray]) -> dict:
    """Nats per token and perplexity of the two directions and of both; both predict as many tokens."""
    means = {direction: float(values.mean()) for direction, values in nats.items()}
    means["mean"] = sum(means.values()) / len(means)
    return {"nats_per_token": means, "perplexity": {name: float(np.exp(value)) for name, value in means.items()}}


def by_kind(row: np.ndarray, nats: dict[str, np.ndarray], vocabulary: Vocabulary) -> dict:
    """The same for the predictions of each kind, as `elmo perplexity` tells them apart."""
    targets = {direction: facing(row, direction) for direction in DIRECTIONS}
    targets = {direction: read[read != DIRECTIONS[direction]] for direction, read in targets.items()}
    kinds = entry_kinds(vocabulary)
    found = {}
    for place, kind in enumerate(KINDS):
        chosen = {direction: nats[direction][kinds[ids] == place] for direction, ids in targets.items()}
        if len(chosen["forward"]):
            found[kind] = {"count": len(chosen["forward"]), **combine(chosen)}
    return found


def entry_kinds(vocabulary: Vocabulary) -> np.ndarray:
    """(entries,) the kind of prediction each entry of the vocabulary is, as a place in KINDS."""
    special = {UNKNOWN: "unknown", BEGIN_SENTENCE: "boundary", END_SENTENCE: "boundary"}
    names = (special.get(word, "beginning" if is_beginning(word) else "listed") for word in vocabulary.words)
    return np.fromiter(map(KINDS.index, names), np.int8, len(vocabulary))


def load(path: Path, vocabulary: Vocabulary) -> np.ndarray:
    """The ids of a text file. Raises TextError if it holds no sentence."""
    report(f"reading {path}")
    row = encode(read_sentences(path), vocabulary)
    if not len(row):
        raise TextError(f"{path}:1: no sentence found. Every line is blank. Pass a file with one sentence a line.")
    return row


def report(message: str) -> None:
    print(f"[{time.process_time():6.1f} s of CPU] {message}", file=sys.stderr, flush=True)


def run(options: argparse.Namespace) -> dict:
    """Everything the command line asks for, as one JSON-ready record."""
    started = time.monotonic()
    if options.order < 1:
        raise ConfigError(f"order is {options.order}. A 1-gram is the shortest there is. Use --order 1 or more.")
    vocabulary = Vocabulary.read(options.vocabulary)
    train = load(options.train, vocabulary)
    tests = [load(path, vocabulary) for path in options.test]
    nats, facts = evaluate(train, tests, len(vocabulary), options.order, options.discounts)
    results = []
    for index, (path, row) in enumerate(zip(options.test, tests, strict=True)):
        text = describe(path, row)
        text["num_predicted_tokens"] = text["num_words"] + text["num_sentences"]  # the words and one boundary each
        of_text = {direction: nats[direction][index] for direction in DIRECTIONS}
        results.append(text | combine(of_text) | {"kinds": by_kind(row, of_text, vocabulary)})
    return {
        "model": "interpolated Kneser-Ney",
        "order": options.order,
        "discounts": options.discounts,
        "vocabulary": {"file": str(options.vocabulary), "size": len(vocabulary)},
        "train": describe(options.train, train),
        "tests": results,
        "levels": facts,
        "seconds": time.monotonic() - started,
        "cpu_seconds": time.process_time(),
        "peak_memory_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--train", type=Path, required=True, help="text to count, one sentence a line")
    parser.add_argument("--test", type=Path, required=True, action="append", help="text to score; may be repeated")
    parser.add_argument("--vocabulary", type=Path, required=True, help="<S>, </S>, <UNK>, then words, one a line")
    parser.add_argument("--order", type=int, default=3, help="longest n-gram (default 3)")
    parser.add_argument("--discounts", choices=sorted(FALLBACK_DISCOUNTS), default="modified")
    parser.add_argument("--json", type=Path, help="write the result here too")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    try:
        result = json.dumps(run(options), indent=2, ensure_ascii=False)
        print(result)
        if options.json:
            options.json.write_text(result + "\n", encoding="utf-8")
    except (ElmoError, OSError) as error:
        print(f"kneser_ney: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
