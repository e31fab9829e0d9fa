"""`elmo prepare`: a corpus -> the folder of numbers that `elmo pretrain` reads."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from tqdm import tqdm

from elmo.corpus.block_reader import Sentences
from elmo.corpus.documents import Documents
from elmo.corpus.prepare import OnProgress, prepare
from elmo.errors import TextError
from elmo.process.stop_flag import stop_flag
from elmo.text.text_file import FormatChoice
from elmo.weights.catalogue import bundled_folders
from elmo.weights.hub import resolve
from elmo.weights.native.names import VOCABULARY_FILE


@dataclass(frozen=True)
class Arguments:
    """Turn a corpus into a vocabulary and memory-mapped shards for 'elmo pretrain', and report on it. Ctrl-C and
    SIGTERM keep what is done; --resume goes on from there, also after a crash."""

    texts: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Training text: files of any size, .gz, .xz, .bz2 and .zst are unpacked; - is standard input."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """Folder to make."""
    vocab_size: int | None = None
    """Words the language model predicts, <S>, </S> and <UNK> included (default: all)."""
    min_count: int = 1
    """Leave rarer words out of the vocabulary."""
    num_beginnings: int = 0
    """For languages whose words are built of many parts: this many entries of the vocabulary, at most, are beginnings
    that stand for the words it leaves out. Of 30,000, 8,000 leave 1% of Korean tokens to <UNK> instead of 33%."""
    vocabulary: str | None = None
    """Take this vocabulary instead of making one: a file (one word per line), or a model that is to be fine-tuned (its
    name or folder)."""
    valid: tuple[Path, ...] = ()
    """Held-out text for the perplexity during training."""
    test: tuple[Path, ...] = ()
    """Held-out text for the end."""
    valid_share: float | None = None
    """Instead of --valid: hold out this share of the training text's documents, the same ones every time."""
    documents: Documents | None = None
    """What a document is: file; block (what blank lines separate, or # newdoc begins in CoNLL-U); row (a line, a JSON
    object) (default: row for JSON lines, else block)."""
    max_characters_per_token: int = 50
    """Characters kept of each word, two marks included."""
    format: FormatChoice = "auto"
    """text: sentences in lines; jsonl: objects in lines; conllu: treebanks; auto: by the ending of each file."""
    field: str = "text"
    """Of JSON lines: what holds the text, or the list of a sentence's tokens."""
    sentences: Sentences = "lines"
    """lines: each line is one; for raw text: within-lines: a line can hold several; across-lines: they go on over line
    ends, and only blank lines end a paragraph."""
    tokenizer: str = "whitespace"
    """How text becomes tokens: whitespace; unicode: by rules, for text that isn't tokenized; or module:function of
    your own."""
    encoding: str = "utf-8"
    """Encoding of all texts."""
    errors: Literal["strict", "skip"] = "strict"
    """What a line that isn't valid text does: stop, or be listed and skipped."""
    workers: int = 1
    """Processes. What is made doesn't depend on their number."""
    resume: bool = False
    """Go on where a killed or interrupted run ended."""
    force: bool = False
    """Replace prepared data that exists, and throw away what a killed run left."""
    json: bool = False
    """Print the report as JSON."""
    quiet: bool = False
    """No progress and no table."""


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = tyro.cli(Arguments, args=argv, prog="elmo prepare", config=(tyro.conf.FlagCreatePairsOff,))
    bar = tqdm(unit="B", unit_scale=True, desc="reading", disable=arguments.quiet, file=sys.stderr)
    with bar, stop_flag() as flag:
        report = prepare(
            arguments.texts,
            arguments.output,
            vocabulary_size=arguments.vocab_size,
            min_count=arguments.min_count,
            num_beginnings=arguments.num_beginnings,
            vocabulary=_vocabulary_file(arguments.vocabulary),
            valid=arguments.valid,
            test=arguments.test,
            valid_share=arguments.valid_share,
            documents=arguments.documents,
            max_characters_per_token=arguments.max_characters_per_token,
            format=arguments.format,
            field=arguments.field,
            sentences=arguments.sentences,
            tokenizer=arguments.tokenizer,
            encoding=arguments.encoding,
            errors=arguments.errors,
            workers=arguments.workers,
            resume=arguments.resume,
            force=arguments.force,
            progress=_shown_by(bar),
            stop_flag=flag,
        )
    num_bad = _tell_problems(report)
    if arguments.json:
        print(json.dumps(report, indent=2))
    elif not arguments.quiet:
        print(_table(report, arguments.output))
    return 1 if num_bad else 0


def _vocabulary_file(given: str | None) -> Path | None:
    """The file that was asked for, or that of the model."""
    if given is None:
        return None
    if Path(given).is_file():
        return Path(given)
    if not Path(given).exists() and given not in bundled_folders():
        raise TextError(
            f"--vocabulary {given}: there is no such file, and no model of that name. Paths count from {Path.cwd()}; "
            f"bundled models: {', '.join(sorted(bundled_folders()))}."
        )
    folder = resolve(given)
    if isinstance(folder, tuple) or not (folder / VOCABULARY_FILE).is_file():
        raise TextError(
            f"--vocabulary {given}: this model has no {VOCABULARY_FILE}, so what its softmax predicts is unknown. "
            "Name the file of its words, one per line."
        )
    return folder / VOCABULARY_FILE


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
    lines = [f"{output}: {report['vocabulary_size']:,} words in the vocabulary, {report['types']:,} word types", ""]
    lines.append(f"{'':26}" + "".join(f"{name:>16}" for name in splits))
    for label, key, form in _ROWS:
        # Documents are counted only where some are held out.
        if any(key in split for split in splits.values()) and (key != "beginning_share" or has_beginnings):
            shown = [form.format(split[key]) if key in split else "" for split in splits.values()]
            lines.append(f"{label:26}" + "".join(f"{figure:>16}" for figure in shown))
    if report["warnings"]:
        lines += ["", *(f"warning: {warning}" for warning in report["warnings"])]
    return "\n".join(lines)
