"""`elmo perplexity`: how well a model predicts a text."""

import json
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import tyro
from tqdm import tqdm

from elmo.cli.arguments import parsed
from elmo.cli.language_model import ModelFlag, load, model_and_input
from elmo.errors import ConfigError
from elmo.process.device import Device
from elmo.text.sentences import read_sentences
from elmo.text.text_file import is_stream, require_other_file, text_name

if TYPE_CHECKING:
    from elmo.lm.perplexity import SentenceScore
    from elmo.model.bilm import BiLM
    from elmo.model.lm_head import LMHead


@dataclass(frozen=True)
class Arguments:
    """Print how well each direction of a model predicts a text: full softmax, every token counts once, nothing is
    dropped. The sampled loss of a training run is no perplexity."""

    inputs: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[MODEL] TEXT")]
    """A text of one tokenized sentence per line; .gz, .xz and .bz2 are unpacked; - is standard input. The model may be
    named before it."""
    model: ModelFlag = None
    """A name, a folder or file, or a hub id; it needs a softmax (default: $ELMO_MODEL, or the bundled model)."""
    protocol: Literal["exact", "bilm-tf"] = "exact"
    """bilm-tf: as its run_test.py measures, to stand beside its numbers: rows with a carried state, and an end that is
    dropped."""
    state: Literal["zero", "carry"] = "zero"
    """Of the exact protocol: every sentence starts from a zero state, or remembers the sentences before it."""
    batch_size: int | None = None
    """Rows read side by side by --protocol bilm-tf (default: 256) and --state carry (default: 16)."""
    per_sentence: bool = False
    """Also print each sentence's line number, tokens and perplexities."""
    per_token: Path | None = None
    """Also write each sentence's tokens with their nats in each direction to this file, one JSON object per line."""
    force: bool = False
    """Replace that file if it exists."""
    encoding: str = "utf-8"
    """Encoding of the text."""
    errors: Literal["strict", "skip"] = "strict"
    """What happens at a line that isn't valid text: strict: stop; skip: list and skip it."""
    device: Device = "auto"
    """Where to compute."""
    json: bool = False
    """Print the result as JSON."""
    quiet: bool = False
    """No progress."""

    @property
    def text(self) -> str:
        """The last of the inputs."""
        return self.inputs[-1]


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "perplexity")
    model, _ = model_and_input(arguments.inputs, arguments.model, "perplexity")
    _require_sense(arguments)
    if arguments.per_token is not None:
        require_other_file(arguments.text, arguments.per_token)
    # Before the model is read, so that a bad line shows at once; the number of sentences gives an ETA.
    total = None if is_stream(arguments.text) else sum(1 for _ in _numbered(arguments, []))
    bilm, head = load(model, arguments.device)
    bad_lines: list[str] = []
    # Sentences are done in windows, so only the mean speed says when the end will come.
    with tqdm(total=total, unit="sentence", smoothing=0, disable=arguments.quiet, file=sys.stderr) as bar:
        facts = {"text": text_name(arguments.text)}
        if arguments.protocol == "bilm-tf":
            facts |= _like_bilm_tf(bilm, head, arguments, bad_lines)
        else:
            facts |= _exact(bilm, head, arguments, bad_lines, bar)
    for message in bad_lines:
        print(f"skipped: {message}", file=sys.stderr)
    print(json.dumps(facts, indent=2) if arguments.json else _table(facts))
    return 1 if bad_lines else 0


def _require_sense(arguments: Arguments) -> None:
    carries = arguments.protocol == "bilm-tf" or arguments.state == "carry"
    if arguments.batch_size is not None and not carries:
        raise ConfigError(
            "--batch-size was given, but sentences that start from a zero state have the same scores in every batch. "
            "Leave it out, or add --state carry or --protocol bilm-tf."
        )
    if arguments.protocol == "bilm-tf" and (
        arguments.state != "zero" or arguments.per_sentence or arguments.per_token is not None
    ):
        raise ConfigError(
            "--protocol bilm-tf was given together with --state, --per-sentence or --per-token, but it always carries "
            "the state and cuts sentences off. Leave the protocol out to have scores of sentences and tokens."
        )


