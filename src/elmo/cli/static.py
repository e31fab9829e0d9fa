"""`elmo static`: a text -> static vectors of its words, to compare ELMo with."""

import dataclasses
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from elmo.cli.arguments import parsed
from elmo.cli.progress_bars import ProgressBars
from elmo.static.training.settings import StaticSettings
from elmo.text.text_file import FormatChoice, require_other_file


@dataclass(frozen=True)
class Arguments:
    """Train one vector for each word of a text: what ELMo is compared with, when both learn from the same text. The
    result is word2vec's text layout, which 'elmo task --static' and other programs read."""

    texts: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="TEXT [TEXT ...]")]
    """Training text: one tokenized sentence per line; .gz, .xz, .bz2 and .zst are unpacked."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """File of vectors to make."""
    format: FormatChoice = "auto"
    """text: plain text; jsonl: one JSON object per line; csv and tsv: tables with a text per row; conll and conllu: one
    token per line; auto: by the ending of each file."""
    field: str = "text"
    """Of JSON lines: the key of the text, or of the list of a sentence's tokens. Of CSV and TSV: the column's name, or
    its number from 1 in a file without names. Of CoNLL: the number of the tokens' column (default: text, or the first
    column)."""
    tokenizer: str = "whitespace"
    """How text becomes tokens: whitespace; unicode: by rules, for text that isn't tokenized; or module:function of
    your own."""
    encoding: str = "utf-8"
    """Encoding of all texts."""
    errors: Literal["strict", "skip"] = "strict"
    """What happens at a line that isn't valid text: strict: stop; skip: list and skip it."""
    workers: int = 1
    """Threads of word2vec and fasttext. With more than one the vectors differ from run to run."""
    force: tyro.conf.FlagCreatePairsOff[bool] = False
    """Replace the file if it exists."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print the report as JSON."""
    quiet: tyro.conf.FlagCreatePairsOff[bool] = False
    """No progress and no report."""
    recipe: Annotated[StaticSettings, tyro.conf.arg(name="")] = dataclasses.field(default_factory=StaticSettings)


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "static", flag_pairs=True)
    # Here, so that --help does not wait for torch.
    from elmo.disk.atomic import new_file
    from elmo.static.training.corpus import Corpus
    from elmo.static.training.train import train_static_vectors
    from elmo.static.vectors import write_static_vectors
    from elmo.text.tokenizer import tokenizer

    for text in arguments.texts:
        require_other_file(text, arguments.output)
    corpus = Corpus(
        arguments.texts,
        format=arguments.format,
        field=arguments.field,
        tokenize=tokenizer(arguments.tokenizer),
        encoding=arguments.encoding,
        errors=arguments.errors,
    )
    # The name is refused before the work, not after it.
    with new_file(arguments.output, size=0, force=arguments.force) as unfinished, ProgressBars(arguments.quiet) as bars:
        trained = train_static_vectors(corpus, arguments.recipe, workers=arguments.workers, on_progress=bars.show)
        write_static_vectors(unfinished, trained.static.words, trained.static.vectors)
    for message in corpus.bad_lines:
        print(f"skipped: {message}", file=sys.stderr)
    report = {
        "output": str(arguments.output),
        "kind": arguments.recipe.kind,
        "words": len(trained.static),
        "dim": trained.static.dim,
        "tokens": trained.num_tokens,
        "sentences": trained.num_sentences,
        "seconds": round(trained.seconds, 1),
    }
    if arguments.json:
        print(json.dumps(report, indent=2))
    elif not arguments.quiet:
        print(
            f"{arguments.output}: {len(trained.static):,} words of dimension {trained.static.dim}, from "
            f"{trained.num_tokens:,} tokens in {trained.seconds:,.0f} seconds"
        )
    return 1 if corpus.bad_lines else 0
