"""Which options a command line gives, and what they override."""

from dataclasses import dataclass, field
from importlib import import_module

import pytest

from elmo.cli.arguments import given_options, overridden
from elmo.cli.main import main
from elmo.errors import ConfigError


@dataclass
class _Group:
    max_tokens: int = 1
    quiet: bool = False


@pytest.mark.parametrize(
    ("argv", "given"),
    [
        (["a b", "-o", "out.h5", "--layers", "-1"], ["--output", "--layers"]),
        (["--layers=top", "--max_tokens", "9", "-mMODEL", "-"], ["--layers", "--max-tokens", "--model"]),
        (["--port", "1", "--port", "2"], ["--port"]),
        (["--quiet", "--", "--port"], ["--quiet"]),
        ([], []),
    ],
)
def test_options_have_one_name_however_they_are_written(argv, given):
    assert given_options(argv) == given


@dataclass(frozen=True)
class _Settings:
    group: _Group = field(default_factory=_Group)
    name: str = "a"


def test_flags_override_settings_group_by_group_even_with_a_default():
    beneath = _Settings(_Group(max_tokens=7, quiet=True), "b")
    values = _Settings(_Group(max_tokens=1, quiet=False), "a")
    assert overridden(beneath, values, []) == beneath
    assert overridden(beneath, values, ["--max-tokens"]) == _Settings(_Group(1, True), "b")
    assert overridden(beneath, values, ["--no-quiet", "--name"]) == _Settings(_Group(7, False), "a")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("embed -o v.h5", r"^inputs: no value was given.*'elmo embed --help'"),
        ("prepare text -o data --valid", "^valid: no value was given"),
    ],
)
def test_arguments_of_any_number_of_values_need_one(line, message):
    verb, *argv = line.split()
    with pytest.raises(ConfigError, match=message):
        import_module(f"elmo.cli.verbs.{verb}").main(argv)


@pytest.mark.parametrize(
    "line",
    [
        "models --nonsense",
        "prepare text",
        "prepare text -o data --errors x",
        "pretrain --data data",
        "pretrain --data data -o run --cell-size many",
    ],
)
def test_usage_errors_end_with_2(line, capsys):
    with pytest.raises(SystemExit) as ended:
        main(line.split())
    assert ended.value.code == 2
    assert capsys.readouterr().out == ""
