"""`elmo finetune`: a model and another domain's text -> a model of that domain, with perplexities before and after."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from elmo.cli.arguments import parsed
from elmo.cli.arguments.given_options import options_of, refuse_ignored
from elmo.cli.early_checks import As
from elmo.cli.ranks import joined
from elmo.cli.report import print_report
from elmo.cli.text_input import say
from elmo.pretrain.settings.finetune_config import FinetuneConfig
from elmo.process.device import Device
from elmo.process.freed_memory import keep_freed_memory
from elmo.process.stop_flag import StopFlag, stop_flag
from elmo.text.first_look.sample import LINES_LOOKED_AT, look_at
from elmo.text.reading.settings import Reading

if TYPE_CHECKING:
    from elmo.corpus.shards import TrainingData
    from elmo.pretrain.ranks.distributed import Ranks
    from elmo.pretrain.run.finetune import Finetuned

_OTHER_VOCABULARY = "Prepare it with --vocabulary of a model of its language, and continue that model."


@dataclass(frozen=True)
class Arguments:
    """Continue to train a model's language models on another domain's text, and report how the perplexity changes on
    both domains. Prepare the text with the model's own vocabulary: elmo prepare TEXT --valid TEXT --vocabulary
    MODEL."""

    data: Annotated[Path, As("prepared data")]
    """Folder that 'elmo prepare' made with the model's vocabulary; its validation text is the new domain's held-out
    text."""
    output: Annotated[Path, As("run folder"), tyro.conf.arg(aliases=["-o"], metavar="RUN")]
    """Folder of the run: metrics, checkpoints, perplexities.json and the new model."""
    model: Annotated[str | None, As("language model"), tyro.conf.arg(aliases=["-m"])] = None
    """A name, a folder or file, or a hub id; it needs a softmax (default: $ELMO_MODEL, or the bundled model)."""
    old: Path | None = None
    """Held-out text of the domain that the model was trained on, to show how much it forgets."""
    resume: tyro.conf.FlagCreatePairsOff[bool] = False
    """Continue the run in the output folder, with its own model, old text and settings."""
    device: Device = "auto"
    """Where to compute. auto: on a GPU if there is one."""
    deterministic: tyro.conf.FlagCreatePairsOff[bool] = False
    """On a GPU, use only operations whose results are the same bit for bit every time; on a CPU, all are."""
    peer_timeout: float = 600.0
    """With several processes (torchrun): seconds after which a process that doesn't answer counts as lost, which ends
    the run."""
    log: Literal["files", "tensorboard"] = "files"
    """tensorboard: also write the curves for TensorBoard, in addition to metrics.jsonl and log.txt."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print the result as JSON."""
    quiet: tyro.conf.FlagCreatePairsOff[bool] = False
    """No progress and no table."""
    recipe: Annotated[FinetuneConfig, tyro.conf.arg(name="")] = field(default_factory=FinetuneConfig)


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    with stop_flag() as flag:
        arguments = parsed(Arguments, argv, "finetune", flag_pairs=True, require_sense=_require_sense)
        keep_freed_memory()
        with joined(arguments.device, arguments.deterministic, arguments.peer_timeout) as ranks:
            found = _run(arguments, ranks, flag)
            if ranks.is_first:
                _tell(found, arguments)
    return 0


def _require_sense(arguments: Arguments, given: list[str]) -> None:
    if arguments.resume:
        why = "together with --resume, but a fine-tuning continues with its own model, old text and settings"
        refuse_ignored(given, {"--model", "--old", *options_of(FinetuneConfig)}, why, "start another run")


def _run(arguments: Arguments, ranks: "Ranks", flag: StopFlag) -> "Finetuned":
    # Here, so that --help does not wait for torch.
    from elmo.corpus.shards import TrainingData
    from elmo.pretrain.run.finetune import finetune, resume_finetuning
    from elmo.pretrain.run.loop import beginning

    with beginning(ranks, flag):
        data = TrainingData.open(arguments.data)
        if ranks.is_first:
            _say_of(data)
    watching: dict[str, Any] = {"ranks": ranks, "progress": not arguments.quiet, "log_to": arguments.log}
    if arguments.resume:
        return resume_finetuning(data, arguments.output, **watching)
    return finetune(
        arguments.model, data, arguments.output, config=arguments.recipe, old_text=arguments.old, **watching
    )


def _say_of(data: "TrainingData") -> None:
    """Warns of a text that the model won't understand, by its first sentences."""
    types, shard = data.types(), data.shards("train")[0]
    first = [[types[it] for it in shard.sentence(place)] for place in range(min(LINES_LOOKED_AT, shard.num_sentences))]
    look = look_at(first, Reading(plain_quotes=False), str(data.folder))
    say(look, data.vocabulary.words, quiet=True, other_model=_OTHER_VOCABULARY, composes=False)


def _tell(found: "Finetuned", arguments: Arguments) -> None:
    report = {**asdict(found), "model": str(found.model)}
    print_report(report, _table(found), as_json=arguments.json, quiet=arguments.quiet)


def _table(found: "Finetuned") -> str:
    lines = [f"{found.model}: the model is finished"]
    if found.before:
        lines += ["", f"{'perplexity':20}{'before':>10}{'after':>10}{'change':>10}"]
    for name, before in found.before.items():
        for direction in ("forward", "backward", "mean"):
            key = f"{direction}_perplexity"
            if key in before:
                one, other = before[key], found.after[name][key]
                lines.append(f"{name + ' ' + direction:20}{one:10.2f}{other:10.2f}{other / one - 1:+10.1%}")
    return "\n".join(lines)
