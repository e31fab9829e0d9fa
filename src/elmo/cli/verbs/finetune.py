"""`elmo finetune`: a model and another domain's text -> a model of that domain, with perplexities before and after."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from elmo.cli.arguments import LanguageModelOption, Switch, parsed
from elmo.cli.inputs import print_first_look
from elmo.cli.output import print_report
from elmo.cli.verbs.pretrain import Machine, joined
from elmo.pretrain.settings.finetune_config import FinetuneConfig
from elmo.process.resources import keep_freed_memory
from elmo.process.stop_flag import stop_flag
from elmo.process.text_table import text_table
from elmo.text.first_look.sample import LINES_LOOKED_AT, look_at
from elmo.text.reading.settings import Reading

if TYPE_CHECKING:
    from elmo.corpus.shards import TrainingData
    from elmo.pretrain.run.loop import Trained

_OTHER_VOCABULARY = "Prepare it with --vocabulary of a model of its language, and continue that model."


@dataclass(frozen=True)
class Arguments:
    """Continue to train a model's language models on another domain's text, and report how the perplexity changes on
    both domains. Prepare the text with the model's own vocabulary: elmo prepare TEXT --valid TEXT --vocabulary
    MODEL."""

    data: Path
    """Folder that 'elmo prepare' made with the model's vocabulary; its validation text is the new domain's held-out
    text."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="RUN")]
    """Folder of the run: metrics, checkpoints, perplexities.json and the new model."""
    model: LanguageModelOption = None
    old: Path | None = None
    """Held-out text of the domain that the model was trained on, to show how much it forgets."""
    resume: Switch = False
    """Continue the run in the output folder, with its own model, old text and settings."""
    machine: Annotated[Machine, tyro.conf.arg(name="")] = field(default_factory=Machine)
    recipe: Annotated[FinetuneConfig, tyro.conf.arg(name="")] = field(default_factory=FinetuneConfig)


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    with stop_flag() as flag:
        arguments = parsed(Arguments, argv, "finetune", flag_pairs=True)
        keep_freed_memory()
        with joined(arguments.machine) as ranks:
            from elmo.corpus.shards import TrainingData
            from elmo.pretrain.run.loop import beginning
            from elmo.pretrain.run.run_folder import RunFolder
            from elmo.pretrain.run.training import train

            run = RunFolder(arguments.output, ranks)
            run.require_begun() if arguments.resume else run.require_free()
            with beginning(ranks, flag):
                data = TrainingData.open(arguments.data)
                if ranks.is_first:
                    _warn_of_data(data)
            watching = arguments.machine.watching(ranks)
            found = train(
                data, arguments.output, arguments.recipe, model=arguments.model, old_text=arguments.old, **watching
            )
            if ranks.is_first:
                report = {**asdict(found), "model": str(found.model)}
                machine = arguments.machine
                print_report(report, _table(found), as_json=machine.json, quiet=machine.quiet)
    return 0


def _warn_of_data(data: "TrainingData") -> None:
    """Warns of a text that the model won't understand, by its first sentences."""
    types, shard = data.types(), data.shards("train")[0]
    first = [[types[it] for it in shard.sentence(place)] for place in range(min(LINES_LOOKED_AT, shard.num_sentences))]
    look = look_at(first, Reading(plain_quotes=False), str(data.folder))
    print_first_look(look, data.vocabulary.words, quiet=True, other_model=_OTHER_VOCABULARY)


def _table(found: "Trained") -> str:
    rows = [["perplexity", "before", "after", "change"]]
    for name, before in found.before.items():
        for direction in ("forward", "backward", "mean"):
            key = f"{direction}_perplexity"
            if key in before:
                one, other = before[key], found.after[name][key]
                rows.append([f"{name} {direction}", f"{one:.2f}", f"{other:.2f}", f"{other / one - 1:+.1%}"])
    table = ["", *text_table(rows)] if found.before else []
    return "\n".join([f"{found.model}: the model is finished", *table])
