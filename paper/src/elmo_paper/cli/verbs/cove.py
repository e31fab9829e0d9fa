"""`elmo-paper cove`: pairs of translated sentences -> a translation system's encoder, as a comparison for ELMo."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from elmo.cli.arguments import NoReport, ReportAsJson, Switch
from elmo.cli.output import print_report
from elmo_paper.cli.arguments import parsed
from elmo_paper.cove.settings import CoVeSettings


@dataclass(frozen=True)
class Arguments:
    """Train CoVe (McCann et al. 2017): a system learns to translate, and its encoder then gives every token two layers
    of vectors that depend on its sentence. The paper compares ELMo with CoVe in tables 5 and 6; 'elmo-paper wsd' and
    'pos' do so with --encoder cove=FOLDER, 'elmo task train' with --encoder cove --model FOLDER. Ctrl-C and SIGTERM
    keep all whole epochs; --resume continues.

    Each file has one tokenized sentence per line, and line N of TARGET is the translation of line N of SOURCE; .gz,
    .xz, .bz2 and .zst are unpacked. All words are lower-cased."""

    texts: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="SOURCE TARGET [SOURCE TARGET ...]")]
    """Training text: a file in the language of the vectors and its translation; more such pairs can follow."""
    dev: Annotated[tuple[Path, Path], tyro.conf.arg(metavar="SOURCE TARGET")]
    """Pairs whose perplexity determines the learning rate and the best epoch."""
    vectors: Annotated[Path, tyro.conf.arg(metavar="VECTORS")]
    """Static vectors of the source language, which the encoder reads; the output folder gets a copy."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="FOLDER")]
    """Folder to write."""
    test: Annotated[tuple[Path, Path] | None, tyro.conf.arg(metavar="SOURCE TARGET")] = None
    """Pairs to translate at the end, for BLEU."""
    resume: Switch = False
    """Continue the training in the output folder."""
    json: ReportAsJson = False
    quiet: NoReport = False
    recipe: Annotated[CoVeSettings, tyro.conf.arg(name="")] = dataclasses.field(default_factory=CoVeSettings)


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "cove", flag_pairs=True)
    # Here, so that --help does not wait for torch.
    from elmo.errors import ConfigError
    from elmo.ops.native.threads import num_threads
    from elmo.process.device import require_torch
    from elmo.process.environment import provenance
    from elmo.process.resources import keep_freed_memory

    if len(arguments.texts) % 2:
        raise ConfigError(
            f"{len(arguments.texts)} training texts were given, but each source must be followed by its translation. "
            "Name the files in pairs: SOURCE TARGET [SOURCE TARGET ...]."
        )
    require_torch("training CoVe")
    from elmo_paper.cove.train import ParallelText, train_cove

    keep_freed_memory()
    train = tuple(zip(arguments.texts[::2], arguments.texts[1::2], strict=True))
    text = ParallelText(train, arguments.dev, arguments.vectors, arguments.test)
    trained = train_cove(
        text, arguments.recipe, arguments.output, resume=arguments.resume, progress=not arguments.quiet
    )
    best = trained.log[trained.best_epoch - 1]
    report = {
        "output": str(arguments.output),
        "pairs": trained.num_pairs,
        "left_out": trained.num_left_out,
        "source_tokens_with_vector": round(trained.known_share, 4),
        "target_words": trained.sizes.num_words,
        "dim": 2 * trained.sizes.cells,
        "best_epoch": trained.best_epoch,
        "dev_perplexity": [round(epoch["dev_perplexity"], 3) for epoch in trained.log],
        "words_per_second": [epoch["words_per_second"] for epoch in trained.log],
        "bleu": trained.bleu and round(trained.bleu, 2),
        "bleu_signature": trained.bleu_signature,
        "facts": trained.facts,
        **provenance(num_threads()),
    }
    text = (
        f"{arguments.output}: two layers of dimension {report['dim']}, from {trained.num_pairs:,} pairs; dev "
        f"perplexity {best['dev_perplexity']:.2f} in epoch {trained.best_epoch} of {len(trained.log)}"
    )
    if trained.bleu is not None:
        text += f"; test BLEU {trained.bleu:.1f} ({trained.bleu_signature})"
    print_report(report, text, as_json=arguments.json, quiet=arguments.quiet)
    return 0
