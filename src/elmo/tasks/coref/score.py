"""MUC, B3, CEAF-phi4 and their average, as the CoNLL reference scorer 8.01 computes them.

Mentions match if their first and last tokens do. Each metric is a fraction for recall and one for precision, whose
numerators and denominators are summed over all documents before they are divided. With key clusters K and response
clusters R, recall being

    MUC        sum over k of |k| - parts of k in R         / sum over k of |k| - 1
    B3         sum over k, r of |k & r|^2 / |k|            / sum over k of |k|
    CEAF-phi4  best one-to-one sum of 2 |k & r| / (|k| + |r|)  / |K|

and precision the same with K and R exchanged. The percentages of a metric are cut to two decimals, as the scorer prints
them: 2/3 is 66.66; nothing divided by nothing is 0. Clusters of one mention count in B3 and CEAF, not in MUC.
Source: Pradhan et al. 2014; Vilain et al. 1995, Bagga and Baldwin 1998, Luo 2005.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from elmo.errors import TextError
from elmo.process.extra_library import extra_library
from elmo.tasks.coref.documents import Document, Mention
from elmo.tasks.coref.read import read_documents
from elmo.tasks.lines import require_same_sentences

Clusters = Sequence[Sequence[Mention]]

AVERAGED = ("muc", "b3", "ceaf_phi4")
Ratio = tuple[float, float]
"""Numerator and denominator."""

_SUMS = ("recall_numerator", "recall_denominator", "precision_numerator", "precision_denominator")


def coreference_scores(documents: Iterable[tuple[Clusters, Clusters]]) -> dict[str, Any]:
    """The figures of "muc", "b3", "ceaf_phi4" and "mentions", over (key, response) of each document, and two averages.

    `average_f1`: the mean of the exact F1s of the three metrics, by which models are compared; `printed_average_f1`:
    that of the F1s as they are printed, which papers report.
    A mention in two clusters of one side counts in the first only. Where the key has clusters of one mention,
    `without_singletons` has the same figures without such clusters on either side.
    """
    pairs = [(_unique(key), _unique(response)) for key, response in documents]
    scores = _scores(pairs)
    if any(len(cluster) == 1 for key, _ in pairs for cluster in key):
        scores["without_singletons"] = _scores([(_linked(key), _linked(response)) for key, response in pairs])
    return scores


def document_counts(key: Clusters, response: Clusters) -> dict[str, tuple[float, float, float, float]]:
    """What a document adds to the metrics of the average: numerator and denominator of precision, then of recall."""
    counts = _counts(_unique(key), _unique(response))
    return {name: (*precision, *recall) for name, (recall, precision) in counts.items() if name in AVERAGED}


def num_repeated(clusters: Clusters) -> int:
    """How many mentions are repetitions: an earlier cluster, or the same one, has them already."""
    mentions = [mention for cluster in clusters for mention in cluster]
    return len(mentions) - len(set(mentions))


def _scores(pairs: Sequence[tuple[list[set[Mention]], list[set[Mention]]]]) -> dict[str, Any]:
    counts = [_counts(key, response) for key, response in pairs]
    exact, figures = {}, {}
    for name in (*AVERAGED, "mentions"):
        # numerator and denominator of recall, then of precision
        sums = [float(sum(count[name][side][part] for count in counts)) for side in (0, 1) for part in (0, 1)]
        recall, precision = (sums[at] / sums[at + 1] if sums[at + 1] else 0.0 for at in (0, 2))
        exact[name] = 2 * recall * precision / (recall + precision) if recall + precision else 0.0
        shares = {"f1": exact[name], "recall": recall, "precision": precision}
        figures[name] = {**{key: _cut(share) for key, share in shares.items()}, **dict(zip(_SUMS, sums, strict=True))}
    return {
        "average_f1": 100 * sum(exact[name] for name in AVERAGED) / len(AVERAGED),
        "printed_average_f1": sum(figures[name]["f1"] for name in AVERAGED) / len(AVERAGED),
        **figures,
    }


def _counts(key: list[set[Mention]], response: list[set[Mention]]) -> dict[str, tuple[Ratio, Ratio]]:
    """(recall, precision) of a document by metric."""
    overlaps, turned = _overlaps(key, response), _overlaps(response, key)
    aligned = _aligned(key, response, overlaps)
    found = sum(sum(row.values()) for row in overlaps)
    return {
        "muc": (_muc(key, overlaps), _muc(response, turned)),
        "b3": (_b3(key, overlaps), _b3(response, turned)),
        "ceaf_phi4": ((aligned, len(key)), (aligned, len(response))),
        "mentions": ((found, sum(map(len, key))), (found, sum(map(len, response)))),
    }


def _cut(share: float) -> float:
    return int(share * 10_000) / 100


def _unique(clusters: Clusters) -> list[set[Mention]]:
    seen: set[Mention] = set()
    found = []
    for cluster in clusters:
        own = set(cluster) - seen
        seen |= own
        if own:
            found.append(own)
    return found


def _linked(clusters: list[set[Mention]]) -> list[set[Mention]]:
    return [cluster for cluster in clusters if len(cluster) > 1]


def _overlaps(clusters: list[set[Mention]], others: list[set[Mention]]) -> list[dict[int, int]]:
    """For each cluster, how many of its mentions each of the other side's clusters has; those with none left out."""
    place = {mention: number for number, other in enumerate(others) for mention in other}
    found: list[dict[int, int]] = []
    for cluster in clusters:
        row: dict[int, int] = {}
        for mention in cluster:
            if mention in place:
                row[place[mention]] = row.get(place[mention], 0) + 1
        found.append(row)
    return found


