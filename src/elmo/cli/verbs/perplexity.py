"""`elmo perplexity`: how well a model predicts a text."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import tyro

from elmo.cli.arguments import DeviceOption, Force, Ignored, LanguageModelOption, NoProgress, parsed
from elmo.cli.early_checks import As, check_language_model
from elmo.cli.inputs import ReadingFlags, TextInput, model_and_texts, text_input, vocabulary_of
from elmo.cli.output import print_report, result_file
from elmo.errors import ConfigError
from elmo.lm.manifest import Document, part_of, read_manifest
from elmo.process.progress.report import Count, Progress, following
from elmo.process.text_table import text_table
from elmo.text.files.text_file import require_other_file
from elmo.text.reading.placed import PlacedSentence
from elmo.text.reading.settings import Reading, text_files

if TYPE_CHECKING:
    from elmo.lm.language_model import LanguageModel
    from elmo.lm.perplexity import BySource, SentenceScore


@dataclass(frozen=True)
class Arguments:
    """Print how well each direction of a model predicts a text, with the full softmax; every token counts once, and
    nothing is dropped. Also shows what the perplexity is made of: the words in the vocabulary, and the share and cost
    of <UNK>. (The sampled loss of a training run is not a perplexity.)"""

    inputs: Annotated[
        tuple[str, ...], As("unchecked"), tyro.conf.Positional, tyro.conf.arg(metavar="[MODEL] TEXT [TEXT ...]")
    ]
    """Files or patterns like 'data/*.txt' (.gz, .xz, .bz2 and .zst are unpacked); - is standard input. The model may be
    named before them."""
    model: LanguageModelOption = None
    protocol: Literal["exact", "bilm-tf"] = "exact"
    """bilm-tf: measure as its run_test.py does, to compare with its figures: the state is carried in rows, and tokens
    at the end are dropped."""
    state: Literal["zero", "carry"] = "zero"
    """For the exact protocol: every sentence starts from a zero state, or the state of the sentences before it is
    carried over."""
    batch_size: int | None = None
    """Number of rows read in parallel by --protocol bilm-tf (default: 256) and --state carry (default: 16)."""
    manifest: Path | None = None
    """Also print the perplexity of each source. The file is a tab-separated table that says which lines come from which
    source (columns first_line, lines, and group, source or doc)."""
    manifest_part: str | None = None
    """SET/SPLIT: the values of the manifest's columns set and split for this text (default: from its folder and file
    name, lm-en/test for lm-en/test.txt.xz)."""
    per_sentence: bool = False
    """Also print each sentence's line number, tokens and perplexities; of several texts also its file."""
    per_token: Annotated[Path | None, As("output file")] = None
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
    arguments = parsed(Arguments, argv, "perplexity", ignored=_ignored)
    model, names = model_and_texts(arguments.inputs, arguments.model, "perplexity")
    names = text_files(names)
    if arguments.per_token is not None:
        for name in names:
            require_other_file(name, arguments.per_token)
    documents = _documents(arguments, names)
    check_language_model(model)
    # Before the model is read, so that a bad line shows at once; the number of sentences gives an ETA.
    text = text_input(names, arguments.reading, vocabulary_of(model, quiet=arguments.quiet), quiet=arguments.quiet)
    total = None if text.is_stream else sum(1 for place in text.sentences() if place.tokens)
    from elmo.lm.named_model import load_language_model

    language_model = load_language_model(model, arguments.device)
    with following(not arguments.quiet) as progress:
        facts: dict[str, Any] = {"text": text.name}
        if arguments.protocol == "bilm-tf":
            facts |= _like_bilm_tf(language_model, arguments, text, progress)
        else:
            facts |= _exact(language_model, arguments, text, total, progress, documents)
    code = text.report_bad_lines()
    print_report(facts, _table(facts), as_json=arguments.json)
    return code


def _ignored(arguments: Arguments) -> Iterator[Ignored]:
    if arguments.protocol == "bilm-tf":
        why = "together with --protocol bilm-tf, which always carries the state and cuts sentences off"
        otherwise = "leave the protocol out to have scores of sentences, tokens and sources"
        yield Ignored(("--state", "--per-sentence", "--per-token", "--manifest"), why, otherwise)
    elif arguments.state != "carry":
        why = "with sentences that start from a zero state, which have the same scores in every batch"
        yield Ignored(("--batch-size",), why, "add --state carry or --protocol bilm-tf")
    if arguments.manifest is None:
        yield Ignored(
            ("--manifest-part",), "without --manifest, so there is nothing to look it up in", "add --manifest FILE"
        )


