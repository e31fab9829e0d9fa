"""docs/analysis.md: its Python runs and prints what it says, its tables are those of the records."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from elmo.cli.main import main
from elmo.weights.catalogue import bundled_folders
from elmo_paper.analysis.senses.inventory import read_inventory
from elmo_paper.cli.main import main as paper
from elmo_paper.pages import analyses
from elmo_paper.pages.write import WITHOUT_FIGURE, stale
from elmo_paper.places import ANALYSES, DOCS

PROGRAMS = {"elmo": main, "elmo-paper": paper}
PAGE = (DOCS / "analysis.md").read_text(encoding="utf-8")
RECORDS = sorted(ANALYSES.glob("*.json"))
CORPUS = Path(__file__).parents[1] / "analysis" / "senses" / "corpus"


def test_the_python_block_prints_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    block, _ = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    exec(compile(block, "analysis.md", "exec"), {})
    assert capsys.readouterr().out.strip() == block.splitlines()[-1].split("  # ")[1]


def test_the_inventory_is_made_of_wordnets_index(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    index = "dead%5:00:00:old:00 00095280 1 2\nplay%1:10:01:: 07007945 2 46\nplay%1:04:00:: 00041188 1 52\n"
    Path("index.sense").write_text(index, encoding="utf-8")
    _, block = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    exec(compile(block, "analysis.md", "exec"), {})
    inventory = read_inventory("senses.tsv")
    assert inventory.first_sense(("play", "NOUN")) == "play%1:04:00::"
    assert inventory.senses["dead", "ADJ"][0].count == 2


def test_every_record_has_a_table():
    shown = re.findall(r"<!-- table ([\w-]+) -->", PAGE)
    assert sorted(shown) == [path.stem for path in RECORDS]


def test_written_figures_are_listed_and_those_of_tables_are_not():
    table, code = "<!-- table x -->\n| 3.5 |\n<!-- end -->\n| 4.5 |", "```sh\nelmo 5.5\n```"
    page = f"It is 2.5 points\n{table}\n{code}\nand 6 % more\nin 7 layers"
    assert list(stale(page)) == ["It is 2.5 points", "and 6 % more"]


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_every_record_has_its_figure_and_says_where_it_comes_from(path):
    record = json.loads(path.read_text(encoding="utf-8"))
    assert path.name == f"{record['analysis']}-{record['model']}.json"
    assert "/" not in record["command"]
    has_figure = record["analysis"] not in WITHOUT_FIGURE
    assert (DOCS / "analysis" / f"{path.stem}.svg").exists() == has_figure == (f"(analysis/{path.stem}.svg)" in PAGE)


def test_words_of_a_text_do_not_become_markdown():
    assert analyses._plain("a|b *c* _d_ <e> [f]") == r"a\|b \*c\* \_d\_ \<e> \[f\]"


@pytest.fixture
def place(tmp_path, monkeypatch, one_thread) -> Path:
    """A folder with the files that the page's commands name, all of them tiny."""
    monkeypatch.chdir(tmp_path)
    for name in ("semcor", "senseval2", "senseval3", "semeval2013"):
        for ending in ("data.xml", "gold.key.txt"):
            kind = "train" if name == "semcor" else "t"
            shutil.copy(CORPUS / f"{kind}.{ending}", tmp_path / f"{name}.{ending}")
    shutil.copy(CORPUS / "senses.tsv", tmp_path)
    text = ["the bank was steep .", "the bank lent money", "in spring a river was steep", "a spring in the rock"]
    for name in ("my-text.txt", "corpus.txt"):
        (tmp_path / name).write_text("\n".join(text * 6) + "\n", encoding="utf-8")
    (tmp_path / "my-korean-text.txt").write_text(
        "배우 연기를 잘 한다 .\n연기를 보았다 .\n배를 탔다 .\n" * 4, encoding="utf-8"
    )
    (tmp_path / "vectors.txt").write_text("bank 1 0\na 0 1\nb 1 0.1\nplay 1 1\n", encoding="utf-8")
    for name in ("train", "dev", "test", "opennmt"):
        for language in ("en", "de"):
            (tmp_path / f"{name}.{language}").write_text("a b\nb a a\n" * 8, encoding="utf-8")
    words = "".join(f"{at}\t{word}\t_\t_\t{tag}" + "\t_" * 5 + "\n" for at, word, tag in ((1, "a", "D"), (2, "b", "N")))
    for name in ("train", "dev", "test"):
        (tmp_path / f"{name}.conllu").write_text(f"{words}\n" * 30, encoding="utf-8")
    (tmp_path / "my-finetuned-model").symlink_to(bundled_folders()["small-en"])
    assert main(["index", "my-korean-text.txt", "-o", "my-korean-index", "--model", "small-ko", "--quiet"]) == 0
    return tmp_path


@pytest.mark.slow
def test_every_command_runs_in_the_order_of_the_page(place, play_corpus):
    found = re.findall(r"^```sh\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    lines = [line for block in found for line in block.replace("\\\n", " ").splitlines()]
    assert len(lines) >= 10
    for line in lines:
        if "precision" in line:
            play_corpus(place, "semcor")
        program, *words = shlex.split(line)
        words += ["--least-sentences", "2"] if "geometry" in line else []
        assert PROGRAMS[program](words) == 0, line
