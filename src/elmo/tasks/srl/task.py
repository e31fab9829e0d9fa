"""Semantic role labeling as a task."""

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from elmo.errors import TextWarning
from elmo.tasks.labels import require_learnable
from elmo.tasks.rules import most_frequent
from elmo.tasks.srl.data import (
    PREDICATE,
    Proposition,
    Roles,
    RoleSentence,
    SrlSettings,
    one_by_one,
    read_roles,
    sentences_with_predicates,
    write_props,
    write_roles,
)
from elmo.tasks.srl.score import Pair, argument_counts, role_scores, score_role_files
from elmo.tasks.tags import Span
from elmo.tasks.task import Counts, Plain, Rule, Scores, Task, TextReading, Vocabulary
from elmo.text.files.text_file import text_name


def readable_roles(sentence: RoleSentence, roles: Roles) -> Iterator[str]:
    """The sentence, a line for each predicate with its arguments in brackets, and a blank line:

    She asked him to leave
      asked: [ARG0 She] [V asked] [ARG2 him] [ARG1 to leave]
    """
    yield " ".join(sentence.tokens)
    yield from (f"  {_name(sentence, one)}: {bracketed(sentence.tokens, one.spans)}" for one in roles)
    yield ""


def bracketed(tokens: Sequence[str], spans: Sequence[Span]) -> str:
    """The tokens, each span of them in brackets after its label."""
    opened = {start: label for start, _, label in spans}
    closed = {end - 1 for _, end, _ in spans}
    parts = (
        f"{f'[{opened[place]} ' if place in opened else ''}{token}{']' if place in closed else ''}"
        for place, token in enumerate(tokens)
    )
    return " ".join(parts)


def _name(sentence: RoleSentence, proposition: Proposition) -> str:
    start, end = proposition.predicate
    return " ".join(sentence.tokens[start:end])


def sides(predicate: tuple[int, int], length: int, before: str, after: str) -> list[Span]:
    """The predicate and the spans on both sides of it, without the last token (mostly a full stop)."""
    start, end = predicate
    spans = [(0, start, before), (start, end, PREDICATE), (end, length - 1, after)]
    return [span for span in spans if span[0] < span[1] and span[2]]


def _most_frequent_sides(propositions: Iterable[Proposition]) -> tuple[str, str]:
    before, after = Counter[str](), Counter[str]()
    for proposition in propositions:
        for start, _, label in proposition.spans:
            if label != PREDICATE:
                (before if start < proposition.predicate[0] else after)[label] += 1
    return most_frequent(before), most_frequent(after)


def _marked(sentences: Iterable[RoleSentence], name: str) -> Iterator[RoleSentence]:
    """The sentences; a TextWarning at the first one whose predicates would have to be found."""
    has_warned = False
    for sentence in sentences:
        if sentence.tokens and sentence.predicates is None and not has_warned:
            has_warned = True
            warnings.warn(
                f"{name}: no predicate is marked in {' '.join(sentence.tokens)[:60]!r}, and this model doesn't find "
                "them (--no-find-predicates), so the sentence gets no roles. Mark them, as in gave/V, or train a model "
                "with --find-predicates.",
                TextWarning,
                stacklevel=1,
            )
        yield sentence


_KINDS = {"V": "verbs", "N": "nouns", "J": "adjectives"}


