"""`elmo perplexity`: how well a model predicts a text."""

import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro
from tqdm import tqdm

from elmo.cli.language_model import Device, load
from elmo.errors import TextError
from elmo.text.sentences import STDIN, read_sentences, text_name

if TYPE_CHECKING:
    from elmo.model.bilm import BiLM
    from elmo.model.lm_head import LMHead


@dataclass(frozen=True)
class Arguments:
    """Print how well each direction of a model predicts a text: full softmax, every token counts once."""

    model: Annotated[str, tyro.conf.Positional]
    """A name, a folder or file, or a hub id; the model needs a softmax."""
    text: Annotated[str, tyro.conf.Positional]
    """One tokenized sentence per line; .gz, .xz and .bz2 are unpacked; - is standard input."""
    per_sentence: bool = False
    """Also print each sentence's line number, tokens and perplexities."""
    encoding: str = "utf-8"
    """Encoding of the text."""
    errors: Literal["strict", "skip"] = "strict"
    """What a line that isn't valid text does: stop, or be listed and skipped."""
    device: Device = "auto"
    """Where to compute."""
    json: bool = False
    """Print the result as JSON."""
    quiet: bool = False
    """No progress."""


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = tyro.cli(Arguments, args=argv, prog="elmo perplexity", config=(tyro.conf.FlagCreatePairsOff,))
    # Before the model is read, so that a bad line shows at once; the number of sentences gives an ETA.
    total = None if arguments.text == STDIN else sum(1 for _ in _numbered(arguments, []))
    bilm, head = load(arguments.model, arguments.device)
    bad_lines: list[str] = []
    with tqdm(total=total, unit="sentence", disable=arguments.quiet, file=sys.stderr) as bar:
        facts = _evaluated(bilm, head, _numbered(arguments, bad_lines), bar, arguments)
    for message in bad_lines:
        print(f"skipped: {message}", file=sys.stderr)
    print(json.dumps(facts, indent=2) if arguments.json else _table(facts))
    return 1 if bad_lines else 0


def _numbered(arguments: Arguments, bad_lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Each sentence that isn't empty, with its line number from 1."""
    lines = read_sentences(
        arguments.text,
        encoding=arguments.encoding,
        errors=arguments.errors,
        on_bad_line=lambda _, message: bad_lines.append(message),
    )
    return ((number, sentence) for number, sentence in enumerate(lines, start=1) if sentence)


def _evaluated(
    bilm: "BiLM", head: "LMHead", numbered: Iterator[tuple[int, list[str]]], bar: tqdm, arguments: Arguments
) -> dict[str, Any]:
    # Here, so that --help does not wait for torch.
    from elmo.pretrain.perplexity import evaluate

    facts: dict[str, Any] = {"text": text_name(arguments.text)}
    if arguments.per_sentence:
        return facts | _each(bilm, head, list(numbered), bar)
    sentences = (sentence for _, sentence in numbered)
    return facts | evaluate(bilm, head, sentences, on_progress=bar.update).to_dict()


def _each(bilm: "BiLM", head: "LMHead", numbered: list[tuple[int, list[str]]], bar: tqdm) -> dict[str, Any]:
    """The figures of the text, and those of every sentence under "each"."""
    from elmo.pretrain.perplexity import Perplexity, scores

    found = []
    for score in scores(bilm, head, [sentence for _, sentence in numbered]):
        nats = {direction: float(values.sum(dtype="float64")) for direction, values in score.nats.items()}
        found.append(Perplexity(nats, len(next(iter(score.nats.values()))), 1, score.num_unknown))
        bar.update()
    if not found:
        raise TextError("there is no sentence to evaluate: the text is empty. Pass a text with one sentence a line.")
    total = Perplexity(
        {direction: math.fsum(one.nats[direction] for one in found) for direction in found[0].nats},
        sum(one.num_predictions for one in found),
        len(found),
        sum(one.num_unknown for one in found),
    )
    each = [{"line": line, **one.to_dict()} for (line, _), one in zip(numbered, found, strict=True)]
    return {**total.to_dict(), "each": each}


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
    return "\n".join(lines)
