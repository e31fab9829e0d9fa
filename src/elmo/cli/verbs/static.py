"""`elmo static`: a text -> static vectors of its words, to compare ELMo with."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from elmo.cli.arguments import Force, NoReport, OutputFile, ReportAsJson, parsed
from elmo.cli.output import list_skipped, print_report
from elmo.static.training.settings import StaticSettings
from elmo.text.files.text_file import require_other_file
from elmo.text.reading.settings import TextForm

if TYPE_CHECKING:
    from elmo.static.training.corpus import Corpus


@dataclass(frozen=True)
class TrainingText(TextForm):
    """How the text is read."""

    tokenizer: str = "whitespace"
    """How the text is split into tokens: whitespace; unicode: by rules, for text that isn't tokenized; or
    module:function, a function of your own."""
    encoding: str = "utf-8"
    """Encoding of all texts."""
    errors: Literal["strict", "skip"] = "strict"
    """What to do with a line that isn't valid text. strict: stop; skip: list and skip it."""

    def corpus(self, texts: Sequence[Path], output: Path) -> "Corpus":
        """The text of these files, none of which may be `output`."""
        from elmo.static.training.corpus import Corpus
        from elmo.text.tokenizer import tokenizer

        for text in texts:
            require_other_file(text, output)
        return Corpus(
            texts,
            format=self.format,
            field=self.field,
            tokenize=tokenizer(self.tokenizer),
            encoding=self.encoding,
            errors=self.errors,
        )


@dataclass(frozen=True)
class Training:
    """What every training of static vectors is given."""

    texts: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="TEXT [TEXT ...]")]
    """Training text: one tokenized sentence per line; .gz, .xz, .bz2 and .zst are unpacked."""
    output: OutputFile[Path]
    """File of vectors to write."""
    text: Annotated[TrainingText, tyro.conf.arg(name="")] = dataclasses.field(default_factory=TrainingText)
    force: Force = False
    json: ReportAsJson = False
    quiet: NoReport = False

    def run(
        self,
        train: "Callable[[Corpus], Any]",
        write: Callable[[Path, Any], None],
        facts: Callable[[Any], tuple[dict[str, Any], str]],
    ) -> int:
        """Trains, writes the vectors and prints the report; 0: done, 1: done, but lines were skipped.

        `train`: a text -> vectors with `num_tokens`, `num_sentences` and `seconds`, which `write` writes. `facts`: the
        report's own figures of them, and what there is of which dimension, in words.
        """
        from elmo.disk.atomic import new_file

        corpus = self.text.corpus(self.texts, self.output)
        # The name is refused before the work, not after it.
        with new_file(self.output, size=0, force=self.force) as unfinished:
            trained = train(corpus)
            write(unfinished, trained)
        code = list_skipped(corpus.bad_lines)
        own, what = facts(trained)
        report = {
            "output": str(self.output),
            **own,
            "tokens": trained.num_tokens,
            "sentences": trained.num_sentences,
            "seconds": round(trained.seconds, 1),
        }
        text = f"{self.output}: {what}, from {trained.num_tokens:,} tokens in {trained.seconds:,.0f} seconds"
        print_report(report, text, as_json=self.json, quiet=self.quiet)
        return code


@dataclass(frozen=True)
class Arguments(Training):
    """Train one vector for each word of a text, so that ELMo can be compared with static vectors of the same text. The
    result is in word2vec's text format, which 'elmo task train --static' and other programs read."""

    workers: int = 1
    """Number of threads. With more than one, the vectors differ from run to run."""
    recipe: Annotated[StaticSettings, tyro.conf.arg(name="")] = dataclasses.field(default_factory=StaticSettings)


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "static", flag_pairs=True)
    from elmo.static.training.train import train_static_vectors
    from elmo.static.vectors import write_static_vectors

    recipe = arguments.recipe
    return arguments.run(
        lambda corpus: train_static_vectors(corpus, recipe, workers=arguments.workers, progress=not arguments.quiet),
        lambda path, trained: write_static_vectors(path, trained.static),
        lambda trained: (
            {"kind": recipe.kind, "words": len(trained.static), "dim": trained.static.dim},
            f"{len(trained.static):,} words of dimension {trained.static.dim}",
        ),
    )