def _documents(arguments: Arguments, names: Sequence[str]) -> list[Document] | None:
    if arguments.manifest is None:
        return None
    if len(names) > 1:
        raise ConfigError(
            f"--manifest describes the lines of one text, but {len(names)} were given. Name one, or leave the "
            "manifest out."
        )
    return read_manifest(arguments.manifest, arguments.manifest_part or part_of(names[0]))


def _like_bilm_tf(model: "LanguageModel", arguments: Arguments, text: TextInput, progress: Progress) -> dict[str, Any]:
    from elmo.lm.bilm_tf_protocol import BATCH_SIZE, evaluate_like_bilm_tf

    rows = BATCH_SIZE if arguments.batch_size is None else arguments.batch_size
    # A blank line counts in this protocol; a line that is skipped must not.
    sentences = (place.tokens for place in text.sentences() if not place.is_skipped)
    return evaluate_like_bilm_tf(model, sentences, batch_size=rows, progress=progress).to_dict()


def _exact(
    model: "LanguageModel",
    arguments: Arguments,
    text: TextInput,
    num_sentences: int | None,
    progress: Progress,
    documents: list[Document] | None,
) -> dict[str, Any]:
    from elmo.lm.perplexity import BySource, scores, total

    by_source = None if documents is None else BySource(documents)
    rows = 16 if arguments.batch_size is None else arguments.batch_size
    places, read = tee(place for place in text.sentences() if place.tokens)
    tokens = (place.tokens for place in read)
    found = zip(scores(model, tokens, state=arguments.state, rows=rows, progress=progress), places, strict=True)
    each: list[dict[str, Any]] | None = [] if arguments.per_sentence else None
    scored = Count(progress, "scoring", num_sentences, "sentences")
    with result_file(arguments.per_token, force=arguments.force) as file:
        facts: dict[str, Any] = total(scored.each(_noted(found, text, each, file, by_source))).to_dict()
    scored.finish()
    if by_source is not None:
        facts["sources"] = {name: figures.to_dict() for name, figures in by_source.perplexities().items()}
    return facts if each is None else {**facts, "each": each}


def _noted(
    found: "Iterable[tuple[SentenceScore, PlacedSentence]]",
    text: TextInput,
    each: list[dict[str, Any]] | None,
    file: TextIO | None,
    by_source: "BySource | None",
) -> "Iterator[SentenceScore]":
    """Passes the scores on, and leaves each sentence's figures in `each` and `by_source`, each token's in `file`."""
    from elmo.lm.perplexity import total

    for score, place in found:
        named = text.place(place)
        if each is not None:
            each.append(named | total([score]).to_dict())
        if file is not None:
            values = named | score.to_dict() | {"spans": place.spans.tolist()}
            file.write(json.dumps(values, ensure_ascii=False) + "\n")
        if by_source is not None:
            by_source.add(place.line, score)
        yield score


def _table(facts: dict[str, Any]) -> str:
    names = [name for name in ("forward", "backward", "mean") if f"{name}_perplexity" in facts]
    lines = _lines_of_sentences(facts["each"], names) if "each" in facts else []
    lines += [f"{name + ' perplexity':22} {facts[f'{name}_perplexity']:.2f}" for name in names]
    lines += [f"{title:22} {facts[key]:{form}}" for title, key, form in _FIGURES if key in facts]
    if "sources" in facts:
        lines += ["", *_lines_of_sources(facts["sources"])]
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
    ("dropped sentences", "dropped_sentences", ","),
    ("dropped predictions", "dropped_predictions", ","),
)


def _lines_of_sentences(each: list[dict[str, Any]], names: list[str]) -> list[str]:
    has_files = "file" in each[0]
    rows = [[*(["file"] if has_files else []), "line", "tokens", *names]]
    for one in each:
        figures = [f"{one[f'{name}_perplexity']:.2f}" for name in names]
        rows.append([*([one["file"]] if has_files else []), str(one["line"]), str(one["tokens"]), *figures])
    return [*text_table(rows, left=int(has_files)), ""]


def _lines_of_sources(sources: dict[str, dict[str, float]]) -> list[str]:
    rows = [["source", "tokens", "mean", "listed", "<UNK>"]]
    for name, figures in sources.items():
        listed = figures.get("listed_mean_perplexity")
        mean, unknown = f"{figures['mean_perplexity']:.2f}", f"{figures['unknown_share']:.2%}"
        rows.append([name, f"{figures['tokens']:,}", mean, "" if listed is None else f"{listed:.2f}", unknown])
    return text_table(rows)
