"""What ELMo is worth in search: questions and the paragraphs that answer them, each system's order of the paragraphs.

    python runs/quality/retrieval.py --data F ... [--test F ...] [--model MODEL] [--static VECTORS]
        [--encoder NAME[=FILES]] [-o RECORD]

Files are in SQuAD's format (.xz is unpacked). The paragraphs of every second article of --data and their questions are
the set on which settings are chosen, the others the set that is read once, as is that of each --test file. A question
has one right paragraph, its own. Systems: random order; BM25 of words or of pairs of letters; vectors of the static
file and of each layer of the biLM and of other encoders, by the mean of a text's vectors and by `elmo.maxsim`, tokens
weighted alike or by idf, vectors as they are or without their mean; and BM25 with the best MaxSim of the biLM added.
Chosen for each kind: layer, weights, mean. Intervals are of 2,000 resamplings of the articles, paired with BM25. Prints
Markdown tables.
"""

import argparse
import itertools
import json
import lzma
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from elmo import Embedder, maxsim
from elmo.analysis.neighbors.context_index import unit
from elmo.analysis.record import begun
from elmo.disk.json_file import write_json
from elmo.embed.encoder import Encoder
from elmo.errors import ElmoError, TextError
from elmo.static.vectors import vectors_for_words
from elmo.tasks.tokens.frozen_layers import find_encoder
from elmo_paper.analysis.measures import between

K1, B = 1.2, 0.75
SHARES = (0.1, 0.2, 0.5, 1.0, 2.0)
DRAWS = 2000
FIRST = 10
Tokens = list[str]
Vectors = Callable[[Sequence[Tokens]], list[np.ndarray]]
"""Texts -> an array (tokens, dim) for each."""
Scores = Callable[[], np.ndarray]
"""(questions, paragraphs)"""


@dataclass(frozen=True)
class Collection:
    """Paragraphs, and questions with the place of the paragraph that answers each and of its article."""

    name: str
    paragraphs: list[Tokens]
    questions: list[Tokens]
    answers: np.ndarray
    articles: np.ndarray


def read_articles(path: Path) -> list[list[tuple[str, list[str]]]]:
    """For each article its paragraphs and their questions. Raises TextError for another file."""
    opened = lzma.open if path.suffix == ".xz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            articles = json.load(file)["data"]
        return [
            [(it["context"], [one["question"] for one in it["qas"]]) for it in article["paragraphs"]]
            for article in articles
        ]
    except (OSError, ValueError, KeyError, TypeError, lzma.LZMAError) as error:
        raise TextError(f"{path}: can't be read as SQuAD's JSON ({error}). Check the path.") from None


def collected(name: str, articles: Sequence, split: Callable[[list[str]], list[Tokens]], most: int) -> Collection:
    """`most`: questions, drawn from all of them. Equal paragraphs are one."""
    places: dict[str, int] = {}
    asked = []
    for number, article in enumerate(articles):
        for paragraph, questions in article:
            place = places.setdefault(paragraph, len(places))
            asked += [(question, place, number) for question in questions]
    if not asked:
        raise TextError(f"{name}: has no questions. Give a file with two articles or more.")
    drawn = np.sort(np.random.default_rng(0).permutation(len(asked))[:most])
    questions, answers, numbers = zip(*(asked[row] for row in drawn), strict=True)
    return Collection(name, split(list(places)), split(list(questions)), np.array(answers), np.array(numbers))


def words(text: Tokens) -> Tokens:
    """Terms of BM25."""
    return [token.lower() for token in text if any(map(str.isalnum, token))]


def pairs(text: Tokens) -> Tokens:
    """Two neighboring letters of a word are a term, as is usual where words have endings, as in Korean."""
    return [word[place : place + 2] for word in words(text) for place in range(max(1, len(word) - 1))]


