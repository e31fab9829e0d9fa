"""What finds entities without learning: the names of the training data, and the handles of tweets."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from elmo.tasks.ner.data import TaggedSentence
from elmo.tasks.rules.rule import Rule
from elmo.tasks.tags import Span

_HANDLE = "@"
_PERSON = "PER"

Names = dict[tuple[str, ...], str]


def rules_of(examples: Sequence[TaggedSentence]) -> list[Rule[TaggedSentence, list[Span]]]:
    """The names of the training data; where "@" is tagged as a person there, also all handles as persons."""
    names = names_in(examples)
    longest = max(map(len, names), default=0)

    def find_names(sentences: Sequence[TaggedSentence]) -> list[list[Span]]:
        return [longest_matches(sentence.tokens, names, longest) for sentence in sentences]

    def find_handles(sentences: Sequence[TaggedSentence]) -> list[list[Span]]:
        return [handles(sentence.tokens) for sentence in sentences]

    found = [Rule("training-names", "rule: names of the training data", find_names)]
    tagged = {(*example.tokens[start:end], label) for example in examples for start, end, label in example.spans}
    if (_HANDLE, _PERSON) in tagged:
        found.append(Rule("handles", 'rule: "@" and the token after it are persons', find_handles))
    return found


def names_in(examples: Iterable[TaggedSentence]) -> Names:
    """The names that have one label wherever they are tagged, with it.

    As in the baseline of the shared task CoNLL-2003 (Tjong Kim Sang and De Meulder 2003, section 4).
    """
    labels: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for example in examples:
        for start, end, label in example.spans:
            labels[tuple(example.tokens[start:end])][label] += 1
    return {name: next(iter(found)) for name, found in labels.items() if len(found) == 1}


def longest_matches(tokens: Sequence[str], names: Names, longest: int) -> list[Span]:
    """From left to right, the longest name that begins at each token outside the one before."""
    spans: list[Span] = []
    start = 0
    while start < len(tokens):
        ends = range(min(len(tokens), start + longest), start, -1)
        end = next((end for end in ends if tuple(tokens[start:end]) in names), None)
        if end is not None:
            spans.append((start, end, names[tuple(tokens[start:end])]))
        start = end or start + 1
    return spans


def handles(tokens: Sequence[str]) -> list[Span]:
    """ "@" and the token after it, each an entity: how the Broad Twitter Corpus tags them."""
    found = [place for place, token in enumerate(tokens) if token == _HANDLE]
    places = sorted({place for at in found for place in (at, at + 1) if place < len(tokens)})
    return [(place, place + 1, _PERSON) for place in places]
