"""What resolves coreference without learning: equal texts mean the same."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

from elmo.tasks.coref.documents import Document, Mention, Resolved
from elmo.tasks.rules.rule import Rule
from elmo.tasks.rules.runs import longest_runs

Text = tuple[str, ...]
"""Of a mention, in lower case."""
_LONGEST = 5


def rules_of(examples: Sequence[Document]) -> list[Rule[Document, Resolved]]:
    """One rule: names, and texts that are mostly mentions in the training data, corefer if they are equal."""
    texts = mention_texts(examples)
    label = "rule: equal names, and equal words that are mostly mentions in the training data, corefer"
    return [Rule("equal-texts", label, lambda documents: [equal_texts(one, texts) for one in documents])]


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
    """All spans within sentences, with their texts."""
    begin = 0
    for sentence in document.sentences:
        words = tuple(map(str.lower, sentence))
        for start in range(len(words)):
            for end in range(start + 1, min(start + _LONGEST, len(words)) + 1):
                yield (begin + start, begin + end - 1), words[start:end]
        begin += len(words)


def _names(document: Document) -> Iterator[Mention]:
    """The longest possible runs of words with a capital letter; a sentence's first word may have it for its place."""
    begin = 0
    for sentence in document.sentences:
        yield from longest_runs((word[0].isupper() for word in sentence[1:]), begin + 1)
        begin += len(sentence)
