"""The pages of docs/ keep their promises: their Python runs and prints what it says, their commands run, their links
lead somewhere."""

import io
import json
import random
import re
import shlex
import shutil
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from elmo.cli.main import main
from elmo.weights.many_langs import read as many_langs
from elmo_paper.cli.main import main as paper

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs"
TAGGED = ["Anna B-PER", "Rome B-LOC", "New B-LOC\nYork I-LOC", "lives O", "in O", "the O"]
KOREAN = ["해리포터보다 -X- -X- B-PS", "더 -X- -X- O", "먼저 -X- -X- O"]
PROGRAMS = {"elmo": main, "elmo-paper": paper}
# A page's command trains for minutes; what is shown here is that it is right.
QUICK = {
    "ner": ["--epochs", "1", "--hidden-sizes", "8", "--character-filters", "4"],
    "pos": ["--epochs", "1", "--hidden-sizes", "8", "--character-filters", "4"],
    "sst": ["--epochs", "1", "--hidden-size", "8"],
}


def blocks(page: str, language: str) -> list[str]:
    text = (FOLDER / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def in_order(page: str) -> list[tuple[str, str]]:
    """The language and the text of every block of shell or Python."""
    text = (FOLDER / page).read_text(encoding="utf-8")
    return re.findall(r"^```(sh|python)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def printed(capsys):
    """Runs a block of Python; the lines that it prints."""

    def printed(block: str, names: dict | None = None) -> list[str]:
        capsys.readouterr()
        exec(compile(block, "a block of a page", "exec"), {} if names is None else names)
        return capsys.readouterr().out.splitlines()

    return printed


def conll(words: list[str], seed: int) -> str:
    chance = random.Random(seed)
    sentences = ["\n".join(chance.choices(words, k=chance.randrange(2, 7))) for _ in range(20)]
    return "\n\n".join([*sentences, *words]) + "\n"


def allennlp_state() -> dict[str, torch.Tensor]:
    """What an AllenNLP archive of a task with a small ELMo and two mixes has."""
    chance = np.random.default_rng(0)
    encoder, lstm = "_elmo_lstm._token_embedder", "_elmo_lstm._elmo_lstm"
    shapes = {f"{encoder}._char_embedding_weights": (262, 4), "classifier.weight": (2, 12)}
    shapes |= {f"{encoder}.char_conv_0.weight": (8, 4, 2), f"{encoder}.char_conv_0.bias": (8,)}
    shapes |= {f"{encoder}._highways._layers.0.weight": (16, 8), f"{encoder}._highways._layers.0.bias": (16,)}
    shapes |= {f"{encoder}._projection.weight": (6, 8), f"{encoder}._projection.bias": (6,)}
    for layer in (f"{lstm}.{direction}_layer_{number}" for direction in ("forward", "backward") for number in (0, 1)):
        shapes |= {f"{layer}.{part}_linearity.weight": (40, 6) for part in ("input", "state")}
        shapes |= {f"{layer}.state_linearity.bias": (40,), f"{layer}.state_projection.weight": (6, 10)}
    for mix in ("scalar_mix_0", "scalar_mix_1"):
        shapes |= {f"{mix}.gamma": (1,)} | {f"{mix}.scalar_parameters.{layer}": (1,) for layer in range(3)}
    return {name: torch.from_numpy(chance.standard_normal(shape, dtype=np.float32)) for name, shape in shapes.items()}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch, one_thread):
    """Where all runs: a folder like a clone's, with files of the user's own."""
    place = tmp_path
    for name in ("configs", "examples"):
        (place / name).symlink_to(ROOT / name)
    (place / "questions.txt").write_text("yes who ?\nno he .\n" * 10, encoding="utf-8")
    for seed, name in enumerate(("train", "test")):
        (place / f"{name}.conll").write_text(conll(TAGGED, seed), encoding="utf-8")
    for seed, name in enumerate(("train", "dev", "test")):
        (place / f"ko-{name}.conll").write_text("-DOCSTART- -X- -X- O\n\n" + conll(KOREAN, seed), encoding="utf-8")
    for name in ("train", "dev", "test"):
        rows = "1\tAnna\t_\tPROPN\t_\t_\t_\t_\t_\t_\n2\tlives\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n"
        (place / f"{name}.conllu").write_text(rows * 8, encoding="utf-8")
        rows = rows.replace("Anna", "안나는").replace("lives", "산다")
        (place / f"ko-{name}.conllu").write_text(rows * 8, encoding="utf-8")
    (place / "reviews.tsv").write_text("good\ta fine film .\nbad\ta dull film .\n" * 6, encoding="utf-8")
    (place / "후기.tsv").write_text("긍정\t재미있는 영화 .\n부정\t지루한 영화 .\n" * 6, encoding="utf-8")
    (place / "text.txt").write_text("Anna lives in New York .\n\nRome\n", encoding="utf-8")
    torch.save(allennlp_state(), place / "weights.th")
    monkeypatch.chdir(place)
    return place


def run_line(line: str) -> int:
    """A line of a shell, in this process and quick; the exit code."""
    said, _, command = line.partition(" | ") if line.startswith("echo ") else ("", "", line)
    given = shlex.split(said)[1] if said else ""
    words = shlex.split(command)
    program = PROGRAMS[words.pop(0)]
    words += QUICK.get(words[2], []) if words[1] == "train" or words[0] == "reproduce" else []
    words += ["--shares", "50", "100"] if "figure1" in words else []
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(f"{given}\n".encode()), encoding="utf-8")
    try:
        return program(words)
    finally:
        sys.stdin = before


