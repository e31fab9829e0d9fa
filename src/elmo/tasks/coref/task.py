"""Coreference as a task."""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from elmo.errors import ConfigError
from elmo.tasks.coref.conll import write_conll
from elmo.tasks.coref.documents import (
    NO_HEADS,
    CorefSettings,
    Document,
    Mention,
    Resolved,
    WindowLimits,
    key_of,
    random_window,
)
from elmo.tasks.coref.read import read_documents, read_unlabelled, write_jsonlines, write_text
from elmo.tasks.coref.score import assignment_solver, coreference_scores, document_counts, num_repeated, score_files
from elmo.tasks.counts import percentage
from elmo.tasks.labels import characters_of, require_learnable
from elmo.tasks.lines import require_own_name
from elmo.tasks.rules import longest_runs
from elmo.tasks.task import Counts, Plain, Rule, Scores, Task, TextReading, Vocabulary
from elmo.text.reading.settings import AUTO
from elmo.text.tokenizer import tokenizer

if TYPE_CHECKING:
    import numpy as np


Text = tuple[str, ...]
"""Of a mention, in lower case."""
_LONGEST = 5


def mention_texts(examples: Iterable[Document]) -> set[Text]:
    """The texts of at most five tokens that are a mention at least every second time that they occur."""
    mentions, occurrences = Counter[Text](), Counter[Text]()
    for document in examples:
        gold = {mention for cluster in document.clusters for mention in cluster}
        for span, text in _spans(document):
            occurrences[text] += 1
            if span in gold:
                mentions[text] += 1
    return {text for text, count in mentions.items() if 2 * count >= occurrences[text]}


def equal_texts(document: Document, texts: Collection[Text]) -> Resolved:
    """Clusters of names, and of spans that have one of the texts; those that are alone are only `kept`."""
    names = set(_names(document))
    clusters: defaultdict[Text, list[Mention]] = defaultdict(list)
    for span, text in _spans(document):
        if span in names or text in texts:
            clusters[text].append(span)
    found = [cluster for cluster in clusters.values() if len(cluster) > 1]
    return Resolved(found, kept=sorted(chain.from_iterable(clusters.values())))


def _spans(document: Document) -> Iterator[tuple[Mention, Text]]:
    for sentence, (begin, _) in zip(document.sentences, document.ranges, strict=True):
        words = tuple(map(str.lower, sentence))
        for start in range(len(words)):
            for end in range(start + 1, min(start + _LONGEST, len(words)) + 1):
                yield (begin + start, begin + end - 1), words[start:end]


def _names(document: Document) -> Iterator[Mention]:
    """The longest possible runs of words with a capital letter; a sentence's first word may have it for its place."""
    for sentence, (begin, _) in zip(document.sentences, document.ranges, strict=True):
        yield from longest_runs((word[0].isupper() for word in sentence[1:]), begin + 1)


