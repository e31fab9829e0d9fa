"""Task: what a task is. Every task reads, trains, scores and predicts by the same steps.

A task is generic in three types: S, its settings; E, an example; P, a prediction. `docs/your-own-task.md` writes one.
"""

import pkgutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar

from elmo.errors import ConfigError, OutOfMemory, TextError
from elmo.process.named_object import named_object
from elmo.process.resources import is_out_of_memory
from elmo.setting_checks import require_setting
from elmo.tasks.settings import NO_INPUT, TaskSettings
from elmo.text.files.decoding import BadLine
from elmo.text.first_look.sample import FirstLook
from elmo.text.reading.settings import Reading

if TYPE_CHECKING:
    import numpy as np

    from elmo.tasks.task_model import TaskModel
    from elmo.tasks.tokens.representation import TokenRepresentation

S = TypeVar("S", bound=TaskSettings)
E = TypeVar("E")
P = TypeVar("P")

Plain: TypeAlias = None | bool | int | float | str | Sequence["Plain"] | Mapping[str, "Plain"]
"""What JSON can say."""

Scores: TypeAlias = Mapping[str, Plain]
"""The figures of a task. Those that people compare are percentages."""

Vocabulary: TypeAlias = Mapping[str, Sequence[str]]
"""What a model must know of its training examples: named lists, such as "labels" and "characters"."""

Counts: TypeAlias = Mapping[str, Sequence[float]]
"""What one example adds to the metric; see `Task.counts`."""

MetricKind = Literal["f1", "accuracy", "mean", "average_f1"]
"""How the metric follows from added-up `Counts`; see `elmo.tasks.counts`."""


@dataclass(frozen=True)
class TextReading(Reading):
    """How unlabelled input is read, and who is told what is odd in it. Input that has tokens is taken as it is."""

    tokenizer: str = "whitespace"
    on_bad_line: BadLine | None = None
    """Called with the number, from 1, and the message of a line that `errors` says to skip."""
    on_look: Callable[[FirstLook], None] | None = None
    """Called with what the first lines of text look like."""

    @property
    def on_bad(self) -> BadLine | None:
        """`on_bad_line` where bad lines are skipped; None: they are errors."""
        return self.on_bad_line if self.errors == "skip" else None


@dataclass(frozen=True)
class Rule(Generic[E, P]):
    """Predictions without a trained network, made from a task's training examples (`Task.rules`)."""

    name: str
    """Without blanks, for records."""
    label: str
    """For people: what the rule does."""
    predict: Callable[[Sequence[E]], list[P]]
    """A prediction for each example."""


