"""What tells entailment without a network: the words of the hypothesis, and whether the premise has them too."""

from collections.abc import Sequence

from elmo.tasks.labels.classification import Prediction
from elmo.tasks.rules.majority import majority_rule
from elmo.tasks.rules.naive_bayes import naive_bayes_rule
from elmo.tasks.rules.rule import Rule
from elmo.tasks.snli.data import SentencePair


def rules_of(examples: Sequence[SentencePair]) -> list[Rule[SentencePair, Prediction]]:
    """The most frequent label; naive Bayes without the premise, and with it."""
    return [
        majority_rule(examples, _label),
        naive_bayes_rule(
            examples,
            _label,
            hypothesis_words,
            name="naive-bayes-hypothesis",
            label="rule: naive Bayes on the hypothesis alone",
        ),
        naive_bayes_rule(
            examples,
            _label,
            words_and_premise,
            label="rule: naive Bayes on the hypothesis, counting words of the premise separately",
        ),
    ]


def hypothesis_words(pair: SentencePair) -> list[str]:
    """In lower case."""
    return [word.lower() for word in pair.hypothesis]


def words_and_premise(pair: SentencePair) -> list[str]:
    """The hypothesis's words, each marked as known from the premise or as new."""
    premise = {word.lower() for word in pair.premise}
    return [f"{'known' if word in premise else 'new'}: {word}" for word in hypothesis_words(pair)]


def _label(pair: SentencePair) -> str:
    return pair.label