class SemanticRoles(Task[SrlSettings, RoleSentence, Roles]):
    """Sentences with predicates, in CoNLL columns; predictions are the labeled spans of each predicate."""

    name = "srl"
    summary = "who did what to whom: the roles of given predicates, in CoNLL columns"
    metric = "f1"
    metric_kind = "f1"
    needs_input = True
    settings = SrlSettings
    model = "elmo.tasks.srl.model:RoleLabeler"

    def read(self, path: Path | str, settings: SrlSettings) -> list[RoleSentence]:
        labeler = settings.labeler
        return read_roles(path, labeler.layout, labeler.encoding, labeler.errors)

    def read_unlabelled(self, path: Path | str, settings: SrlSettings, reading: TextReading) -> Iterator[RoleSentence]:
        found = sentences_with_predicates(path, reading)
        return found if settings.labeler.find_predicates else _marked(found, text_name(path))

    def sentences(self, example: RoleSentence) -> list[list[str]]:
        return [example.tokens]

    def training(self, examples: list[RoleSentence], settings: SrlSettings) -> list[RoleSentence]:
        return one_by_one(examples, keep_bare=settings.labeler.find_predicates)

    def vocabulary(self, examples: list[RoleSentence], settings: SrlSettings) -> Vocabulary:
        found = [label for example in examples for one in example.propositions for _, _, label in one.spans]
        source = "" if examples[0].columns is None else examples[0].columns.source
        step = "Check the file and its columns, or say what they are with --layout."
        require_learnable([label for label in found if label != PREDICATE], 1, source, step)
        return {"labels": sorted(set(found))}

    # Labels that the training data lacks are no error: PropBank has many rare ones, whose arguments count as missed.

    def score(self, examples: Sequence[RoleSentence], predictions: Sequence[Roles]) -> Scores:
        return role_scores([pair for both in zip(examples, predictions, strict=True) for pair in _pairs(*both)])

    def counts(self, example: RoleSentence, prediction: Roles) -> Counts:
        return argument_counts(_pairs(example, prediction))

    def rules(self, examples: list[RoleSentence]) -> list[Rule[RoleSentence, Roles]]:
        """The most frequent labels before and after the predicates, for all tokens before and all after."""
        before, after = _most_frequent_sides(one for example in examples for one in example.propositions)

        def predict(sentences: Sequence[RoleSentence]) -> list[Roles]:
            return [
                [
                    Proposition(one.predicate, sides(one.predicate, len(own.tokens), before, after))
                    for one in own.propositions
                ]
                for own in sentences
            ]

        label = f"rule: all before the predicate is {before or 'nothing'}, all after it {after or 'nothing'}"
        return [Rule("before-and-after", label, predict)]

    def score_files(self, gold: Path | str, predicted: Path | str, settings: SrlSettings) -> Scores:
        labeler = settings.labeler
        return score_role_files(gold, predicted, labeler.layout, labeler.encoding, labeler.errors)

    def remarks(self, scores: Scores) -> list[str]:
        if not scores["propositions"]:
            return [
                "no sentence has a predicate with roles, so there is nothing to score: check the file and its columns"
            ]
        if scores["correct"] or scores["excess"] or not scores["missed"]:
            return []
        return ["the labeler predicts no argument at all: train it longer, on more data, or with smaller batches"]

    def write(self, pairs: Iterable[tuple[RoleSentence, Roles]]) -> Iterator[str]:
        """Columns as they were read; sentences of text as people read them."""
        for sentence, roles in pairs:
            is_text = sentence.columns is None
            yield from readable_roles(sentence, roles) if is_text else write_roles([(sentence, roles)])

    def write_file(self, path: Path, pairs: Iterable[tuple[RoleSentence, Roles]]) -> Iterator[str]:
        """Props in files that end in .props; columns in those that end in .conll, of text too; else as `write`."""
        writers = {".props": write_props, ".conll": write_roles}
        return writers.get(path.suffix, self.write)(pairs)

    def to_json(self, example: RoleSentence, prediction: Roles) -> Mapping[str, Plain]:
        return {"tokens": example.tokens, "frames": [_frame(example, proposition) for proposition in prediction]}


def _pairs(example: RoleSentence, prediction: Roles) -> list[Pair]:
    return [
        Pair(proposition.spans, found.spans, _kind(example, proposition))
        for proposition, found in zip(example.propositions, prediction, strict=True)
    ]


def _kind(example: RoleSentence, proposition: Proposition) -> str:
    """By the part of speech of the predicate's first token (Penn Treebank's names)."""
    tag = "" if example.columns is None else example.columns.part_of_speech(proposition.predicate[0])
    return _KINDS.get(tag[0], "others") if tag else ""


def _frame(example: RoleSentence, proposition: Proposition) -> dict[str, Plain]:
    """A predicate with its arguments, as a person reads them."""
    start, end = proposition.predicate
    arguments: list[Plain] = [
        {"label": label, "start": first, "end": last, "tokens": example.tokens[first:last]}
        for first, last, label in proposition.spans
        if label != PREDICATE
    ]
    return {"predicate": {"start": start, "end": end, "tokens": example.tokens[start:end]}, "arguments": arguments}


TASK = SemanticRoles()