class Coreference(Task[CorefSettings, Document, Resolved]):
    """Documents in CoNLL-2012 columns, JSON lines or raw text; predictions are clusters of mentions."""

    name = "coref"
    summary = "coreference: which spans refer to the same thing, in CoNLL-2012 columns, JSON lines or raw text"
    metric = "average_f1"
    metric_kind = "average_f1"
    settings = CorefSettings
    model = "elmo.tasks.coref.model:Resolver"
    reading_flags = ("tokenizer", "encoding", "errors")
    places = ("input",)

    def read(self, path: Path | str, settings: CorefSettings) -> list[Document]:
        return read_documents(path, settings.resolver.encoding, settings.resolver.errors)

    def read_unlabelled(self, path: Path | str, settings: CorefSettings, reading: TextReading) -> Iterator[Document]:
        tokenize = tokenizer(settings.resolver.text_tokenizer) if reading.tokenizer == AUTO else reading.tokenize
        return iter(read_unlabelled(path, reading.encoding, tokenize, reading.on_bad))

    def sentences(self, example: Document) -> Sequence[Sequence[str]]:
        return example.sentences

    def training(self, examples: list[Document], settings: CorefSettings) -> list[Document]:
        limits = WindowLimits(settings.resolver.window_sentences, settings.resolver.window_tokens)
        return [replace(document, limits=limits) for document in examples if document.num_tokens]

    def drawn(self, example: Document, random: "np.random.Generator") -> Document:
        return example if example.limits is None else random_window(example, example.limits, random)

    def vocabulary(self, examples: list[Document], settings: CorefSettings) -> Vocabulary:
        step = "Mentions are the `clusters` of JSON lines and the coreference column of CoNLL files."
        require_learnable(["mention" for it in examples for _ in it.clusters], 1, examples[0].source, step)
        words = {word for document in examples for word in document.tokens}
        genres = {settings.resolver.genre_of(document.name) for document in examples}
        return {"characters": characters_of(words), "genres": sorted(genres - {""})}

    def check_settings(self, settings: CorefSettings) -> None:
        super().check_settings(settings)
        if not settings.tokens.static and not settings.resolver.character_filters:
            raise ConfigError(NO_HEADS)
        assignment_solver()  # that scores need after the first epoch

    def score(self, examples: Sequence[Document], predictions: Sequence[Resolved]) -> Scores:
        pairs = [
            (example.clusters, prediction.clusters) for example, prediction in zip(examples, predictions, strict=True)
        ]
        return {
            **coreference_scores(pairs),
            "documents": len(examples),
            "repeated_in_key": sum(num_repeated(example.clusters) for example in examples),
            "pruning_recall": _pruning_recall(examples, predictions),
        }

    def counts(self, example: Document, prediction: Resolved) -> Counts:
        return document_counts(example.clusters, prediction.clusters)

    def rules(self, examples: list[Document]) -> list[Rule[Document, Resolved]]:
        """One rule: names, and texts that are mostly mentions in the training data, corefer if they are equal."""
        texts = mention_texts(examples)
        label = "rule: equal names, and equal words that are mostly mentions in the training data, corefer"
        return [Rule("equal-texts", label, lambda documents: [equal_texts(one, texts) for one in documents])]

    def score_files(self, gold: Path | str, predicted: Path | str, settings: CorefSettings) -> Scores:
        return score_files(gold, predicted, settings.resolver.encoding, settings.resolver.errors)

    def remarks(self, scores: Scores) -> list[str]:
        found = []
        mentions, repeated = scores["mentions"], scores.get("repeated_in_key")
        num_documents, missing = scores["documents"], scores.get("documents_without_response")
        if missing:
            found.append(
                f"{missing} of the key's {num_documents} documents are not in it, by name and part; all of their "
                "mentions count as missed"
            )
        if isinstance(mentions, Mapping) and not mentions["precision_denominator"] and missing != num_documents:
            found.append("no mention is predicted at all: train longer, or on more documents")
        if repeated:
            found.append(f"{repeated} gold mentions are in two clusters: scores count them in the first one only")
        return found

    def write(self, pairs: Iterable[tuple[Document, Resolved]]) -> Iterator[str]:
        """The layout of each document. Raises TextError for two documents of one name, of two files perhaps."""
        seen: dict[Hashable, str] = {}
        for document, resolved in pairs:
            if document.layout != "text":
                require_own_name(*key_of(document), seen)
            yield from _lines(document, resolved)

    def to_json(self, example: Document, prediction: Resolved) -> Mapping[str, Plain]:
        tokens = example.tokens
        mentions = [[" ".join(tokens[first : last + 1]) for first, last in own] for own in prediction.clusters]
        return {
            "document": example.name,
            "sentences": example.sentences,
            "prediction": prediction.clusters,
            "mentions": mentions,
        }


def _lines(document: Document, resolved: Resolved) -> Iterator[str]:
    if document.layout == "text":
        return write_text(document, resolved.clusters)
    named = {str(number): cluster for number, cluster in enumerate(resolved.clusters, start=1)}
    return write_jsonlines(document, named) if document.layout == "jsonlines" else write_conll(document, named)


def _pruning_recall(examples: Sequence[Document], predictions: Sequence[Resolved]) -> float:
    """Percentage of the gold mentions that were candidates to the end."""
    found = total = 0
    for example, prediction in zip(examples, predictions, strict=True):
        gold = set(chain.from_iterable(example.clusters))
        found += len(gold & set(prediction.kept))
        total += len(gold)
    return percentage(found, total)


TASK = Coreference()
