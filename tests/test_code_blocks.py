"""Every block of code in the documentation is run by a test; what can't be is listed here, with its reason."""

import argparse
import re
import shlex
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest
import tyro

from elmo.cli.examples import EXAMPLES
from elmo.process.device import has_torch
from elmo_paper.cli.examples import EXAMPLES as OF_PAPER

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = ("python", "sh", "bash", "js")
# What is not code: figures, formulas, the content of files. Other languages are of files for other programs.
OTHERS = ("", "text", "json", "toml", "ini", "nginx", "java", "csharp", "rust", "html")

RUN_BY = {
    "README.md": "tests/test_readme.py",
    "docs/analysis.md": "paper/tests/pages/test_analysis_page.py",
    "docs/integrations/flair.md": "tests/integrations/flair/test_embeddings.py",
    "docs/integrations/ray.md": "tests/integrations/ray/test_actor.py",
    "docs/integrations/scikit-learn.md": "tests/integrations/sklearn/test_vectorizer.py",
    "docs/integrations/sentence-transformers.md": "tests/integrations/sentence_transformers/test_module.py",
    "docs/integrations/spacy.md": "tests/integrations/spacy/test_component.py",
    "docs/javascript.md": "tests/browser/test_package.py",
    "docs/other-languages.md": "tests/integrations/onnx/test_write.py",
    "docs/quickstart.md": "tests/test_readme.py",
    "docs/recipes.md": "tests/integrations/recipes/test_recipes.py",
    "docs/serving.md": "tests/serve/test_page.py",
    "docs/tasks/ner.md": "tests/tasks/test_pages.py",
    "docs/tasks/sst.md": "tests/tasks/test_pages.py",
    "docs/tasks/coref.md": "tests/tasks/coref/test_task.py",
    "docs/tasks/snli.md": "tests/tasks/test_pages.py",
    "docs/tasks/squad.md": "tests/tasks/squad/test_task.py",
    "docs/tasks/srl.md": "tests/tasks/test_pages.py",
    "docs/tasks/whole-models.md": "tests/tasks/test_pages.py",
}
"""The file of tests that runs all blocks of a page, but for those below; of other pages it is tests/test_docs.py."""

NOT_RUN = {
    "docs/beside-a-transformer.md": {"paper/scripts/minilm.sh": "needs data and a transformer"},
    "README.md": {"make demo": "sets up an environment; CI begins with it"},
    "docs/explorer.md": {
        "elmo explore\n": "opens a browser; tests/explorer/test_browser.py does what a reader does then",
        "elmo explore --model": "the same, with a text of one's own",
        "elmo explore --export": "takes a minute; tests/explorer/test_alone.py opens such a page",
    },
    "docs/pretraining-on-many-machines.md": {
        "elmo pretrain": "takes several machines; tests/pretrain/ranks/test_distributed.py starts processes as "
        "torchrun does",
    },
    "docs/performance.md": {
        "python benchmarks/vectors/embedding.py": "takes minutes; tests/benchmarks runs it at its smallest",
    },
    "docs/reproduction.md": {
        "python runs/model_tools/mix_corpora.py": "takes 22 minutes; tests/runs mixes small texts",
        "elmo-paper finetuned": "takes half an hour; paper/tests/queue/test_finetuned.py tunes a small model, and "
        "test_tables.py compares",
        "elmo static TEXT": "takes days; paper/tests/queue runs the queue with tasks of a second",
    },
    "docs/search.md": {
        "python runs/quality/retrieval.py": "takes data from elsewhere; tests/runs/quality/test_retrieval.py runs "
        "it on a text of its own",
    },
    "docs/serving.md": {
        "elmo serve\n": "serves until it is ended; tests/serve/test_page.py reads its arguments and sends all "
        "requests of the page to a server",
    },
}
"""Page -> beginning of a block, without lines of `pip install` -> why no test runs it."""

# `.ci/integrations` runs these where they belong to a guide.
_INSTALL = re.compile(r"^pip install .*\n", flags=re.MULTILINE)


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Language and content of each block."""
    for _, language, block in re.findall(
        r"^( *)```(\S*)\n(.*?)^ *```$", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    ):
        yield language, block


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def exceptions_of(page: Path, block: str) -> list[tuple[str, str]]:
    rest = _INSTALL.sub("", block)
    return [(name(page), begin) for begin in NOT_RUN.get(name(page), ()) if rest.startswith(begin)]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_of_code_has_a_test_that_runs_it_or_a_reason(page):
    for language, block in blocks(page):
        assert language in (*CODE, *OTHERS), f"{name(page)}: {language}"
        if language not in CODE or not _INSTALL.sub("", block) or exceptions_of(page, block):
            continue
        runner = ROOT / RUN_BY.get(name(page), "tests/test_docs.py")
        code = runner.read_text(encoding="utf-8")
        named = (page.name, page.stem, f'"{page.parent.relative_to(ROOT).as_posix()}"')
        assert any(one in code for one in named), f"{runner} does not name {page.name}"
        assert re.search(rf'"{language}\b|```{language}|run_guide|_BLOCK|commands\(', code), (
            f"{name(page)}: nobody runs {language}"
        )


def test_no_reason_is_out_of_date():
    found = {place for page in PAGES for _, block in blocks(page) for place in exceptions_of(page, block)}
    assert found == {(page, begin) for page, begins in NOT_RUN.items() for begin in begins}
    assert set(RUN_BY) <= {name(page) for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_blocks_that_are_no_code_hold_no_commands(page):
    for language, block in blocks(page):
        commands = re.findall(r"^(?:elmo|elmo-paper|python|torchrun) .*", block, flags=re.MULTILINE)
        assert language in (*CODE, "ini") or not commands, f"{name(page)}: {commands}: begin the block with ```sh"


class Understood(Exception):
    """Raised in place of a verb's work."""


def commands() -> list[str]:
    """Every line of a shell that begins with `elmo` or `elmo-paper`, also of NOT_RUN; the examples of --help."""
    found = [line for lines in (*EXAMPLES.values(), *OF_PAPER.values()) for line in lines]
    for page in PAGES:
        for language, block in blocks(page):
            if language in ("sh", "bash"):
                lines = block.replace("\\\n", " ").splitlines()
                found += [line.split(" | ")[-1] for line in lines if re.match(r"(echo .* \| )?elmo(-paper)? ", line)]
    return found


@pytest.mark.parametrize("line", sorted(set(commands())))
def test_every_command_is_understood(line, monkeypatch):
    def stop_after(read: Callable) -> Callable:
        def understood(*arguments: object, **options: object) -> None:
            read(*arguments, **options)
            raise Understood

        return understood

    monkeypatch.setattr("tyro.cli", stop_after(tyro.cli))
    monkeypatch.setattr("argparse.ArgumentParser.parse_args", stop_after(argparse.ArgumentParser.parse_args))
    monkeypatch.chdir(ROOT)
    program, *words = shlex.split(line.split(" < ")[0], comments=True)
    if words[0] == "task" and not has_torch():
        pytest.skip("tasks need torch")
    with pytest.raises(Understood):
        import_module(f"{program.replace('-', '_')}.cli.verbs.{words[0]}").main(words[1:])
