"""`elmo perplexity`: how well a model predicts a text."""

import json
from dataclasses import dataclass, field
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from elmo.cli.arguments import DeviceOption, Force, LanguageModelOption, NoProgress, parsed
from elmo.cli.inputs import ReadingFlags, model_and_texts, text_input, vocabulary_of
from elmo.cli.output import print_report, result_file
from elmo.process.text_table import text_table
from elmo.text.files.text_file import require_other_file
from elmo.text.reading.settings import Reading, text_files

if TYPE_CHECKING:
    from elmo.lm.perplexity import SentenceScore


@dataclass(frozen=True)
class Arguments:
    """Print how well each direction of a model predicts a text, with the full softmax; every token counts once, and
    nothing is dropped. Also shows what the perplexity is made of: the words in the vocabulary, and the share and cost
    of <UNK>. (The sampled loss of a training run is not a perplexity.)"""

    inputs: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[MODEL] TEXT [TEXT ...]")]
    """Files or patterns like 'data/*.txt' (.gz, .xz, .bz2 and .zst are unpacked); - is standard input. The model may be
    named before them."""
    model: LanguageModelOption = None
    state: Literal["zero", "carry"] = "zero"
    """Every sentence starts from a zero state, or the state of the sentences before it is carried over."""
    batch_size: int = 16
    """Number of contiguous parts of the text that --state carry reads side by side."""
    per_sentence: bool = False
    """Also print each sentence's line number, tokens and perplexities; of several texts also its file."""
    per_token: Path | None = None
    """Also write each sentence's tokens, with their loss in nats in each direction, to this file, one JSON object per
    line."""
    force: Force = False
    reading: ReadingFlags = field(default_factory=Reading)
    device: DeviceOption = "auto"
    json: bool = False
    """Print the result as JSON."""
    quiet: NoProgress = False


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "perplexity")
    model, names = model_and_texts(arguments.inputs, arguments.model)
    names = text_files(names)
    if arguments.per_token is not None:
        for name in names:
            require_other_file(name, arguments.per_token)
    # Before the model is read, so that a bad line shows at once; the number of sentences gives an ETA.
    text = text_input(names, arguments.reading, vocabulary_of(model, quiet=arguments.quiet), quiet=arguments.quiet)
    num_sentences = None if text.is_stream else sum(1 for place in text.sentences() if place.tokens)
    from elmo.lm.named_model import load_language_model
    from elmo.lm.perplexity import evaluate, total

    each: list[dict[str, Any]] = []
    places, read = tee(place for place in text.sentences() if place.tokens)
    with result_file(arguments.per_token, force=arguments.force) as file:

        def show(score: "SentenceScore") -> None:
            place = next(places)
            if arguments.per_sentence:
                each.append(text.place(place) | total([score]).to_dict())
            if file is not None:
                values = text.place(place) | score.to_dict() | {"spans": place.spans.tolist()}
                file.write(json.dumps(values, ensure_ascii=False) + "\n")

        found = evaluate(
            load_language_model(model, arguments.device),
            (place.tokens for place in read),
            state=arguments.state,
            rows=arguments.batch_size,
            each=show,
            num_sentences=num_sentences,
            progress=not arguments.quiet,
        )
    facts: dict[str, Any] = {"text": text.name, **found.to_dict()}
    if arguments.per_sentence:
        facts["each"] = each
    code = text.report_bad_lines()
    print_report(facts, perplexity_table(facts), as_json=arguments.json)
    return code


def perplexity_table(facts: dict[str, Any]) -> str:
    """The figures of a text, a line each."""
    names = [name for name in ("forward", "backward", "mean") if f"{name}_perplexity" in facts]
    lines = _lines_of_sentences(facts["each"], names) if "each" in facts else []
    lines += [f"{name + ' perplexity':22} {facts[f'{name}_perplexity']:.2f}" for name in names]
    lines += [f"{title:22} {facts[key]:{form}}" for title, key, form in _FIGURES if key in facts]
    return "\n".join(lines)


_FIGURES = (
    ("nats per token", "nats_per_token", ".4f"),
    ("bits per character", "bits_per_character", ".3f"),
    ("sentences", "sentences", ","),
    ("tokens", "tokens", ","),
    ("listed words alone", "listed_mean_perplexity", ".2f"),
    ("by their beginning", "beginning_share", ".2%"),
    ("perplexity of these", "beginning_mean_perplexity", ".2f"),
    ("not in vocabulary", "unknown_share", ".2%"),
    ("perplexity of <UNK>", "unknown_mean_perplexity", ".2f"),
    ("<UNK> of all nats", "unknown_share_of_nats", ".2%"),
)


def _lines_of_sentences(each: list[dict[str, Any]], names: list[str]) -> list[str]:
    has_files = "file" in each[0]
    rows = [[*(["file"] if has_files else []), "line", "tokens", *names]]
    for one in each:
        figures = [f"{one[f'{name}_perplexity']:.2f}" for name in names]
        rows.append([*([one["file"]] if has_files else []), str(one["line"]), str(one["tokens"]), *figures])
    return [*text_table(rows, left=int(has_files)), ""]
