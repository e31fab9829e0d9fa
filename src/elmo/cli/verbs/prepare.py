"""`elmo prepare`: a corpus -> the folder that `elmo pretrain` reads."""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

from elmo.cli.arguments import ReportAsJson, parsed
from elmo.cli.output import list_skipped, print_report
from elmo.corpus.prepare import prepare
from elmo.corpus.settings import CorpusSettings
from elmo.process.stop_flag import stop_flag
from elmo.process.text_table import text_table


@dataclass(frozen=True)
class Arguments:
    """Turn a corpus into a vocabulary and memory-mapped shards for 'elmo pretrain', and report on it. Ctrl-C and
    SIGTERM keep finished work; --resume continues from there, and also after a crash."""

    texts: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="TEXT [TEXT ...]")]
    """Training text: files of any size, .gz, .xz, .bz2 and .zst are unpacked; - is standard input."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="DATA")]
    """Folder to write."""
    valid: tuple[Path, ...] = ()
    """Held-out text for the perplexity during training."""
    test: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="TEXT [TEXT ...]")] = ()
    """Held-out text for a final test."""
    settings: Annotated[CorpusSettings, tyro.conf.arg(name="")] = field(default_factory=CorpusSettings)
    workers: int = 1
    """Number of processes. The result doesn't depend on it."""
    resume: bool = False
    """Continue a killed or interrupted run."""
    force: bool = False
    """Replace existing prepared data, and discard what a killed run left."""
    json: ReportAsJson = False
    quiet: bool = False
    """No progress and no table."""


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "prepare")
    with stop_flag() as flag:
        report = prepare(
            arguments.texts,
            arguments.output,
            arguments.settings,
            valid=arguments.valid,
            test=arguments.test,
            workers=arguments.workers,
            resume=arguments.resume,
            force=arguments.force,
            progress=not arguments.quiet,
            stop_flag=flag,
        )
    num_bad = _report_problems(report)
    print_report(report, _table(report, arguments.output), as_json=arguments.json, quiet=arguments.quiet)
    return 1 if num_bad else 0


def _report_problems(report: dict[str, Any]) -> int:
    for warning in report["warnings"]:
        print(f"warning: {warning}", file=sys.stderr)
    list_skipped(report["bad_lines"])
    num_bad = sum(split["bad_lines"] for split in report["splits"].values())
    if num_bad > len(report["bad_lines"]):
        print(f"skipped: {num_bad - len(report['bad_lines'])} more lines", file=sys.stderr)
    return num_bad


_ROWS = (
    ("documents", "documents", "{:,}"),
    ("sentences", "sentences", "{:,}"),
    ("tokens", "tokens", "{:,}"),
    ("distinct words", "types", "{:,}"),
    ("tokens not in vocabulary", "oov_share", "{:.2%}"),
    ("tokens by their beginning", "beginning_share", "{:.2%}"),
    ("tokens cut", "truncated_share", "{:.4%}"),
    ("bytes per token", "mean_bytes_per_token", "{:.2f}"),
    ("tokens per sentence", "mean_tokens_per_sentence", "{:.1f}"),
    ("blank lines left out", "blank_lines", "{:,}"),
    ("bad lines left out", "bad_lines", "{:,}"),
)


def _table(report: dict[str, Any], output: Path) -> str:
    splits = report["splits"]
    has_beginnings = any(split["beginning_share"] for split in splits.values())
    rows = [["", *splits]]
    for label, key, form in _ROWS:
        # Documents are counted only where some are held out.
        if any(key in split for split in splits.values()) and (key != "beginning_share" or has_beginnings):
            rows.append([label, *(form.format(split[key]) if key in split else "" for split in splits.values())])
    title = f"{output}: {report['vocabulary_size']:,} words in the vocabulary, {report['types']:,} word types"
    warnings = [f"warning: {warning}" for warning in report["warnings"]]
    return "\n".join([title, "", *text_table(rows), *([""] if warnings else []), *warnings])
