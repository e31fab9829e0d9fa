"""`elmo-paper geometry`: how alike are tokens, occurrences of one word, words of one sentence, and layers?"""

from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

import tyro

from elmo.cli.inputs import FormFlags
from elmo.process.text_table import text_table
from elmo.setting_checks import require_setting
from elmo.text.reading.settings import TextForm
from elmo_paper.analysis.encoders import EncoderChoice
from elmo_paper.analysis.record import Record, row_name
from elmo_paper.cli.arguments import parsed
from elmo_paper.cli.produce import OutputFlags, produce


@dataclass(frozen=True)
class Arguments:
    """Measure how each layer arranges the tokens of a text: the cosine of random tokens (anisotropy), of one word's
    occurrences in different sentences (self-similarity) and of words with their sentence's mean (intra-sentence
    similarity), the share of the first principal component in a word's occurrences (maximum explainable variance), and
    how similar the layers are (CKA)."""

    text: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="TEXT")]
    """One tokenized sentence per line; .gz, .xz, .bz2 and .zst are unpacked."""
    sentences: int = 10_000
    """Maximum number of sentences to read."""
    least_sentences: int = 5
    """Measure words that occur in at least this many different sentences."""
    seed: int = 0
    """Random seed for drawing tokens and words."""
    against: Annotated[str | None, tyro.conf.arg(metavar="MODEL")] = None
    """Another model to compare with, layer by layer, for example a fine-tuned model with the general one."""
    tokenizer: Literal["whitespace", "unicode"] = "whitespace"
    """How a line is split into tokens: at whitespace, or by rules, for text that isn't tokenized."""
    form: FormFlags = field(default_factory=TextForm)
    encoders: EncoderChoice = field(default_factory=EncoderChoice)
    results: OutputFlags = field(default_factory=OutputFlags)


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "geometry")
    return produce(arguments.results, lambda: record_of(arguments), table)


def record_of(arguments: Arguments) -> Record:
    """The record of the analysis."""
    from elmo.text.reading.as_trained import as_trained
    from elmo.text.sentences import read_sentences
    from elmo.text.tokenizer import tokenizer
    from elmo_paper.analysis.encoders import described, encoders_of
    from elmo_paper.analysis.geometry import SampleSettings, geometry
    from elmo_paper.analysis.record import begun

    require_setting(arguments.sentences >= 2, "sentences", arguments.sentences, "at least 2")
    form = arguments.form
    tokenize = tokenizer(arguments.tokenizer)
    lines = read_sentences(arguments.text, tokenize=tokenize, format=form.format, field=form.field)
    text = [tuple(as_trained(sentence)) for sentence in islice(lines, arguments.sentences)]
    encoders = encoders_of(arguments.encoders, against=arguments.against)
    settings = SampleSettings(least_sentences=arguments.least_sentences, seed=arguments.seed)
    found = geometry(text, encoders, settings, progress=not arguments.results.quiet)
    beginning = begun(
        "geometry",
        encoders=described(arguments.encoders, encoders),
        data={"text": arguments.text},
        settings={name: getattr(arguments, name) for name in ("sentences", "least_sentences", "seed", "against")},
    )
    return beginning | found.record()


def table(record: Record) -> str:
    """The record's tables as text."""
    names = [row_name(row) for row in record["layers"]]
    keys = ("anisotropy", "self_similarity", "intra_sentence", "explained")
    rows = [["mean cosines", "anisotropy", "self-similarity", "intra-sentence", "explained", "norm"]]
    for name, row in zip(names, record["layers"], strict=True):
        measured = [row[key] and row[key][0] for key in keys]
        rows.append([name, *("-" if value is None else f"{value:.3f}" for value in [*measured, row["norm"]])])
    likeness = [["CKA", *map(str, range(len(names)))]]
    for number, (name, alike) in enumerate(zip(names, record["cka"], strict=True)):
        likeness.append([f"{number} {name}", *(f"{value:.2f}" for value in alike)])
    sizes = f"{record['sentences']:,} different sentences, {record['tokens']:,} tokens, {record['words']:,} words"
    end = f"Over {sizes}. Cosines are as they are: subtract anisotropy to compare layers."
    return "\n".join([*text_table(rows), "", *text_table(likeness), "", end])