def idf(texts: Sequence[Tokens]) -> Callable[[str], float]:
    """Lucene's: the logarithm of 1 + (N - n + 0.5) / (n + 0.5), n of N texts having the term."""
    found = Counter(term for text in texts for term in set(text))
    return lambda term: float(np.log1p((len(texts) - found[term] + 0.5) / (found[term] + 0.5)))


def bm25(data: Collection, terms: Callable[[Tokens], Tokens]) -> np.ndarray:
    """(questions, paragraphs)"""
    texts = [terms(text) for text in data.paragraphs]
    worth = idf(texts)
    lengths = np.array([len(text) for text in texts])
    counts: dict[str, np.ndarray] = {}
    for place, text in enumerate(texts):
        for term, count in Counter(text).items():
            counts.setdefault(term, np.zeros(len(texts), np.float32))[place] = count
    norms = K1 * (1 - B + B * lengths / lengths.mean())
    weights = {term: worth(term) * count / (count + norms) for term, count in counts.items()}
    scores = np.zeros((len(data.questions), len(texts)))
    for row, question in zip(scores, data.questions, strict=True):
        for term in terms(question):
            if term in weights:
                row += weights[term]
    return scores


def of_vectors(data: Collection, vectors: Vectors) -> Iterator[tuple[str, str, Scores]]:
    """(mean or MaxSim, how, scores) of each way to compare; what they share is computed once, and only if asked for."""
    worth = idf([[token.lower() for token in text] for text in data.paragraphs])
    starts = np.cumsum([0, *map(len, data.questions[:-1])])

    @cache
    def arrays(removed: bool) -> tuple[list[np.ndarray], list[np.ndarray]]:
        if not removed:
            return vectors(data.paragraphs), vectors(data.questions)
        known, asked = arrays(False)
        center = np.concatenate(known).mean(axis=0)
        return [array - center for array in known], [array - center for array in asked]

    @cache
    def largest(removed: bool) -> np.ndarray:
        known, asked = arrays(removed)
        return maxsim(np.concatenate(asked)[:, None], known)  # each token as a query of its own

    def weights(texts: Sequence[Tokens], weighted: bool) -> list[np.ndarray]:
        return [np.array([worth(token.lower()) if weighted else 1.0 for token in text]) for text in texts]

    def mean(removed: bool, weighted: bool) -> np.ndarray:
        both = zip(arrays(removed), (data.paragraphs, data.questions), strict=True)
        known, asked = (
            unit(np.stack([one @ array for one, array in zip(weights(texts, weighted), its, strict=True)]))
            for its, texts in both
        )
        return asked @ known.T

    def tokenwise(removed: bool, weighted: bool) -> np.ndarray:
        own = np.concatenate(weights(data.questions, weighted))[:, None]
        return np.add.reduceat(own * largest(removed), starts, axis=0) / np.add.reduceat(own, starts, axis=0)

    for removed, weighted in itertools.product((False, True), repeat=2):
        how = ", ".join(["idf"] * weighted + ["mean removed"] * removed) or "plain"
        yield "mean", how, partial(mean, removed, weighted)
        yield "MaxSim", how, partial(tokenwise, removed, weighted)


def ranks(scores: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Of the right paragraph, from 1; among equal scores the middle."""
    own = scores[np.arange(len(answers)), answers][:, None]
    return 1 + (scores > own).sum(axis=1) + ((scores == own).sum(axis=1) - 1) / 2


def reciprocal(found: np.ndarray) -> np.ndarray:
    """Each question's part of MRR@10."""
    return np.where(found <= FIRST, 1 / found, 0)


def resampled(values: np.ndarray, articles: np.ndarray) -> np.ndarray:
    """Means of the values of articles that are drawn with replacement; the same draws at every call."""
    sums, counts = (np.bincount(articles, weights=these) for these in (values, np.ones(len(values))))
    times = np.random.default_rng(0).multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=DRAWS)
    return (times @ sums) / np.maximum(times @ counts, 1)


