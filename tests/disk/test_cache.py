"""The folder of caches, wherever the system has it."""

import sys
from pathlib import Path

import pytest

from elmo.disk.cache import cache_folder


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="other variables decide there")
def test_a_user_without_a_home_has_one_too(monkeypatch):
    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    for name in ("ELMO_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    assert cache_folder() == Path("/.cache/elmo")
