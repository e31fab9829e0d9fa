"""Building the native library."""

import pytest

from elmo.ops.native.build import build


def test_a_compiler_may_be_in_a_folder_with_a_space_in_its_name(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "Program Files" / "clang"
    compiler.parent.mkdir()
    compiler.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done; echo > "$2"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(compiler.parent))
    monkeypatch.delenv("CC", raising=False)
    assert build(tmp_path / "library.so") is None
    assert (tmp_path / "library.so").is_file()
