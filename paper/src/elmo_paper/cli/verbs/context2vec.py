"""`elmo-paper context2vec`: a text -> a model of the contexts of words, as a baseline for ELMo."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from elmo.cli.arguments import Force, NoReport, OutputFolder, ReportAsJson
from elmo.cli.output import list_skipped, print_report
from elmo.cli.verbs.static import TrainingText
from elmo_paper.cli.arguments import parsed
from elmo_paper.context2vec.settings import Context2VecSettings


@dataclass(frozen=True)
class Arguments:
    """Train context2vec (Melamud et al. 2016): two LSTMs read the words to the left and to the right of a word, and a
    small network combines them into a vector that is close to the word's own. 'elmo-paper wsd --encoder
    context2vec=FOLDER' compares it with ELMo. The files have the format of the authors' own programs."""

    texts: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="TEXT [TEXT ...]")]
    """Training text: one tokenized sentence per line; .gz, .xz, .bz2 and .zst are unpacked."""
    output: OutputFolder[Path]
    """Folder to make."""
    text: Annotated[TrainingText, tyro.conf.arg(name="")] = dataclasses.field(default_factory=TrainingText)
    force: Force = False
    json: ReportAsJson = False
    quiet: NoReport = False
    recipe: Annotated[Context2VecSettings, tyro.conf.arg(name="")] = dataclasses.field(
        default_factory=Context2VecSettings
    )


def main(argv: list[str]) -> int:
    """Runs the command; 0: done, 1: done, but lines were skipped."""
    arguments = parsed(Arguments, argv, "context2vec", flag_pairs=True)
    from elmo.disk.atomic import new_folder
    from elmo.process.device import require_torch
    from elmo_paper.context2vec.files import FILES, write

    require_torch("training context2vec")
    from elmo_paper.context2vec.train import train_context2vec

    corpus = arguments.text.corpus(arguments.texts, arguments.output)
    # The name is refused before the work, not after it.
    with new_folder(arguments.output, size=0, force=arguments.force, replaceable=FILES) as unfinished:
        trained = train_context2vec(corpus, arguments.recipe, progress=not arguments.quiet)
        settings = dataclasses.asdict(arguments.recipe)
        comments = [f"{name} {value}" for name, value in settings.items()]
        write(unfinished, trained.words, trained.network.sizes, trained.tensors(), comments)
    code = list_skipped(corpus.bad_lines)
    report = {
        "output": str(arguments.output),
        "words": len(trained.words),
        "dim": 2 * arguments.recipe.unit,
        "tokens": trained.num_tokens,
        "sentences": trained.num_sentences,
        "nats_per_token": [round(loss, 4) for loss in trained.losses],
        "seconds": round(trained.seconds, 1),
    }
    text = (
        f"{arguments.output}: {len(trained.words):,} words, contexts of dimension {report['dim']}, from "
        f"{trained.num_tokens:,} tokens in {trained.seconds:,.0f} seconds; {trained.losses[-1]:.3f} nats per token"
    )
    print_report(report, text, as_json=arguments.json, quiet=arguments.quiet)
    return code
