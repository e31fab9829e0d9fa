"""`elmo prepare`: a corpus -> the folder of numbers that `elmo pretrain` reads."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from tqdm import tqdm

from elmo.pretrain.prepare import OnProgress, prepare


@dataclass(frozen=True)
class Arguments:
    """Turn a corpus into a vocabulary and memory-mapped shards for 'elmo pretrain', and report on it."""

    texts: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Training text: one tokenized sentence per line; .gz, .xz and .bz2 are unpacked; - is standard input."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """Folder to make."""
    vocab_size: int | None = None
    """Words the language model predicts, <S>, </S> and <UNK> included (default: all)."""
    min_count: int = 1
    """Leave rarer words out of the vocabulary."""
    vocabulary: Path | None = None
    """Take this vocabulary file (one word per line) instead of making one."""
    valid: tuple[Path, ...] = ()
    """Held-out text for the perplexity during training."""
    test: tuple[Path, ...] = ()
    """Held-out text for the end."""
    max_characters_per_token: int = 50
    """Characters kept of each word, two marks included."""
    tokenizer: Literal["whitespace", "unicode"] = "whitespace"
    """How a line becomes tokens: at whitespace, or by rules for text that isn't tokenized."""
    encoding: str = "utf-8"
    """Encoding of all texts."""
    errors: Literal["strict", "skip"] = "strict"
    """What a line that isn't valid text does: stop, or be listed and skipped."""
    force: bool = False
    """Replace prepared data that exists."""
    json: bool = False
    """Print the report as JSON."""
    quiet: bool = False
    """No progress and no table."""


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = tyro.cli(Arguments, args=argv, prog="elmo prepare", config=(tyro.conf.FlagCreatePairsOff,))
    bar = tqdm(unit="B", unit_scale=True, desc="reading", disable=arguments.quiet, file=sys.stderr)
    with bar:
        report = prepare(
            arguments.texts,
            arguments.output,
            vocabulary_size=arguments.vocab_size,
            min_count=arguments.min_count,
            vocabulary=arguments.vocabulary,
            valid=arguments.valid,
            test=arguments.test,
            max_characters_per_token=arguments.max_characters_per_token,
            tokenizer=arguments.tokenizer,
            encoding=arguments.encoding,
            errors=arguments.errors,
            force=arguments.force,
            progress=_shown_by(bar),
        )
    num_bad = _tell_problems(report)
    if arguments.json:
        print(json.dumps(report, indent=2))
    elif not arguments.quiet:
        print(_table(report, arguments.output))
    return 1 if num_bad else 0


def _shown_by(bar: tqdm) -> OnProgress:
    def show(done: int, total: int) -> None:
        bar.total = total or None
        bar.update(done - bar.n)

    return show


def _tell_problems(report: dict[str, Any]) -> int:
    for warning in report["warnings"]:
        print(f"warning: {warning}", file=sys.stderr)
    for message in report["bad_lines"]:
        print(f"skipped: {message}", file=sys.stderr)
    num_bad = sum(split["bad_lines"] for split in report["splits"].values())
    if num_bad > len(report["bad_lines"]):
        print(f"skipped: {num_bad - len(report['bad_lines'])} more lines", file=sys.stderr)
    return num_bad


_ROWS = (
    ("sentences", "sentences", "{:,}"),
    ("tokens", "tokens", "{:,}"),
    ("distinct words", "types", "{:,}"),
    ("tokens not in vocabulary", "oov_share", "{:.2%}"),
    ("tokens cut", "truncated_share", "{:.4%}"),
    ("bytes per token", "mean_bytes_per_token", "{:.2f}"),
    ("tokens per sentence", "mean_tokens_per_sentence", "{:.1f}"),
    ("blank lines left out", "blank_lines", "{:,}"),
    ("bad lines left out", "bad_lines", "{:,}"),
)


def _table(report: dict[str, Any], output: Path) -> str:
    splits = report["splits"]
    lines = [f"{output}: {report['vocabulary_size']:,} words in the vocabulary, {report['types']:,} word types", ""]
    lines.append(f"{'':26}" + "".join(f"{name:>16}" for name in splits))
    for label, key, form in _ROWS:
        lines.append(f"{label:26}" + "".join(f"{form.format(split[key]):>16}" for split in splits.values()))
    return "\n".join(lines)