class Task(ABC, Generic[S, E, P]):
    """One task. It holds no state: what it needs is passed to each method.

    A first task defines nine members:

        name, metric, settings   what it is called, which figure compares models, the dataclass of its settings
        read                     a labelled file           -> examples
        read_unlabelled          text, pairs, JSON, ...    -> examples without labels
        sentences                an example                -> its sentences, as lists of tokens
        build, or model          settings, vocabulary, ... -> a `TaskModel`
        score                    examples, predictions     -> figures
        write                    examples, predictions     -> the lines of a file in the task's official format

    All others have defaults. Loading a task must not load torch, because `--help` needs its settings: name the class
    in `model`, or import it inside `build`.
    """

    def __reduce__(self) -> tuple[Callable[[str, str], object], tuple[str, str]]:
        """Other processes get the variable that holds it. Raises ConfigError if its module has none."""
        module = sys.modules[type(self).__module__]
        names = [name for name, value in vars(module).items() if value is self]
        if not names:
            raise ConfigError(
                f"other processes can't find the task {self.name!r}. Write `TASK = ...` into {module.__name__}."
            )
        return named_object, (f"{module.__name__}:{names[0]}", "task")

    name: str
    """Its name on the command line and in saved models."""
    metric: str
    """The key in `score`'s result by which models are compared; higher is better."""
    settings: type[S]
    """The dataclass of its settings; called without arguments it gives the defaults."""

    @abstractmethod
    def read(self, path: Path | str, settings: S) -> list[E]:
        """The labelled examples of a file. Raises TextError with the file and line of an error in it."""

    @abstractmethod
    def read_unlabelled(self, path: Path | str, settings: S, reading: TextReading) -> Iterator[E]:
        """Examples without labels, one after the other; `path` "-" is standard input. Raises as `read`."""

    @abstractmethod
    def sentences(self, example: E) -> Sequence[Sequence[str]]:
        """The sentences of an example as the token representation is asked for them."""

    @abstractmethod
    def score(self, examples: Sequence[E], predictions: Sequence[P]) -> Scores:
        """The figures of predictions for labelled examples; `metric` is among the keys."""

    @abstractmethod
    def write(self, pairs: Iterable[tuple[E, P]]) -> Iterator[str]:
        """The lines of one whole file of predictions in the task's official format."""

    model: str = ""
    """The class of its model, "package.module:Class", for `build`; imported when it is needed."""
    summary: str = ""
    """What it does and which files it reads, in a few words, for `elmo task --help`."""
    metric_kind: MetricKind | None = None
    """How `metric` follows from `counts`; None: the task has no counts."""
    places: tuple[str, ...] = ("input", "output")
    """Where its model can take contextual vectors; values of the setting `placement` (and "both")."""
    needs_input: bool = False
    """Whether settings without static vectors, ELMo at the input and a char CNN are refused."""
    most_tokens: int | None = None
    """Tokens of the longest sentence that its model takes, where it compares every token with every other: memory and
    time grow with the square. None: no limit."""
    reading_flags: tuple[str, ...] = ("format", "field", "sentences", "tokenizer", "encoding", "errors")
    """The flags of text that `read_unlabelled` heeds; `elmo task predict` refuses the others."""

    def build(self, settings: S, vocabulary: Vocabulary, tokens: "TokenRepresentation") -> "TaskModel[E, P]":
        """A new model with random weights. Default: `model`, given the task's own group of settings."""
        return pkgutil.resolve_name(self.model)(settings.own, vocabulary, tokens)

    def check_settings(self, settings: S) -> None:
        """ConfigError for settings that don't fit together, before anything is written; overriding methods call this.

        Here: the placement must be one of `places`, and a model must read something if it `needs_input`.
        """
        expected = f"at places that the task {self.name!r} knows: {', '.join(self.places)}"
        require_setting(set(settings.tokens.places) <= {*self.places}, "placement", settings.tokens.placement, expected)
        if self.needs_input and not settings.gives_input:
            raise ConfigError(NO_INPUT)

    def size(self, example: E) -> int:
        """Its tokens: batches are made of examples of similar size."""
        return sum(map(len, self.sentences(example)))

    def group(self, example: E, place: int) -> Hashable:
        """Examples of one group (questions about one article) are never split between training and held-out data.

        `place`: the example's number in its file. Default: each example is a group of its own.
        """
        return place

    def groups(self, examples: list[E]) -> list[Hashable]:
        """The group of each example of a file."""
        return [self.group(example, place) for place, example in enumerate(examples)]

    def training(self, examples: list[E], settings: S) -> list[E]:
        """What is trained on, made from the training file's examples (SST: every labelled subtree)."""
        return examples

    def drawn(self, example: E, random: "np.random.Generator") -> E:
        """The example as one training step sees it (one of several answers, a window of a document)."""
        return example

    def vocabulary(self, examples: list[E], settings: S) -> Vocabulary:
        """What a model must know of all training examples. Raises TextError if nothing can be learned from them."""
        return {}

    def trained_vocabulary(self, vocabulary: Vocabulary, examples: list[E]) -> Vocabulary:
        """`vocabulary` where it depends on which examples are trained on: all but those held out as dev data.

        Default: it doesn't.
        """
        return vocabulary

    def check(self, examples: list[E], vocabulary: Vocabulary, settings: S) -> None:
        """TextError with file and line if examples can't be scored, for instance by a label unknown to `vocabulary`."""

    def counts(self, example: E, prediction: P) -> Counts:
        """What one example adds to the metric, for paired tests; needed if `metric_kind` is set.

        "f1" and "accuracy": {label: (true positives, false positives, false negatives)}, labels with three zeros left
        out; "mean": {"": (value,)}, of which the metric is the mean; "average_f1", the mean of the measures' F1s:
        {measure: (precision numerator and denominator, recall numerator and denominator)}.
        """
        raise NotImplementedError

    def rules(self, examples: list[E]) -> list[Rule[E, P]]:
        """Rules without learning made from all training examples: the lowest lines of a table."""
        return []

    def score_files(self, gold: Path | str, predicted: Path | str, settings: S) -> Scores:
        """The official figures of a file of predictions, as `write` or another system made it. Raises TextError."""
        raise ConfigError(
            f"the task {self.name!r} has no official format of predictions that could be scored. Score labelled data "
            "with a trained model: elmo task score."
        )

    def remarks(self, scores: Scores) -> list[str]:
        """Sentences that a user should read beside the scores: that nothing is predicted, or one label only."""
        return []

    def write_file(self, path: Path, pairs: Iterable[tuple[E, P]]) -> Iterator[str]:
        """The lines of the file `path`: `write`'s, unless the task has another official format for its ending."""
        return self.write(pairs)

    def to_json(self, example: E, prediction: P) -> Mapping[str, Plain]:
        """An example and its prediction for programs: a line of `elmo task predict --json`."""
        sentences = [list(sentence) for sentence in self.sentences(example)]
        return {"sentences": sentences, "lines": list(self.write([(example, prediction)]))}

    def require_moderate(self, examples: Iterable[E]) -> None:
        """TextError for an example with a sentence of more than `most_tokens` tokens, before anything is computed."""
        for example in examples if self.most_tokens else ():
            longest = max(self.sentences(example), key=len, default=())
            if len(longest) > (self.most_tokens or 0):
                raise TextError(
                    f"{_where(example)}the text that begins {' '.join(longest[:12])[:60]!r} has {len(longest):,} "
                    f"tokens, but the task {self.name!r} takes at most {self.most_tokens:,}: its model compares all of "
                    "them with each other. Split it; long training examples are left out by --max-length."
                )

    @contextmanager
    def enough_memory(self, examples: Sequence[E]) -> Iterator[None]:
        """Raises OutOfMemory if the block, which computes a batch of examples, needs more memory than there is."""
        try:
            yield
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            sizes = [self.size(example) for example in examples]
            begins = " ".join(" ".join(one) for one in self.sentences(examples[sizes.index(max(sizes))]))
            raise OutOfMemory(
                f"not enough memory for a batch of {len(sizes)} examples; the longest has {max(sizes):,} tokens and "
                f"begins {begins[:60]!r}. Use a smaller --batch-size, --batch-tokens or --max-length."
            ) from None

    def sentences_of(self, *parts: Iterable[E]) -> Iterator[list[str]]:
        """All sentences of some examples."""
        return (list(sentence) for part in parts for example in part for sentence in self.sentences(example))

    def figure(self, scores: Scores, name: str) -> float:
        """One figure of `scores`, by which models are compared. Raises ConfigError if they don't have it."""
        value = scores.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            known = [key for key, other in scores.items() if isinstance(other, int | float)]
            raise ConfigError(
                f"models of the task {self.name!r} are to be compared by {name!r}, but its score has only "
                f"{', '.join(known) or 'no figures'}. Choose one of them with --best-by, or fix the task's metric."
            )
        return float(value)


def _where(example: object) -> str:
    """An example's file and line, or its id, if it has them: "dev.json, 56be4: "."""
    source, line, name = (str(getattr(example, fact, "") or "") for fact in ("source", "line", "id"))
    place = f"{source}:{line}" if source and line else ", ".join(filter(None, (source, name)))
    return f"{place}: " if place else ""
