"""Predicted tags, their accuracy over all, known and unknown tokens, and the simplest tagger as a rule."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from elmo.tasks.columns import TaggedSentence
from elmo.tasks.counts import added, percentage
from elmo.tasks.labels import classification_counts, classification_scores
from elmo.tasks.rules import most_frequent
from elmo.tasks.task import Counts, Plain, Rule


@dataclass(frozen=True)
class TokenTags:
    """A sentence's predicted tags."""

    tags: list[str]
    known: list[bool] = field(default_factory=list)
    """Whether each token is a word of the training data; [] if unknown, as for another system's predictions."""


def tag_scores(gold: Sequence[Sequence[str]], predicted: Sequence[TokenTags]) -> dict[str, Plain]:
    """`accuracy` over all tokens; `accuracy_known` and `accuracy_unknown`, over those that the training data have and
    don't have, 0 if there are none; `macro_f1`, the mean F1 of the gold tags; the counts `tokens` and `unknown`; and
    `per_label`, see `classification_scores`."""
    tags = [tag for sentence in gold for tag in sentence]
    found = [tag for sentence in predicted for tag in sentence.tags]
    scores = classification_scores(tags, found)
    known = [is_known for sentence in predicted for is_known in sentence.known]
    figures: dict[str, Plain] = {}
    if len(known) == len(tags):
        right = [one == other for one, other in zip(tags, found, strict=True)]
        num_known = sum(known)
        known_right = sum(one and is_known for one, is_known in zip(right, known, strict=True))
        figures = {
            "accuracy_known": percentage(known_right, num_known),
            "accuracy_unknown": percentage(sum(right) - known_right, len(tags) - num_known),
            "unknown": len(tags) - num_known,
        }
    return {"accuracy": scores["accuracy"], **figures, "tokens": len(tags), **scores}


def tag_counts(gold: Sequence[str], predicted: TokenTags) -> Counts:
    """One sentence's (right, wrongly given, missed) tokens of each tag."""
    return added(classification_counts(*tags) for tags in zip(gold, predicted.tags, strict=True))


def majority_tags(examples: Sequence[TaggedSentence]) -> Rule[TaggedSentence, TokenTags]:
    """For each word its most frequent tag in the training data, for other words the most frequent one of all."""
    by_word: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for example in examples:
        for token, tag in zip(example.tokens, example.tags, strict=True):
            by_word[token][tag] += 1
    best = {word: most_frequent(counts) for word, counts in by_word.items()}
    usual = most_frequent(Counter(tag for example in examples for tag in example.tags))

    def predicted(sentence: TaggedSentence) -> TokenTags:
        return TokenTags(
            [best.get(token, usual) for token in sentence.tokens], [token in best for token in sentence.tokens]
        )

    return Rule(
        "majority-of-word",
        f"rule: each word's most frequent tag (of unknown words: {usual})",
        lambda sentences: [predicted(sentence) for sentence in sentences],
    )