class Systems:
    """Every kind of system with its settings; `choose` on one collection, then `read` others."""

    def __init__(self, encoders: dict[str, Vectors], bilm: str) -> None:
        self.encoders, self.bilm = encoders, bilm
        self.tried: dict[str, dict[str, float]] = {}
        """MRR@10 of each kind's settings on the set they are chosen on."""

    def scores(self, data: Collection) -> Iterator[tuple[str, str, Scores]]:
        """(kind, settings, scores)"""
        for name, terms in (("words", words), ("pairs of letters", pairs)):
            yield "BM25", name, partial(bm25, data, terms)
        for encoder, vectors in self.encoders.items():
            owner, _, layer = encoder.partition(", ")
            for way, how, scores in of_vectors(data, vectors):
                yield f"{way} of {owner}", ", ".join(filter(None, (layer, how))), scores

    def choose(self, data: Collection) -> dict[str, str]:
        """The best settings of each kind."""
        kept: dict[str, np.ndarray] = {}
        for kind, settings, compute in self.scores(data):
            scores = compute()
            tried = self.tried.setdefault(kind, {})
            tried[settings] = float(reciprocal(ranks(scores, data.answers)).mean())
            if tried[settings] == max(tried.values()):
                kept[kind] = scores
        chosen = {kind: max(tried, key=lambda one: tried[one]) for kind, tried in self.tried.items()}
        both = self.tried.setdefault(self.both, {})
        for share in SHARES:
            joined = self.joined(kept, share)
            both[str(share)] = float(reciprocal(ranks(joined, data.answers)).mean())
        return chosen | {self.both: max(both, key=lambda one: both[one])}

    @property
    def both(self) -> str:
        """The name of the sum."""
        return f"BM25 and MaxSim of {self.bilm}"

    def joined(self, kept: dict[str, np.ndarray], share: float) -> np.ndarray:
        """BM25 as a part of its best score of the question, and a share of MaxSim."""
        first = kept["BM25"]
        return first / np.maximum(first.max(axis=1, keepdims=True), 1e-9) + share * kept[f"MaxSim of {self.bilm}"]

    def read(self, data: Collection, chosen: dict[str, str]) -> dict[str, np.ndarray]:
        """The rank of each question's paragraph by each kind."""
        kept = {kind: compute() for kind, settings, compute in self.scores(data) if chosen[kind] == settings}
        kept[self.both] = self.joined(kept, float(chosen[self.both]))
        random = np.random.default_rng(0).random((len(data.questions), len(data.paragraphs)))
        return {kind: ranks(scores, data.answers) for kind, scores in ({"random order": random} | kept).items()}


