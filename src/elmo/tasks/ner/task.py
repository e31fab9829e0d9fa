"""Named entity recognition as a task.

Entity F1 is what conlleval computes: an entity is found if its first token, last token and label are all right.
Source: the scorer of the shared task CoNLL-2003. Percentages; 0 where nothing is divided by nothing.
"""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from elmo.errors import ConfigError, TextError
from elmo.tasks.columns import ColumnTask, TaggedSentence, column_as_written, with_places, write_columns
from elmo.tasks.counts import added, compared, label_figures
from elmo.tasks.labels import characters_of, require_learnable
from elmo.tasks.lines import require_same_sentences
from elmo.tasks.ner.data import BETWEEN, NerSettings, read_columns
from elmo.tasks.tags import Span, tags_of
from elmo.tasks.task import Counts, Plain, Rule, Scores, Vocabulary

_HANDLE = "@"
_PERSON = "PER"

Names = dict[tuple[str, ...], str]


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


def entity_scores(gold: Sequence[Sequence[Span]], predicted: Sequence[Sequence[Span]]) -> Scores:
    """`precision`, `recall`, `f1` over all entities; `macro_f1`, the mean F1 of the labels that occur in the gold data;
    the counts `gold`, `predicted` and `correct`; the same figures `per_label`."""
    sums = added(entity_counts(*pair) for pair in zip(gold, predicted, strict=True))
    per_label = {
        label: label_figures(right + missed, right + extra, right)
        for label, (right, extra, missed) in sorted(sums.items())
    }
    own = list(per_label.values())
    whole = label_figures(*(sum(figures[name] for figures in own) for name in ("gold", "predicted", "correct")))
    of_gold = [figures["f1"] for figures in own if figures["gold"]]
    return {
        "f1": whole["f1"],
        "macro_f1": statistics.fmean(of_gold) if of_gold else 0.0,
        **whole,
        "per_label": per_label,
    }


def entity_counts(gold: Sequence[Span], predicted: Sequence[Span]) -> Counts:
    """One sentence's (found, wrongly found, missed) entities of each label."""
    return compared(gold, predicted, lambda span: span[2])


class NamedEntities(ColumnTask[NerSettings, list[Span]]):
    """Tagged sentences in CoNLL columns; predictions are lists of spans."""

    name = "ner"
    summary = "named entities, in CoNLL columns"
    metric = "f1"
    places = ("input", "output", BETWEEN)
    metric_kind = "f1"
    settings = NerSettings
    model = "elmo.tasks.ner.model:Tagger"

    def read(self, path: Path | str, settings: NerSettings) -> list[TaggedSentence]:
        return read_columns(path, settings.tagger)

    def labels_of(self, example: TaggedSentence) -> list[tuple[int, str]]:
        return [(start, label) for start, _, label in example.spans]

    def vocabulary(self, examples: list[TaggedSentence], settings: NerSettings) -> Vocabulary:
        labels = [label for example in examples for _, label in self.labels_of(example)]
        require_learnable(labels, 1, examples[0].source, "Say which column has the tags with --tag-column.")
        words = {word for example in examples for word in example.tokens}
        return {"labels": sorted(set(labels)), "characters": characters_of(words)}

    def check_settings(self, settings: NerSettings) -> None:
        super().check_settings(settings)
        if BETWEEN in settings.tokens.places and len(settings.tagger.hidden_sizes) < 2:
            raise ConfigError(
                f"placement is {BETWEEN!r}, between two biLSTM layers, but hidden_sizes {settings.tagger.hidden_sizes} "
                "has one. Give it two, or choose another placement."
            )

    def score(self, examples: Sequence[TaggedSentence], predictions: Sequence[list[Span]]) -> Scores:
        return entity_scores([example.spans for example in examples], predictions)

    def counts(self, example: TaggedSentence, prediction: list[Span]) -> Counts:
        return entity_counts(example.spans, prediction)

    def rules(self, examples: list[TaggedSentence]) -> list[Rule[TaggedSentence, list[Span]]]:
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

    def score_files(self, gold: Path | str, predicted: Path | str, settings: NerSettings) -> Scores:
        right, own = self.read(gold, settings), settings.tagger
        # As `write` has it: the tags last, in whatever scheme, and the gold tags moved behind all other columns.
        token_column = column_as_written(own.token_column, own.tag_column)
        as_written = replace(own, token_column=token_column, tag_column=0, scheme="any", errors="strict")
        try:  # where the gold tags have no prefixes, those of another program may have none, either
            found = read_columns(predicted, replace(as_written, scheme="io") if own.scheme == "io" else as_written)
        except TextError:
            found = read_columns(predicted, as_written)
        require_same_sentences(with_places(right), with_places(found))
        return self.score(right, [sentence.spans for sentence in found])

    def remarks(self, scores: Scores) -> list[str]:
        if scores["predicted"] or not scores["gold"]:
            return []
        return ["the tagger predicts no entity at all: train it longer, on more data, or with smaller batches"]

    def write(self, pairs: Iterable[tuple[TaggedSentence, list[Span]]]) -> Iterator[str]:
        return write_columns((example, tags_of(spans, len(example.tokens), "iob2")) for example, spans in pairs)

    def to_json(self, example: TaggedSentence, prediction: list[Span]) -> Mapping[str, Plain]:
        entities = [_entity(example, span) for span in prediction]
        return {"tokens": example.tokens, "prediction": prediction, "entities": entities}


def _entity(example: TaggedSentence, span: Span) -> dict[str, Plain]:
    """A span with its tokens, and its position in the raw text if that is known."""
    start, end, label = span
    entity: dict[str, Plain] = {"label": label, "start": start, "end": end, "tokens": example.tokens[start:end]}
    if example.offsets:
        entity["characters"] = [example.offsets[start][0], example.offsets[end - 1][1]]
    return entity


TASK = NamedEntities()
