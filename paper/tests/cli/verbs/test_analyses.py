"""The analyses on tiny files: tables, JSON, records, figures, and errors before work begins."""

import json
from pathlib import Path

import pytest

from elmo.disk.bounded import file_hash
from elmo.errors import ConfigError, TextWarning
from elmo_paper.analysis.plots import draw
from elmo_paper.cli.main import main
from elmo_paper.cli.verbs import context2vec, geometry
from elmo_paper.pages.analyses import as_text

CORPUS = Path(__file__).parents[2] / "analysis" / "senses" / "corpus"
BEGINNING = {"analysis", "date", "command", "elmo", "commit", "machine", "model", "model_hash", "dtype", "static"}
SENTENCES = ["the bank was steep .", "the bank lent money", "a river was steep", "밥 을 먹었다"]


def test_senses_are_a_table_or_a_record(model_folder, tmp_path, capsys):
    command = [
        *("wsd", "--train", str(CORPUS / "train.data.xml"), "--test", str(CORPUS / "t.data.xml")),
        *("--inventory", str(CORPUS / "senses.tsv")),
        *("-m", str(model_folder), "--random", "-o", str(tmp_path / "out.json"), "--quiet"),
    ]
    assert main(command) == 0
    page = capsys.readouterr().out
    assert "first sense" in page and "model, mean of layers" in page and "random weights, layer 2" in page
    record = json.loads((tmp_path / "out.json").read_text())
    assert len(record["systems"]) == 2 + 4 + 3 and record["data"]["train"]["file"] == "train.data.xml"
    keys = [CORPUS / f"{name}.gold.key.txt" for name in ("train", "t")]
    assert record["data"]["keys"] == [{"file": path.name, "sha256": file_hash(path)} for path in keys]
    assert main(command) == 2
    assert "out.json: exists already" in capsys.readouterr().err
    assert main([*command, "--force", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again == {**record, "date": again["date"]}


@pytest.fixture
def treebank(tmp_path):
    words = enumerate([("a", "D"), ("b", "N")], 1)
    lines = [f"{place}\t{word}\t_\t_\t{tag}" + "\t_" * 5 for place, (word, tag) in words]
    (tmp_path / "x.conllu").write_text("\n".join([*lines, "", ""]) * 30)
    return tmp_path / "x.conllu"


def cove_folder(folder: Path) -> Path:
    import torch

    folder.mkdir(exist_ok=True)
    torch.save(torch.nn.LSTM(2, 2, num_layers=2, bidirectional=True).state_dict(), folder / "mt.pth")
    (folder / "vectors.txt").write_text("bank 1 0\na 0 1\nb 1 0.1\nplay 1 1\n")
    return folder


def commands(model_folder: Path, treebank: Path, corpus: Path, folder: Path) -> dict[str, list[str]]:
    (folder / "text.txt").write_text("\n".join(SENTENCES * 2) + "\n", encoding="utf-8")
    (folder / "static.txt").write_text("bank 1 0\na 0 1\nb 1 0.1\nplay 1 1\n")
    senses = [f"{word} 2\n1 0\n1 {n}\n0 1\n{n} 1\n1 1\n" for n, word in enumerate(("bank", "a", "b", "play"))]
    (folder / "senses.txt").write_text("4 2 2 0\n" + "".join(senses))
    learn = ["--unit", "3", "--epochs", "1", "--min-count", "1", "--quiet"]
    assert context2vec.main([str(folder / "text.txt"), "-o", str(folder / "context2vec"), *learn]) == 0
    files = ["-m", str(model_folder), "--static", str(folder / "static.txt"), "--random", "--forward"]
    files += ["--encoder", f"context2vec={folder / 'context2vec'}", f"cove={cove_folder(folder / 'cove')}"]
    files += [f"mssg={folder / 'senses.txt'}"]
    senses = ["--train", str(CORPUS / "train.data.xml"), "--test", str(CORPUS / "t.data.xml")]
    return {
        "wsd": [*senses, "--dev", str(CORPUS / "t.data.xml"), "--inventory", str(CORPUS / "senses.tsv"), *files],
        "pos": [*(f"--{part}={treebank}" for part in ("train", "dev", "test")), *files],
        "precision": [str(corpus), *files],
        "geometry": [str(folder / "text.txt"), "--least-sentences", "2", "--against", str(model_folder), *files],
    }


@pytest.mark.parametrize("name", ["wsd", "pos", "geometry", "precision"])
def test_every_analysis_writes_a_record_of_one_shape_a_table_and_a_figure(
    name, model_folder, treebank, play_corpus, tmp_path, capsys
):
    out, figure = tmp_path / "out.json", tmp_path / "out.svg"
    command = commands(model_folder, treebank, play_corpus(tmp_path, "play"), tmp_path)[name]
    assert main([name, *command, "-o", str(out), "--quiet"]) == 0
    page = capsys.readouterr().out
    record = json.loads(out.read_text("utf-8"))
    assert record.keys() >= BEGINNING and record["analysis"] == name and record["static"] == "static.txt"
    encoders = ["biLM", "forward LM", "random biLM", "static", "context average", "context2vec", "CoVe", "MSSG"]
    assert set(encoders) <= record["encoders"].keys()
    files = [one for found in record["data"].values() for one in (found if isinstance(found, list) else [found])]
    assert files and all(len(one["sha256"]) == 64 and "/" not in one["file"] for one in files)
    assert name != "precision" or [one["file"] for one in files] == ["play.data.xml", "play.gold.key.txt"]
    shown = ["model, layer 1", "forward LM, layer 2", "CoVe, layer 2", "random weights", "static vectors"]
    assert all(system in page for system in [*shown, *encoders[4:]])
    theirs = {"wsd": "Iacobacci et al. 2016", "pos": "Ling et al. 2015", "precision": "layer 2 finds the same sense"}
    assert name == "geometry" or (theirs[name] in page and "The paper: Peters et al. 2018" in page)
    draw(record, figure)
    assert "<svg" in figure.read_text("utf-8") and "random biLM, layer 2" in figure.read_text("utf-8")


def test_what_was_not_measured_is_an_empty_cell_and_no_dot_in_a_figure(tmp_path):
    given = {"model": "m", "date": "2030-01-01", "encoder": "biLM", "accuracy": 90.0, "interval": [80.0, 99.0]}
    rest = {"unseen": 50.0, "ambiguous": None, "selectivity": None, "compression": None}
    rows = [{**given, **rest, "layer": "layer 0"}, {**given, **rest, "layer": "layer 1", "unseen": None}]
    record = {**given, "analysis": "pos", "rows": rows}
    lines = as_text(record).splitlines()
    assert [[cell.strip() for cell in line.split("|")[3:5]] for line in lines[2:4]] == [["50.0", ""], ["", ""]]
    measured = dict.fromkeys(("anisotropy", "self_similarity", "intra_sentence", "explained", "norm"))
    layers = [{"encoder": "static", "layer": "", **measured}]
    spheres = {"analysis": "geometry", "model": "m", "layers": layers, "cka": [[1.0]]}
    assert as_text(spheres).splitlines()[2].split() == ["|", "static", "vectors", *["|"] * 6]
    draw({**record, "rows": [rows[0], *rows]}, tmp_path / "a.svg")
    layers.append({**layers[0], "layer": "1", "anisotropy": [0.5, [0.4, 0.6]]})
    draw({**record, "analysis": "geometry", "layers": layers}, tmp_path / "b.svg")
    draw({**record, "model": r"$\cost$"}, tmp_path / "c.svg")
    assert r"$\cost$" in (tmp_path / "c.svg").read_text(encoding="utf-8")


def test_geometry_reads_two_sentences_or_more(tmp_path, model_folder):
    (tmp_path / "text.txt").write_text("a b\nc d\n")
    with pytest.raises(ConfigError, match=r"sentences must be at least 2 \(got 1\)"):
        geometry.main([str(tmp_path / "text.txt"), "--model", str(model_folder), "--sentences", "1"])


def test_text_that_the_model_will_not_understand_is_pointed_out_once(tmp_path, model_folder):
    (tmp_path / "text.txt").write_text("나는 [PAD] 어제 친구를 만났다\n나는 어제 왔다\n", encoding="utf-8")
    command = [str(tmp_path / "text.txt"), "--model", str(model_folder), "--quiet"]
    with pytest.warns(TextWarning) as warned:
        geometry.main([*command, "--least-sentences", "2"])
    told = [str(it.message) for it in warned if it.category is TextWarning]
    assert len(told) == 2
    assert "has [PAD], special tokens of other models" in told[0]
    assert "is not in the model's language" in told[1]


@pytest.mark.parametrize(
    ("named", "told"),
    [
        (["cove"], "the encoder 'cove' has no default model. Name its files: --encoder cove=FILES"),
        (["cove=a", "cove=b"], "encoder must be NAME=FILES, each name once"),
        (["bert=a"], "there is no encoder 'bert'. It must be one of none, elmo, "),
    ],
)
def test_encoders_that_can_not_be_compared_with_are_named(named, told, tmp_path, model_folder, capsys):
    (tmp_path / "text.txt").write_text("a b\nc d\n")
    command = ["geometry", str(tmp_path / "text.txt"), "-m", str(model_folder), "--quiet", "--encoder", *named]
    assert main(command) == 2
    assert told in capsys.readouterr().err