def rows(data: Collection, found: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    """MRR@10 and recall@10 of each system, with intervals, and MRR@10 minus BM25's."""
    basis = reciprocal(found["BM25"])
    made = []
    for kind, its in found.items():
        measures = {
            "MRR@10": reciprocal(its),
            "recall@10": (its <= FIRST).astype(float),
            "less BM25": reciprocal(its) - basis,
        }
        means = {
            name: [float(values.mean()), *between(resampled(values, data.articles))]
            for name, values in measures.items()
        }
        made.append({"system": kind, **means})
    return sorted(made, key=lambda row: row["MRR@10"][0])


def table(data: Collection, made: list[dict[str, Any]], chosen: dict[str, str]) -> str:
    """In Markdown."""
    lines = [
        f"{data.name}: {len(data.questions):,} questions, {len(data.paragraphs):,} paragraphs of "
        f"{data.articles.max() + 1} articles\n",
        "| system | settings | MRR@10 | recall@10 | MRR@10 minus BM25's |\n|---|---|---|---|---|",
    ]
    for row in made:
        shown = ["{:.3f} ({:.3f} to {:.3f})".format(*row[name]) for name in ("MRR@10", "recall@10", "less BM25")]
        lines.append(f"| {row['system']} | {chosen.get(row['system'], '')} | {' | '.join(shown)} |")
    return "\n".join([*lines, ""])


def encoders_of(embedder: Encoder, name: str, static: str | None, texts: Sequence[Tokens]) -> dict[str, Vectors]:
    """Each static file and each layer by its name."""
    found: dict[str, Vectors] = {}
    if static:
        counts = Counter(token for text in texts for token in text)
        known = vectors_for_words(static, limit=1, counts=counts)
        found["static vectors"] = lambda them: [known.lookup(text) for text in them]

    @lru_cache(maxsize=2)  # the paragraphs and the questions of one set
    def layers_of(them: tuple[tuple[str, ...], ...]) -> list[np.ndarray]:
        return list(embedder.embed_iter(them))

    def of_layer(layer: int | None, them: Sequence[Tokens]) -> list[np.ndarray]:
        arrays = layers_of(tuple(map(tuple, them)))
        return [array.mean(axis=0) if layer is None else array[layer] for array in arrays]

    for layer in [*range(embedder.num_layers), None]:
        found[f"{name}, {'average' if layer is None else f'layer {layer}'}"] = partial(of_layer, layer)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the tables; writes the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", type=Path, required=True)
    parser.add_argument("--test", nargs="*", type=Path, default=[])
    parser.add_argument("--model", default="small-en")
    parser.add_argument("--static")
    parser.add_argument("--encoder", action="append", default=[], metavar="NAME[=FILES]", help="beside the biLM")
    parser.add_argument("--questions", type=int, default=300, help="of each set at most")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args(argv)
    start = time.process_time()
    embedder = Embedder.from_pretrained(given.model)
    articles = list(itertools.chain.from_iterable(map(read_articles, given.data)))

    def split(texts: list[str]) -> list[Tokens]:
        return [list(text) for text in embedder.reader.tokens(texts, "unicode")]

    names = " and ".join(dict.fromkeys(path.parent.name for path in given.data))
    chosen_on = collected(f"{names}, even articles", articles[::2], split, given.questions)
    tests = [collected(f"{names}, odd articles", articles[1::2], split, given.questions)]
    tests += [collected(path.parent.name, read_articles(path), split, given.questions) for path in given.test]
    texts = [text for data in (chosen_on, *tests) for text in (*data.paragraphs, *data.questions)]
    name = Path(given.model).name
    encoders = encoders_of(embedder, name, given.static, texts)
    named = (one.partition("=") for one in given.encoder)
    others = {other: find_encoder(other, files, device="cpu") for other, _, files in named}
    for other, encoder in others.items():
        encoders |= encoders_of(encoder, other, None, texts)
    systems = Systems(encoders, name)
    chosen = systems.choose(chosen_on)
    sets = []
    for data in tests:
        found = systems.read(data, chosen)
        made = rows(data, found)
        print(table(data, made, chosen))
        sizes = {"questions": len(data.questions), "paragraphs": len(data.paragraphs)}
        per_question = {kind: " ".join(f"{rank:g}" for rank in its) for kind, its in found.items()}
        own = {"rows": made, "articles": " ".join(map(str, data.articles)), "ranks": per_question}
        sets.append({"set": data.name, **sizes, **own})
    if given.output:
        described = embedder.describe()
        record = begun(
            "search",
            encoders={
                "model": given.model,
                **{key: described[key] for key in ("model_hash", "dtype")},
                "encoders": {other: {"hash": encoder.model_hash} for other, encoder in others.items()},
            },
            data={"data": given.data, "test": given.test, "static": [Path(given.static)] if given.static else []},
            settings={"questions": given.questions, "k1": K1, "b": B, "draws": DRAWS},
            command=["python", "runs/quality/retrieval.py", *sys.argv[1:]],
        )
        record |= {"chosen": chosen, "tried": systems.tried, "sets": sets, "cpu_seconds": time.process_time() - start}
        write_json(given.output, record)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ElmoError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