@pytest.mark.parametrize(
    ("page", "at_least"),
    [
        ("elmo-in-your-model.md", 6),
        ("how-elmo-works.md", 4),
        ("one-file.md", 2),
        ("explorer.md", 1),
        ("which-layer.md", 2),
        ("faq.md", 1),
        ("index.md", 1),
        ("progress.md", 1),
        ("search.md", 1),
        *((f"ko/{page}.md", 3) for page in ("quickstart", "korean", "how-elmo-works", "faq")),
    ],
)
def test_every_block_of_a_page_runs_and_prints_what_it_says(page, at_least, printed):
    found = blocks(page, "python")
    assert len(found) >= at_least
    for block in found:
        for said, line in zip(promised(block), printed(block), strict=True):
            assert said == line or said.startswith((f"{line}:", f"{line},"))


def promised(block: str) -> list[str]:
    """What a block says it prints: behind a call of print, or in the comments at its end."""
    beside = [line.split("  # ")[1] for line in block.splitlines() if line.startswith("print(") and "  # " in line]
    return beside or [line[2:] for line in block.splitlines() if line.startswith("# ")]


def test_every_command_of_the_korean_quick_start_runs():
    Path("기사.txt").write_text(
        "어제 은행에서 돈을 찾았다. 강가에 은행나무가 서 있었다.\n\n비가 왔다.\n", encoding="utf-8"
    )
    review = '번호,본문\r\n1,"영화가 정말 재미있다, 또 보고 싶다."\r\n'
    Path("후기.csv").write_text(review, encoding="cp949", newline="")
    lines = [line for block in blocks("ko/quickstart.md", "sh") for line in block.splitlines()]
    lines = [line for line in lines if line.startswith("elmo ")]
    assert len(lines) == 4
    for line in lines:
        assert run_line(line) == 0, line
    assert Path("벡터.parquet").exists() and Path("후기.h5").exists()


def test_how_elmo_works_has_the_figures_of_its_records():
    text = (FOLDER / "how-elmo-works.md").read_text(encoding="utf-8")
    gradients, accuracies = (
        json.loads((ROOT / f"paper/records/explained/{name}.json").read_text(encoding="utf-8"))
        for name in ("gradients-through-time", "joined-pos-small-en")
    )
    assert len(gradients["norms"]) == 4
    for network, norms in gradients["norms"].items():
        assert f" {norms[20]:.1g}" in text, network
    found = {(row["encoder"], row["layer"]): f"{row['accuracy']:.1f} %" for row in accuracies["rows"]}
    for layer in ("layer 1", "layer 2"):
        assert " ".join(text.split()).count(found["joined", layer]) == 1, layer
        assert found["added", layer] in text, layer


def test_the_table_of_switches_names_each_with_its_default():
    from inspect import signature

    from elmo import ELMo

    text = (FOLDER / "elmo-in-your-model.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| `(\w+)` \| ([\w.]+) \|", text, flags=re.MULTILINE))
    keywords = {
        name: it.default for name, it in signature(ELMo.__init__).parameters.items() if it.kind == it.KEYWORD_ONLY
    }
    assert table == {name: str(default) for name, default in keywords.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("page", "at_least"), [("tag-your-own-text.md", 12), ("ko/tag-your-own-text.md", 7)])
def test_every_command_of_tag_your_own_text_runs_in_the_order_of_the_page(page, at_least, printed):
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    assert len(lines) >= at_least
    for line in lines:
        assert run_line(line) == 0, line
    (block,) = blocks(page, "python")
    assert printed(block)[0].startswith("[")


