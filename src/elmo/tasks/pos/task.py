"""Tagging each token by itself, parts of speech above all, as a task: accuracy over all, known and unknown tokens."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from elmo.tasks.columns import ColumnTask, TaggedSentence, column_as_written, with_places
from elmo.tasks.counts import added, percentage
from elmo.tasks.labels import (
    characters_of,
    classification_counts,
    classification_scores,
    remarks_on_one_label,
    require_learnable,
)
from elmo.tasks.lines import require_same_sentences
from elmo.tasks.pos.data import PosSettings, TreebankSentence, read_tagged, read_untagged_treebank, write_tagged
from elmo.tasks.rules import most_frequent
from elmo.tasks.task import Counts, Plain, Rule, Scores, TextReading, Vocabulary
from elmo.text.formats.form import form_of


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


class TokenTagging(ColumnTask[PosSettings, TokenTags]):
    """Sentences with a tag for each token, in CoNLL-U or columns."""

    name = "pos"
    summary = "parts of speech, or any other tag of each token, in CoNLL-U or columns"
    metric = "accuracy"
    metric_kind = "accuracy"
    settings = PosSettings
    model = "elmo.tasks.pos.model:TokenTagger"

    def read(self, path: Path | str, settings: PosSettings) -> list[TaggedSentence]:
        return read_tagged(path, settings.tagger)

    def read_unlabelled(
        self, path: Path | str, settings: PosSettings, reading: TextReading
    ) -> Iterator[TaggedSentence]:
        if form_of(path, reading.format, reading.field, reading.encoding).format == "conllu":
            return read_untagged_treebank(path, settings.tagger, reading)
        return super().read_unlabelled(path, settings, reading)

    def labels_of(self, example: TaggedSentence) -> Iterable[tuple[int, str]]:
        return enumerate(example.tags)

    def vocabulary(self, examples: list[TaggedSentence], settings: PosSettings) -> Vocabulary:
        tags, words = [tag for example in examples for tag in example.tags], _words_of(examples)
        step = "Say which column has the tags with --tag-column, and which one the tokens with --token-column."
        require_learnable(tags, 2, examples[0].source, step)
        return {"labels": sorted(set(tags)), "words": words, "characters": characters_of(set(words))}

    def trained_vocabulary(self, vocabulary: Vocabulary, examples: list[TaggedSentence]) -> Vocabulary:
        return {**vocabulary, "words": _words_of(examples)}

    def score(self, examples: Sequence[TaggedSentence], predictions: Sequence[TokenTags]) -> Scores:
        return tag_scores([example.tags for example in examples], predictions)

    def counts(self, example: TaggedSentence, prediction: TokenTags) -> Counts:
        return tag_counts(example.tags, prediction)

    def rules(self, examples: list[TaggedSentence]) -> list[Rule[TaggedSentence, TokenTags]]:
        return [majority_tags(examples)]

    def score_files(self, gold: Path | str, predicted: Path | str, settings: PosSettings) -> Scores:
        right = self.read(gold, settings)
        # `write` puts the predicted tags into the gold tags' column of CoNLL-U, or behind all other columns.
        tagger = settings.tagger
        if not isinstance(right[0], TreebankSentence):
            tag_column = int(tagger.tag_column) if tagger.tag_column.isdecimal() else 0
            token_column = column_as_written(tagger.token_column, tag_column)
            tagger = replace(tagger, tag_column="0", token_column=token_column)
        found = read_tagged(predicted, tagger)
        require_same_sentences(with_places(right), with_places(found))
        return self.score(right, [TokenTags(sentence.tags) for sentence in found])

    def remarks(self, scores: Scores) -> list[str]:
        return remarks_on_one_label(scores, "every token is given the tag")

    def write(self, pairs: Iterable[tuple[TaggedSentence, TokenTags]]) -> Iterator[str]:
        return write_tagged((example, prediction.tags) for example, prediction in pairs)

    def to_json(self, example: TaggedSentence, prediction: TokenTags) -> Mapping[str, Plain]:
        found: dict[str, Plain] = {"tokens": example.tokens, "prediction": prediction.tags}
        if example.offsets:
            found["characters"] = [list(span) for span in example.offsets]
        return found


def _words_of(examples: Iterable[TaggedSentence]) -> list[str]:
    return sorted({token for example in examples for token in example.tokens})


TASK = TokenTagging()
