"""Which options a command line gives; tests/cli/test_early_checks.py tries what the verbs refuse."""

from dataclasses import dataclass

import pytest

from elmo.cli.arguments.given_options import given_options, options_of, refuse_ignored
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


def test_fields_are_options():
    assert options_of(_Group) == {"--max-tokens", "--no-max-tokens", "--quiet", "--no-quiet"}


def test_all_ignored_options_are_named_at_once():
    refuse_ignored(["--quiet"], {"--port"}, "anywhere", "stay")
    with pytest.raises(ConfigError, match=r"^--a was given here\. Leave it out, or stay\.$"):
        refuse_ignored(["--a"], {"--a"}, "here", "stay")
    with pytest.raises(ConfigError, match=r"^--a, --b and --c were given here\. Leave them out, or stay\.$"):
        refuse_ignored(["--a", "--b", "--d", "--c"], {"--c", "--a", "--b"}, "here", "stay")