def test_every_command_of_your_own_task_runs_in_the_order_of_the_page(capsys):
    lines = [line for block in blocks("your-own-task.md", "sh") for line in block.splitlines()]
    assert len(lines) == 3
    assert [run_line(line) for line in lines] == [0, 0, 0]
    capsys.readouterr()
    assert main(["task", "predict", "asker"]) == 2
    assert "is a model of the task 'questions', which isn't installed" in capsys.readouterr().err


def test_links_lead_somewhere():
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *FOLDER.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"`((?:examples|tests|configs|docs|runs|dev|benchmarks|paper)/[\w./-]+\.\w+)`", text):
            assert (ROOT / target).exists(), f"{page.name}: {target}"
        prose = re.sub(r"^```.*?^```$|`[^`\n]+`", "", text, flags=re.MULTILINE | re.DOTALL)
        for target, section in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", prose):
            if "://" not in target:
                other = page.parent / target if target else page
                assert other.exists(), f"{page.name}: {target}"
                assert not section or section in sections(other), f"{page.name}: {target}#{section}"


def sections(page: Path) -> set[str]:
    """The names by which links reach the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading.lower())) for heading in headings}


@pytest.mark.slow
def test_every_command_of_pretraining_runs_in_the_order_of_the_page(place):
    text = "the cat sat on the mat\nthe dog sat on the log\na cat and a dog sat\n"
    for name in ("text", "HELD_OUT", "OLD_HELD_OUT", "DOMAIN_TEXT", "DOMAIN_HELD_OUT"):
        (place / name).write_text(text * 240, encoding="utf-8")
    for name in ("train.conll", "test.conll"):
        (place / name).write_text("the O\ncat B-PET\nsat O\n\na O\ndog B-PET\nsat O\n\n" * 10, encoding="utf-8")
    (place / "MODEL").symlink_to(place / "RUN" / "model")
    assert run_line("elmo prepare text --valid HELD_OUT -o DATA") == 0
    lines = [line for block in blocks("pretraining.md", "sh") for line in block.splitlines()]
    assert len(lines) == 7
    steps = ["--max-steps", "2", "--num-negative-samples", "5", "--evaluate-every", "0"]
    epoch = ["--epochs", "1", "--hidden-sizes", "4", "--character-filters", "4", "--seeds", "1"]
    quick = {"pretrain": steps, "finetune": steps, "reproduce": epoch}
    for line in lines:
        words = shlex.split(line, comments=True)
        assert PROGRAMS[words[0]]([*words[1:], *quick.get(words[1], [])]) == 0, line


ARTICLE = 'It rained all day. "We stayed in," she said.\n\nNobody came.\n'


def test_your_own_text_runs_in_the_order_of_the_page(place, printed):
    (place / "article.txt").write_text(ARTICLE, encoding="utf-8")
    (place / "letters.csv").write_text('id,body\n1,"Dear Ann, it rained. Write soon!"\n', encoding="utf-8")
    for name in ("part-a.jsonl", "part-b.jsonl"):
        (place / name).write_text('{"text": "a line ."}\n', encoding="utf-8")
    (place / "corpus.txt").write_text("It rained again today .\n" * 600, encoding="utf-8")
    found = in_order("your-own-text.md")
    assert sorted(language for language, _ in found) == ["python"] * 7 + ["sh"] * 3
    for language, block in found:
        if language == "sh":
            for line in block.splitlines():
                command, _, file = line.partition(" < ")
                given = (place / file).read_text(encoding="utf-8").strip("\n") if file else ""
                said = f"echo {shlex.quote(given)} | " if file else ""
                assert run_line(said + command if file else command) == 0, line
            continue
        promised = [line.split("  # ")[1] for line in block.splitlines() if "  # " in line]
        lines = printed(block)
        assert lines[len(lines) - len(promised) :] == promised
    assert run_line("elmo embed corpus.txt -o corpus.h5 --layers average") == 0
    assert (place / "corpus.h5").read_bytes() == (place / "workers.h5").read_bytes()


TOY = ">sp|P0DTC2|SPIKE_TOY Made up\nMKTAYIAKQRQISFVKSHFSRQ\nLEERLGLIEVQAPILS\n>tr|Q1/2|TOY\nggsU-OB*\n"


def test_proteins_run_in_the_order_of_the_page(place, tiny_config, printed):
    """SeqVec is a small network of random weights, in a folder of that name."""
    from elmo.model.bilm import BiLM

    torch.manual_seed(1)
    BiLM(replace(tiny_config, cell_size=512, projection_size=512)).save_pretrained(place / "seqvec")
    (place / "proteins.fasta").write_text(TOY, encoding="utf-8")
    found = in_order("proteins.md")
    assert [language for language, _ in found] == ["sh", "python", "python", "python", "sh", "python"]
    names: dict[str, object] = {}
    for language, block in found:
        if language == "sh":
            assert [run_line(line) for line in block.splitlines()] == [0] * len(block.splitlines()), block
            continue
        lines = printed(block, names)
        promised = [line.split("  # ")[1] for line in block.splitlines() if "  # " in line]
        assert lines[: len(promised)] == promised
    right, most = (int(share) for share in re.findall(r"(\d+)%", lines[0]))
    assert right > most + 10
    assert len(lines[1]) == len(lines[2]) == len(lines[3])
    assert set(lines[3]) <= set("HEC")


NOT_RUN = "not run by the test"


def calls(section: str) -> list[str]:
    """What stands in code in the right column of a section's table, one call per row."""
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in section.splitlines() if line.startswith("| ")][1:]
    cells = [row[-1] for row in rows]
    return [found[1] for cell in cells if NOT_RUN not in cell and (found := re.match(r" `([^`]+)`", cell))]


