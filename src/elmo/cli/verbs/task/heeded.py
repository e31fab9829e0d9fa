"""Settings of a training that have no effect beside its other settings."""

from collections.abc import Iterator, Sequence
from dataclasses import fields

from elmo.cli.arguments.given_options import refuse_ignored
from elmo.tasks.settings import CharacterSettings, TaskSettings

Case = tuple[bool, tuple[str, ...], str, str]
"""Whether some options have an effect, the options, in what case they have none, how they would have one."""


def require_heeded(settings: TaskSettings, given: Sequence[str]) -> None:
    """ConfigError for an option that was given and has no effect.

    Those of the biLM are accepted with `--encoder none`: a baseline is trained by the command of its rival.
    """
    for is_heeded, options, why, otherwise in (*_of_fit(settings), *_of_tokens(settings), *_of_characters(settings)):
        if not is_heeded:
            refuse_ignored(given, options, why, otherwise)


def _of_fit(settings: TaskSettings) -> Iterator[Case]:
    fit = settings.fit
    of_steps = "--decay-rate", "--decay-steps"
    yield fit.decay == "staircase", of_steps, f"with --decay {fit.decay}", "add --decay staircase"
    of_adadelta = ("--adadelta-epsilon",)
    yield fit.optimizer == "adadelta", of_adadelta, f"with --optimizer {fit.optimizer}", "add --optimizer adadelta"
    of_average = "--average-warmup", "--no-average-warmup"
    yield fit.average_decay > 0, of_average, "without an average of the weights", "add --average-decay 0.999"


def _of_tokens(settings: TaskSettings) -> Iterator[Case]:
    tokens = settings.tokens
    of_static = "--static-words", "--static-errors", "--train-static"
    yield bool(tokens.static), of_static, "without static vectors", "add --static FILE"
    why = "with --train-bilm, whose layers are computed anew in every step"
    yield not tokens.train_bilm, ("--cache", "--cache-dtype"), why, "leave out --train-bilm"


def _of_characters(settings: TaskSettings) -> Iterator[Case]:
    for network in (getattr(settings, field.name) for field in fields(settings)):
        if isinstance(network, CharacterSettings):
            sizes = "--character-width", "--character-vector"
            yield network.character_filters > 0, sizes, "without a char CNN", "add --character-filters 100"