def _numbered(arguments: Arguments, bad_lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Each sentence that isn't empty, with its line number from 1."""
    return ((number, sentence) for number, sentence in enumerate(_lines(arguments, bad_lines), start=1) if sentence)


def _lines(arguments: Arguments, bad_lines: list[str]) -> Iterator[list[str]]:
    return read_sentences(
        arguments.text,
        encoding=arguments.encoding,
        errors=arguments.errors,
        on_bad_line=lambda _, message: bad_lines.append(message),
    )


def _like_bilm_tf(bilm: "BiLM", head: "LMHead", arguments: Arguments, bad_lines: list[str]) -> dict[str, Any]:
    # Here, so that --help does not wait for torch.
    from elmo.lm.bilm_tf_protocol import BATCH_SIZE, evaluate_like_bilm_tf

    rows = BATCH_SIZE if arguments.batch_size is None else arguments.batch_size
    return evaluate_like_bilm_tf(bilm, head, _lines(arguments, bad_lines), batch_size=rows).to_dict()


def _exact(bilm: "BiLM", head: "LMHead", arguments: Arguments, bad_lines: list[str], bar: tqdm) -> dict[str, Any]:
    from elmo.lm.perplexity import scores, total

    numbers: deque[int] = deque()
    rows = 16 if arguments.batch_size is None else arguments.batch_size
    found = scores(bilm, head, _sentences(arguments, bad_lines, numbers), state=arguments.state, rows=rows)
    each: list[dict[str, Any]] | None = [] if arguments.per_sentence else None
    with _token_file(arguments) as file:
        facts = total(_told(found, numbers, each, file), on_progress=bar.update).to_dict()
    return facts if each is None else {**facts, "each": each}


def _sentences(arguments: Arguments, bad_lines: list[str], numbers: deque[int]) -> Iterator[list[str]]:
    """The sentences that aren't empty; the line number of each is left in `numbers`."""
    for number, sentence in _numbered(arguments, bad_lines):
        numbers.append(number)
        yield sentence


def _told(
    found: "Iterable[SentenceScore]", numbers: deque[int], each: list[dict[str, Any]] | None, file: TextIO | None
) -> "Iterator[SentenceScore]":
    """Passes the scores on, and leaves each sentence's figures in `each`, each token's in `file`."""
    from elmo.lm.perplexity import total

    for score in found:
        line = numbers.popleft()
        if each is not None:
            each.append({"line": line, **total([score]).to_dict()})
        if file is not None:
            file.write(json.dumps({"line": line, **score.to_dict()}, ensure_ascii=False) + "\n")
        yield score


@contextmanager
def _token_file(arguments: Arguments) -> Iterator[TextIO | None]:
    if arguments.per_token is None:
        yield None
        return
    # Here, so that --help does not wait for torch.
    from elmo.disk.atomic import new_file

    with (
        new_file(arguments.per_token, size=0, force=arguments.force) as unfinished,
        unfinished.open("w", encoding="utf-8") as file,
    ):
        yield file


def _table(facts: dict[str, Any]) -> str:
    names = [name for name in ("forward", "backward", "mean") if f"{name}_perplexity" in facts]
    lines = []
    if "each" in facts:
        lines = ["".join(f"{title:>12}" for title in ("line", "tokens", *names))]
        for one in facts["each"]:
            figures = "".join(f"{one[f'{name}_perplexity']:12.2f}" for name in names)
            lines.append(f"{one['line']:12}{one['tokens']:12}{figures}")
        lines.append("")
    lines += [f"{name + ' perplexity':22} {facts[f'{name}_perplexity']:.2f}" for name in names]
    lines.append(f"{'nats per token':22} {facts['nats_per_token']:.4f}")
    lines.append(f"{'sentences':22} {facts['sentences']:,}")
    lines.append(f"{'tokens':22} {facts['tokens']:,}")
    lines.append(f"{'not in vocabulary':22} {facts['unknown_share']:.2%}")
    if "dropped_sentences" in facts:
        lines.append(f"{'dropped sentences':22} {facts['dropped_sentences']:,}")
        lines.append(f"{'dropped predictions':22} {facts['dropped_predictions']:,}")
    return "\n".join(lines)
