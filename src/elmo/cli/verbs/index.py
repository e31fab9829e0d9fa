"""`elmo index`: a text -> a context index, in which the nearest tokens of a word in its sentence are found."""

import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import tyro

from elmo.cli.arguments import (
    BilmDtype,
    DeviceOption,
    Force,
    ModelOption,
    NoReport,
    OutputFolder,
    ReportAsJson,
    TokenizerChoice,
    parsed,
)
from elmo.cli.inputs import FormFlags, text_input, vocabulary_of
from elmo.cli.output import print_report
from elmo.setting_checks import PositiveInt
from elmo.text.reading.settings import Reading, TextForm


@dataclass(frozen=True)
class Arguments:
    """Build a context index: every token's vectors in every layer, on disk, for 'elmo neighbors' and
    elmo.analysis.neighbors.context_index."""

    text: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="TEXT")]
    """One sentence per line; .gz, .xz, .bz2 and .zst are unpacked; - is standard input."""
    output: OutputFolder[Path]
    """Folder to make."""
    model: ModelOption = None
    tokens: PositiveInt = 200_000
    """Maximum number of tokens in the index, up to 1,000,000; only whole sentences are indexed."""
    sample: bool = False
    """Draw sentences from the whole text instead of taking the first ones."""
    seed: int | None = None
    """Random seed of --sample (default: 0)."""
    tokenizer: TokenizerChoice = "auto"
    form: FormFlags = field(default_factory=TextForm)
    encoding: str = "utf-8"
    """Encoding of the text."""
    errors: Literal["strict", "skip"] = "strict"
    """What to do with a line that isn't valid text: stop, or list and skip it."""
    dtype: BilmDtype = "auto"
    device: DeviceOption = "auto"
    force: Force = False
    json: ReportAsJson = False
    quiet: NoReport = False


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "index")
    from elmo.analysis.neighbors.build import build_index
    from elmo.embed.embedder import Embedder
    from elmo.weights.hub import lasting_name

    reading = Reading(
        **vars(arguments.form), tokenizer=arguments.tokenizer, encoding=arguments.encoding, errors=arguments.errors
    )
    text = text_input([str(arguments.text)], reading, vocabulary_of(arguments.model), quiet=arguments.quiet)
    start = time.perf_counter()
    facts = build_index(
        (place.tokens for place in text.sentences()),
        Embedder.from_pretrained(arguments.model, device=arguments.device, dtype=arguments.dtype),
        arguments.output,
        model=lasting_name(arguments.model or ""),
        source=Path(arguments.text).name,
        max_tokens=arguments.tokens,
        sample=arguments.sample,
        seed=arguments.seed or 0,
        force=arguments.force,
        progress=not arguments.quiet,
    )
    seconds = time.perf_counter() - start
    code = text.report_bad_lines()
    report = {"output": str(arguments.output), **asdict(facts), "seconds": round(seconds, 1)}
    text_report = (
        f"{arguments.output}: {facts.num_tokens:,} of {facts.tokens_in_source:,} tokens, {facts.num_words:,} "
        f"distinct words, {facts.num_layers} layers of {facts.dim} dimensions, in {seconds:.1f} s"
    )
    print_report(report, text_report, as_json=arguments.json, quiet=arguments.quiet)
    return code
