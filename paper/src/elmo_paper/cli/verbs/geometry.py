"""`elmo-paper geometry`: how alike are tokens, occurrences of one word, words of one sentence, and layers?"""

from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

import tyro

from elmo.cli.inputs import FormFlags
from elmo.setting_checks import require_setting
from elmo.text.reading.settings import TextForm
from elmo_paper.cli.arguments import parsed
from elmo_paper.cli.produce import Analysis


@dataclass(frozen=True, kw_only=True)
class Arguments(Analysis):
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


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "geometry")
    from elmo.text.reading.as_trained import as_trained
    from elmo.text.sentences import read_sentences
    from elmo.text.tokenizer import tokenizer
    from elmo_paper.analysis.geometry import SampleSettings, geometry

    require_setting(arguments.sentences >= 2, "sentences", arguments.sentences, "at least 2")
    form = arguments.form
    tokenize = tokenizer(arguments.tokenizer)
    lines = read_sentences(arguments.text, tokenize=tokenize, format=form.format, field=form.field)
    text = [tuple(as_trained(sentence)) for sentence in islice(lines, arguments.sentences)]
    settings = SampleSettings(least_sentences=arguments.least_sentences, seed=arguments.seed)
    return arguments.produce(
        "geometry",
        lambda encoders: geometry(text, encoders, settings, progress=not arguments.quiet),
        data={"text": arguments.text},
        settings={name: getattr(arguments, name) for name in ("sentences", "least_sentences", "seed", "against")},
        against=arguments.against,
    )
