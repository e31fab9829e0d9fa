"""Controls made of words and their part-of-speech tags: answers without vectors, and random labels.

Source: Hewitt and Liang 2019 (EMNLP) for control tasks: each word type gets one random tag, so that a probe can only
learn it by heart. A layer's selectivity is its accuracy minus that on the control task.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from elmo.tasks.columns import TaggedSentence


def majority_tags(train: Sequence[TaggedSentence], test: Sequence[TaggedSentence]) -> list[str]:
    """For each test token its word's most frequent training tag; for an unseen word the most frequent tag of words that
    occur once in training."""
    counts: dict[str, Counter[str]] = {}
    for sentence in train:
        for word, tag in zip(sentence.tokens, sentence.tags, strict=True):
            counts.setdefault(word, Counter())[tag] += 1
    once = Counter(tag for found in counts.values() if found.total() == 1 for tag in found)
    fallback = (once or Counter(tag for sentence in train for tag in sentence.tags)).most_common(1)[0][0]
    best = {word: found.most_common(1)[0][0] for word, found in counts.items()}
    return [best.get(word, fallback) for sentence in test for word in sentence.tokens]


def control_tags(splits: Sequence[Sequence[TaggedSentence]], seed: int) -> list[list[TaggedSentence]]:
    """The same sentences with a random tag for each word type, drawn by the tags' frequencies in the first split."""
    random = np.random.default_rng(seed)
    counts = Counter(tag for sentence in splits[0] for tag in sentence.tags)
    tags, shares = list(counts), np.array(list(counts.values())) / counts.total()
    words = sorted({word for split in splits for sentence in split for word in sentence.tokens})
    drawn = dict(zip(words, (tags[place] for place in random.choice(len(tags), len(words), p=shares)), strict=True))
    return [
        [TaggedSentence(one.tokens, tags=[drawn[word] for word in one.tokens]) for one in split] for split in splits
    ]


def unseen(train: Sequence[TaggedSentence], test: Sequence[TaggedSentence]) -> Bool[np.ndarray, " tokens"]:
    """Whether the word of each test token doesn't occur in training."""
    known = {word for sentence in train for word in sentence.tokens}
    return np.array([word not in known for sentence in test for word in sentence.tokens], dtype=bool)


def ambiguous(train: Sequence[TaggedSentence], test: Sequence[TaggedSentence]) -> Bool[np.ndarray, " tokens"]:
    """Whether the word of each test token has two tags or more in training."""
    tags: dict[str, set[str]] = {}
    for sentence in train:
        for word, tag in zip(sentence.tokens, sentence.tags, strict=True):
            tags.setdefault(word, set()).add(tag)
    return np.array([len(tags.get(word, ())) > 1 for sentence in test for word in sentence.tokens], dtype=bool)
