"""`elmo bench`: how fast sentences become vectors here, beside what this machine's products allow."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median_high
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from elmo.cli.arguments import NoProgress, parsed
from elmo.cli.output import print_report
from elmo.errors import ConfigError
from elmo.process.progress.report import Count, following
from elmo.process.text_table import text_table
from elmo.setting_checks import require_setting
from elmo.text.sentences import read_sentences

if TYPE_CHECKING:
    from elmo.embed.embedder import Embedder


@dataclass(frozen=True)
class Arguments:
    """Measure tokens per second for each dtype and batch size, and compare them with the floor: the time that the
    processor's multiply-and-add instructions would take for the same matrix products, measured in the same run."""

    text: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="[TEXT]")] = None
    """Sentences to embed, one per line (default: random words, in sentences of natural lengths)."""
    model: Annotated[str | None, tyro.conf.arg(aliases=["-m"])] = None
    """A name, a folder or file, or a hub id (default: random weights of --size; the speed doesn't depend on the
    weights)."""
    size: Literal["small", "medium", "original"] = "small"
    """Published size of the model with random weights."""
    dtypes: tuple[Literal["float32", "bfloat16", "int8"], ...] = ("float32", "bfloat16", "int8")
    """Precisions to measure."""
    batches: tuple[int, ...] = (1, 16, 64, 128)
    """Numbers of sentences per call to measure."""
    sentences: int = 256
    """Number of sentences to embed for each figure, from the beginning of the text."""
    rounds: int = 3
    """How many times to repeat all measurements, in alternation."""
    threads: int | None = None
    """Number of threads (default: torch's)."""
    json: bool = False
    """Print the figures as JSON."""
    quiet: NoProgress = False


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "bench")
    numbers = {"--sentences": arguments.sentences, "--rounds": arguments.rounds, "--threads": arguments.threads}
    numbers |= {"--batches": min(arguments.batches, default=0)}
    for name, number in numbers.items():
        require_setting(number is None or number >= 1, name, number, "at least 1")
    import torch

    from elmo.embed.speed import random_sentences

    if arguments.threads is not None:
        torch.set_num_threads(arguments.threads)
    sentences = random_sentences(arguments.sentences)
    if arguments.text is not None:
        rows = read_sentences(arguments.text)
        sentences = [row for row, _ in zip(filter(None, rows), range(arguments.sentences), strict=False)]
        if not sentences:
            raise ConfigError(f"{arguments.text} has no sentence to embed. Name a text with one sentence per line.")
    figures = _measured(arguments, sentences)
    print_report(figures, _table(figures), as_json=arguments.json)
    return 0


def _measured(arguments: Arguments, sentences: list[list[str]]) -> dict[str, Any]:
    import torch

    from elmo.embed.speed import measured_peak, words_of

    embedders = _embedders(arguments)
    alone = measured_peak(threads=1, tries=1)
    speeds, peak = _rounds(arguments, embedders, sentences)
    rows = []
    for (dtype, batch), of_rounds in speeds.items():
        speed, bound = median_high(of_rounds), _bound(embedders[dtype], peak, dtype, batch, sentences)
        rows.append({"dtype": dtype, "batch": batch, "words_per_second": speed, "floor": bound, "share": speed / bound})
    return {
        "model": arguments.model or f"{arguments.size}, random weights",
        "threads": torch.get_num_threads(),
        "words": words_of(sentences),
        "sentences": len(sentences),
        "peak_gflops": {dtype: value / 1e9 for dtype, value in peak.items()},
        "peak_gflops_one_thread": {dtype: value / 1e9 for dtype, value in alone.items()},
        "products": {dtype: embedder.describe()["products"] for dtype, embedder in embedders.items()},
        "speeds": rows,
    }


def _rounds(
    arguments: Arguments, embedders: "Mapping[str, Embedder]", sentences: list[list[str]]
) -> tuple[dict[tuple[str, int], list[float]], dict[str, float]]:
    """Words per second by dtype and batch, in each round; and the highest peak of any round by dtype, in FLOP/s."""
    import torch

    from elmo.embed.speed import measured_peak, words_per_second

    speeds: dict[tuple[str, int], list[float]] = {}
    peak: dict[str, float] = {}
    with following(not arguments.quiet) as progress:
        num_figures = arguments.rounds * len(embedders) * len(arguments.batches)
        measured = Count(progress, "measuring", num_figures, "figures")
        for _ in range(arguments.rounds):
            for dtype, value in measured_peak(torch.get_num_threads(), tries=1).items():
                peak[dtype] = max(value, peak.get(dtype, 0))
            for dtype, batch in measured.each(product(embedders, arguments.batches)):
                speed = words_per_second(embedders[dtype], sentences, batch)
                speeds.setdefault((dtype, batch), []).append(speed)
    return speeds, peak


def _bound(embedder: "Embedder", peak: dict[str, float], dtype: str, batch: int, sentences: list[list[str]]) -> float:
    """The words per second that this machine could reach: by its products and, of single sentences, by its memory."""
    import torch

    from elmo.embed.speed import floor, reading_floor, words_of

    config, threads = embedder.bilm.config, torch.get_num_threads()
    bound = floor(config, peak, dtype, sentences)  # type: ignore[arg-type]
    words = words_of(sentences)
    reading = reading_floor(config, dtype, words, len(sentences), threads) if batch == 1 else None  # type: ignore[arg-type]
    return min(bound, reading) if reading else bound


def _embedders(arguments: Arguments) -> dict[str, "Embedder"]:
    from elmo.embed.embedder import Embedder
    from elmo.embed.speed import random_bilm

    if arguments.model is None:
        bilm = random_bilm(arguments.size)
    else:
        bilm = Embedder.from_pretrained(arguments.model, device="cpu").bilm
    return {dtype: Embedder(bilm, dtype=dtype) for dtype in arguments.dtypes}


def _table(figures: dict[str, Any]) -> str:
    alone = figures["peak_gflops_one_thread"]
    peaks = ", ".join(f"{dtype} {value:,.0f} ({alone[dtype]:,.0f})" for dtype, value in figures["peak_gflops"].items())
    rows = [["dtype", "batch", "words/s", "floor", "share", "  products"]]
    for row in figures["speeds"]:
        speeds = [f"{row['words_per_second']:,.0f}", f"{row['floor']:,.0f}", f"{row['share']:.2f}"]
        rows.append([row["dtype"], str(row["batch"]), *speeds, f"  {figures['products'][row['dtype']]}"])
    return "\n".join(
        [
            f"{figures['model']}; {figures['threads']} threads; {figures['sentences']} sentences, "
            f"{figures['words']} words",
            f"peak of this machine's products, GFLOP/s (one thread): {peaks}",
            "",
            *text_table(rows),
        ]
    )