@pytest.mark.parametrize(
    ("library", "at_least"),
    [
        ("AllenNLP", 9),
        ("bilm-tf", 8),
        ("simple_elmo", 6),
        ("ELMoForManyLangs", 5),
        ("TensorFlow Hub", 6),
        ("SeqVec", 3),
        ("sentence-transformers", 7),
    ],
)
def test_every_new_call_of_coming_from_runs(library, at_least, place, printed, monkeypatch):
    # Every call opens its model anew; that a process of its own unpickles it is for other tests.
    monkeypatch.setattr(many_langs, "read_state_dict", cache(many_langs.read_state_dict))
    golden = ROOT / "tests/golden"
    for name in ("options.json", "weights.hdf5"):
        shutil.copy(golden / "relu_hw2_l2_skip_mixed" / name, place / name)
    shutil.copytree(golden / "efml_word_and_char", place / "many-langs-model")
    text = (FOLDER / "coming-from.md").read_text(encoding="utf-8")
    (section,) = [part for part in text.split("\n## ") if part.startswith(f"{library}\n")]
    names: dict[str, object] = {}
    (block,) = re.findall(r"^```python\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)
    assert printed(block, names) == promised(block)
    found = calls(section)
    assert len(found) >= at_least
    for call in found:
        if call.startswith("elmo "):
            assert run_line(call) == 0, call
        else:
            assert eval(call, names) is not None, call


def test_figures_of_which_layer_are_those_of_analysis():
    pages = [(FOLDER / page).read_text(encoding="utf-8") for page in ("which-layer.md", "analysis.md")]
    said = re.findall(r"^\| (layer \d|mean of layers) \|(.*)\|$", pages[0], flags=re.MULTILINE)
    assert len(said) == 4
    for layer, cells in said:
        rows = re.findall(rf"^\| small-en, {layer} \|(.*)\|$", pages[1], flags=re.MULTILINE)
        precision, senses, pos = ([cell.split()[0] for cell in row.split("|")] for row in rows[:3])
        assert cells.replace("|", " ").split() == [pos[0], senses[3], precision[0], precision[2]]
    # Only the table of geometry has three decimals.
    cosines = re.search(r"^\| small-en, mean of layers \| (0\.\d{3}) \| (0\.\d{3}) \|", pages[1], flags=re.MULTILINE)
    assert cosines is not None
    assert re.findall(r"\b0\.\d{3}\b", pages[0]) == list(cosines.groups())


@pytest.mark.parametrize(
    ("page", "row", "record"),
    [
        ("ner", "Broad Twitter Corpus", "ner"),
        ("ner", "WNUT-17", "wnut17"),
        ("ner", "GUM", "gum"),
        ("ner", "KLUE", "ko-ner"),
        ("sst", "SST-5, trained on sentences and phrases", "sst-phrases"),
        ("sst", "SST-5, trained on sentences only", "sst"),
        ("sst", "Korean film reviews", "ko-reviews"),
    ],
)
def test_gains_of_task_pages_are_those_of_their_records(page, row, record):
    (line,) = re.findall(rf"^\| {row}.*", (FOLDER / f"tasks/{page}.md").read_text(encoding="utf-8"), re.MULTILINE)
    path = ROOT / f"paper/records/reproduction/{record}.table1.json"
    gain = json.loads(path.read_text(encoding="utf-8"))["gains"][0]["test"]
    low, high = gain["interval"]
    assert f"| {gain['difference']:+.1f} [{low:+.1f}, {high:+.1f}] |" in line
