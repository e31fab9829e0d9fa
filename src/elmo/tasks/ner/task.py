"""Named entity recognition as a task."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from elmo.errors import TextError
from elmo.tasks.layers.char_cnn import characters_of
from elmo.tasks.ner.data import TaggedSentence, read_columns, write_columns
from elmo.tasks.ner.model import Tagger
from elmo.tasks.ner.score import entity_scores
from elmo.tasks.ner.settings import Settings
from elmo.tasks.ner.tags import Span, tags_of
from elmo.tasks.task import Scores, Task
from elmo.tasks.tokens.representation import TokenRepresentation


class NamedEntities(Task):
    """Tagged sentences in CoNLL columns; predictions are lists of spans."""

    name = "ner"
    metric = "f1"

    def read(self, path: Path | str, settings: Settings) -> list[TaggedSentence]:
        tagger = settings.tagger
        return read_columns(
            path,
            token_column=tagger.token_column,
            tag_column=tagger.tag_column,
            scheme=tagger.scheme,
            encoding=tagger.encoding,
        )

    def from_text(self, sentences: Iterable[list[str]]) -> list[TaggedSentence]:
        return [TaggedSentence(tokens) for tokens in sentences]

    def sentences(self, example: TaggedSentence) -> list[list[str]]:
        return [example.tokens]

    def vocabulary(self, examples: list[TaggedSentence], settings: Settings) -> dict[str, Any]:
        labels = sorted({label for example in examples for _, _, label in example.spans})
        if not labels:
            raise TextError(
                f"{examples[0].source}: no token of the training data has an entity's tag, so there is nothing to "
                "learn. Say which column has the tags with --tag-column."
            )
        words = {word for example in examples for word in example.tokens}
        return {"labels": labels, "characters": characters_of(words)}

    def check(self, examples: list[TaggedSentence], vocabulary: dict[str, Any], settings: Settings) -> None:
        known = set(vocabulary["labels"])
        if settings.tagger.unseen_labels == "miss":
            return
        for example in examples:
            for start, _, label in example.spans:
                if label not in known:
                    raise TextError(
                        f"{example.source}:{example.lines[start]}: the label {label!r} isn't in the training data, "
                        f"which has {', '.join(sorted(known))}: such an entity can never be found. Correct it, or "
                        "count it as missed with --unseen-labels miss."
                    )

    def build(self, settings: Settings, vocabulary: dict[str, Any], tokens: TokenRepresentation) -> Tagger:
        return Tagger(settings.tagger, vocabulary, tokens)

    def score(self, examples: Sequence[TaggedSentence], predictions: Sequence[list[Span]]) -> Scores:
        return entity_scores([example.spans for example in examples], predictions)

    def write(self, examples: Sequence[TaggedSentence], predictions: Sequence[list[Span]]) -> Iterator[str]:
        tags = [
            tags_of(spans, len(example.tokens), "iob2") for example, spans in zip(examples, predictions, strict=True)
        ]
        return write_columns(examples, tags)


TASK = NamedEntities()
