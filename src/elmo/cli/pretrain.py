"""`elmo pretrain`: prepared data -> a trained biLM."""

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from elmo.errors import ConfigError
from elmo.pretrain.config import PretrainConfig


@dataclass(frozen=True)
class Arguments:
    """Train a biLM on what 'elmo prepare' made. Every setting is a flag; the defaults are the paper's recipe, or what
    the TOML file says. Ctrl-C and SIGTERM save everything; --resume goes on from there."""

    data: Path
    """Folder that 'elmo prepare' made."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """Folder of the run: metrics, checkpoints, the finished model."""
    config: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="[CONFIG.toml]")] = None
    """TOML file of settings; flags beside it win."""
    resume: tyro.conf.FlagCreatePairsOff[bool] = False
    """Go on with the run in the output folder, with its own settings unless others are given."""
    log: Literal["files", "tensorboard"] = "files"
    """Beside metrics.jsonl and log.txt: curves for TensorBoard."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print the result as JSON."""
    quiet: tyro.conf.FlagCreatePairsOff[bool] = False
    """No progress."""
    recipe: Annotated[PretrainConfig, tyro.conf.arg(name="")] = field(default_factory=PretrainConfig)


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = _parsed(argv, PretrainConfig())
    # The files whose settings are the defaults of the flags are themselves named by flags: so twice.
    arguments = _parsed(argv, _defaults(arguments))
    # Here, so that --help does not wait for torch.
    from elmo.pretrain import loop
    from elmo.pretrain.shards import TrainingData

    data = TrainingData.open(arguments.data)
    watching: dict[str, Any] = {"quiet": arguments.quiet, "log_to": arguments.log}
    if arguments.resume:
        model = loop.resume(data, arguments.output, config=arguments.recipe, **watching)
    else:
        model = loop.pretrain(arguments.recipe, data, arguments.output, **watching)
    metadata = json.loads((model / "config.json").read_text(encoding="utf-8"))["metadata"]
    if arguments.json:
        print(json.dumps({"model": str(model), **metadata}, indent=2, ensure_ascii=False))
    elif not arguments.quiet:
        print("\n".join([f"{model}: the model is finished", *(f"{name:26} {fact}" for name, fact in metadata.items())]))
    return 0


def _parsed(argv: list[str], recipe: PretrainConfig) -> Arguments:
    """The arguments, with `recipe` where no flag says otherwise."""
    return tyro.cli(
        Arguments,
        args=argv,
        prog="elmo pretrain",
        config=(tyro.conf.OmitArgPrefixes,),
        default=Arguments(data=tyro.MISSING, output=tyro.MISSING, recipe=recipe),
    )


def _defaults(arguments: Arguments) -> PretrainConfig:
    """What the settings are where no flag says otherwise: the paper's, the resumed run's, the TOML file's, in turn."""
    settings: dict[str, Any] = {}
    source = "the recipe"
    if arguments.resume:
        # Here, so that --help does not wait for torch.
        from elmo.pretrain.run_folder import RunFolder

        settings = RunFolder.existing(arguments.output).config().to_dict()
    if arguments.config is not None:
        source = str(arguments.config)
        settings |= _table(arguments.config)
    return PretrainConfig.from_dict(settings, source)


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file. Paths count from {Path.cwd()}. Check it.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is no TOML file: {error}. Each line is: setting = value") from None