def _muc(clusters: list[set[Mention]], overlaps: list[dict[int, int]]) -> Ratio:
    """Links found and links there are. Mentions that the other side doesn't have are parts of their own."""
    links = sum(sum(row.values()) - len(row) for row in overlaps)
    return links, sum(len(cluster) - 1 for cluster in clusters)


def _b3(clusters: list[set[Mention]], overlaps: list[dict[int, int]]) -> Ratio:
    rows = zip(clusters, overlaps, strict=True)
    shared = sum(sum(count**2 for count in row.values()) / len(cluster) for cluster, row in rows)
    return shared, sum(map(len, clusters))


def _aligned(key: list[set[Mention]], response: list[set[Mention]], overlaps: list[dict[int, int]]) -> float:
    """The best sum of phi4 over one-to-one pairs of clusters."""
    assignment, total = assignment_solver(), 0.0
    for rows, columns in _components(overlaps):
        gains = np.array(
            [
                [2 * overlaps[row].get(column, 0) / (len(key[row]) + len(response[column])) for column in columns]
                for row in rows
            ]
        )
        total += gains[assignment(gains, maximize=True)].sum().item()
    return total


def assignment_solver() -> Any:
    """scipy's. Raises MissingExtraError."""
    return extra_library("scipy.optimize", "torch", "scoring coreference").linear_sum_assignment


def _components(overlaps: list[dict[int, int]]) -> Iterator[tuple[list[int], list[int]]]:
    """Key and response clusters that share mentions, directly or through others. No pair across two of these has a
    gain, so each is aligned by itself, at a cost that doesn't grow with the whole document."""
    rows_of: dict[int, list[int]] = {}
    for row, columns in enumerate(overlaps):
        for column in columns:
            rows_of.setdefault(column, []).append(row)
    seen: set[int] = set()
    for first in range(len(overlaps)):
        if first in seen or not overlaps[first]:
            continue
        rows, columns, ahead = [first], dict[int, None](), [first]
        seen.add(first)
        while ahead:
            for column in overlaps[ahead.pop()]:
                columns[column] = None
                fresh = [row for row in rows_of[column] if row not in seen]
                seen.update(fresh)
                rows += fresh
                ahead += fresh
        yield rows, list(columns)


def score_documents(key: list[Document], response: list[Document]) -> dict[str, Any]:
    """`coreference_scores` of the documents of the key.

    Documents are matched by name and part, in any order; JSON lines have both in one, as "wsj_0001_0" or
    "wsj_0001_000". One that the response lacks counts as one without clusters; one that the key lacks is ignored.
    Raises TextError for a response that has none of the documents, and for a document of other words.
    """
    found = {name: document for document in response for name in _names(document)}
    found |= {document.key: document for document in response}
    matched = [next((found[name] for name in _names(document) if name in found), None) for document in key]
    if key and response and not any(matched):
        raise TextError(
            f"{response[0].source}: {response[0].name!r} and all other documents here are not in the key, which has "
            f"{key[0].name!r} ({key[0].source}). Score the response to this key."
        )
    pairs = []
    for document, other in zip(key, matched, strict=True):
        if other is not None:
            require_same_sentences([(document.source, document.tokens)], [(other.source, other.tokens)])
        pairs.append((document.clusters, () if other is None else other.clusters))
    scores = coreference_scores(pairs)
    return {
        **scores,
        "documents": len(key),
        "documents_without_response": sum(other is None for other in matched),
    }


def score_files(
    key: Path | str, response: Path | str, encoding: str = "utf-8", errors: Literal["strict", "skip"] = "strict"
) -> dict[str, Any]:
    """`score_documents` of two files. `errors`: "skip" leaves out documents of the key that can't be read."""
    return score_documents(read_documents(key, encoding, errors), read_documents(response, encoding))


def _names(document: Document) -> list[Hashable]:
    """Its name and part, and what both are in one."""
    name, part = document.key
    return [document.key, document.name, *([f"{name}_{int(part)}"] if part.isdecimal() else [])]
