"""docs/analysis.md: its Python runs and prints what it says, its table is the record's."""

import json
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs"
PAGE = (FOLDER / "analysis.md").read_text(encoding="utf-8")
ROWS = {
    "first sense": "first sense",
    "most frequent sense": "most frequent sense in SemCor",
    **{f"biLM, {layer}": f"small-en, {layer}" for layer in ("layer 0", "layer 1", "layer 2", "mean of layers")},
    **{f"random biLM, layer {layer}": f"random weights, layer {layer}" for layer in range(3)},
}


def test_the_python_block_prints_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    exec(compile(block, "analysis.md", "exec"), {})
    assert capsys.readouterr().out.strip() == block.splitlines()[-1].split("  # ")[1]


def test_the_table_of_senses_is_the_records():
    record = json.loads((FOLDER / "analysis" / "wsd-small-en.json").read_text(encoding="utf-8"))
    lines = {line.split(" | ")[0].removeprefix("| "): line for line in PAGE.splitlines() if line.startswith("| ")}
    assert {system["name"] for system in record["systems"]} == set(ROWS)
    for system in record["systems"]:
        figures = [f"{one['f1']:.1f}" for one in system["sets"].values()]
        line = lines[ROWS[system["name"]]].replace("*", "")
        assert line.startswith(f"| {ROWS[system['name']]} | {' | '.join(figures)} |"), line
        difference, low, high = system["minus_first_sense"]
        if system["name"] != "first sense":
            assert f"| {difference:+.1f} ({low:+.1f} to {high:+.1f}) |" in line
