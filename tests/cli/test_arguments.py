"""Which options a command line gives, and what they override."""

from dataclasses import dataclass, field

import pytest

from elmo.cli.arguments import given_options, overridden


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
