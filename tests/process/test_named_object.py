"""Objects of a user's own, by their names."""

import re

import pytest

from elmo.errors import ConfigError
from elmo.process.named_object import named_object


@pytest.mark.parametrize(
    ("code", "raised"),
    [
        ("def tokens(:", "SyntaxError('invalid syntax'"),
        ("open('no such.model')", "FileNotFoundError(2, 'No such file or directory')"),
        ("tokens = undefined", "NameError("),
    ],
)
def test_a_module_that_fails_is_the_users_own_to_mend(tmp_path, monkeypatch, code, raised):
    (tmp_path / "module_that_fails.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    message = "the tokenizer 'module_that_fails:tokens' can't be loaded: " + raised
    with pytest.raises(ConfigError, match=f"{re.escape(message)}.* Name it as module:object"):
        named_object("module_that_fails:tokens", "tokenizer")
