"""The Korean pages of docs/ko: their Python prints what they say, their commands run."""

import re
import shlex
from pathlib import Path

import pytest

from elmo.cli.main import main

FOLDER = Path(__file__).resolve().parents[1] / "docs/ko"
NEWS = "어제 은행에서 돈을 찾았다. 강가에 은행나무가 서 있었다.\n\n비가 왔다.\n"


def blocks(page: str, language: str) -> list[str]:
    text = (FOLDER / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def promised(block: str) -> list[str]:
    """What a block says it prints: behind a call of print, or in the comments at its end."""
    beside = [line.split("  # ")[1] for line in block.splitlines() if line.startswith("print(")]
    return beside or [line[2:] for line in block.splitlines() if line.startswith("# ")]


@pytest.mark.parametrize("page", ["quickstart.md", "korean.md", "how-elmo-works.md", "faq.md"])
def test_every_block_prints_what_it_says(page: str, capsys: pytest.CaptureFixture[str], one_thread: None) -> None:
    found = blocks(page, "python")
    assert len(found) >= 3
    for block in found:
        exec(compile(block, page, "exec"), {})
        printed = capsys.readouterr().out.splitlines()
        assert promised(block) and printed == promised(block), block


def test_every_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_thread: None) -> None:
    monkeypatch.chdir(tmp_path)
    Path("기사.txt").write_text(NEWS, encoding="utf-8")
    Path("후기.csv").write_text(
        '번호,본문\r\n1,"영화가 정말 재미있다, 또 보고 싶다."\r\n', encoding="cp949", newline=""
    )
    lines = [line for block in blocks("quickstart.md", "sh") for line in block.splitlines() if line.startswith("elmo ")]
    assert len(lines) == 4
    for line in lines:
        assert main(shlex.split(line)[1:]) == 0, line
    assert Path("벡터.parquet").exists() and Path("후기.h5").exists()
