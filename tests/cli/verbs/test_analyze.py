"""`elmo index` and `elmo analyze` on tiny files: tables, JSON, records, and errors before work begins."""

import json
import unicodedata
from pathlib import Path

import pytest

from elmo.analysis.plots import draw
from elmo.cli.verbs import analyze, context2vec, index, reproduce
from elmo.cli.verbs.analyze import geometry, pos
from elmo.disk.bounded import file_hash
from elmo.errors import ConfigError, OutputError, TextError, TextWarning

CORPUS = Path(__file__).parents[2] / "analysis" / "senses" / "corpus"
BEGINNING = {"analysis", "date", "command", "elmo", "commit", "machine", "model", "model_hash", "dtype", "static"}
SENTENCES = ["the bank was steep .", "the bank lent money", "a river was steep", "밥 을 먹었다"]


@pytest.fixture
def folder(model_folder, tmp_path):
    (tmp_path / "text.txt").write_text("\n".join([*SENTENCES, ""]) + "\n", encoding="utf-8")
    command = [str(tmp_path / "text.txt"), "-o", str(tmp_path / "index"), "-m", str(model_folder), "--quiet"]
    assert index.main(command) == 0
    return tmp_path / "index"


def test_an_index_reports_what_it_holds(model_folder, tmp_path, capsys, stdin):
    stdin(b"the bank\n\xff\na b c\n")
    command = ["-", "-o", str(tmp_path / "i"), "-m", str(model_folder), "--json", "--quiet", "--errors", "skip"]
    assert index.main(command) == 1
    told = capsys.readouterr()
    facts = json.loads(told.out)
    assert (facts["num_tokens"], facts["num_sentences"], facts["num_layers"]) == (5, 2, 3)
    assert "skipped: stdin:2" in told.err


@pytest.mark.parametrize("named", ["by a path", "by the variable"])
def test_an_index_knows_its_model_from_any_folder(model_folder, tmp_path, monkeypatch, named):
    (tmp_path / "text.txt").write_text("\n".join(SENTENCES), encoding="utf-8")
    monkeypatch.chdir(model_folder.parent)
    if named == "by the variable":
        monkeypatch.setenv("ELMO_MODEL", model_folder.name)
    model = ["-m", model_folder.name] if named == "by a path" else []
    assert index.main([str(tmp_path / "text.txt"), "-o", str(tmp_path / "index"), *model, "--quiet"]) == 0
    monkeypatch.delenv("ELMO_MODEL", raising=False)
    monkeypatch.chdir(tmp_path / "index")
    assert analyze.main(["neighbors", ".", "the [bank] is here"]) == 0


def test_neighbors_are_shown_for_every_layer(folder, capsys):
    assert analyze.main(["neighbors", str(folder), "the [bank] is here", "--top", "2"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("the [bank] is here\n\nlayer 0: the word alone\n")
    assert "layer 2" in page and "[bank] lent money" in page


def test_a_sentence_is_read_as_the_text_was(folder, capsys):
    for form in ("NFC", "NFD"):  # the tokenizer takes 's off composed letters alone
        sentence = unicodedata.normalize(form, "the [bänk] is Zoë's")
        assert analyze.main(["neighbors", str(folder), sentence]) == 0
    captured = capsys.readouterr()
    first, second = captured.out.split("the [bänk] is Zoë 's")[1:]
    assert first.strip() == second.strip() and "It is read in NFC" in captured.err


def test_senses_of_a_word_have_neighbors_of_their_own(folder, tmp_path, capsys):
    # A word, its global vector, and its senses with their centroids.
    words = ["bank 2", "0 0", "1 0", "0 1", "0 1", "1 0", "river 1", "1 0", "1 0", "1 0", "money 1", *["0 1"] * 3]
    (tmp_path / "senses.txt").write_text("\n".join(["3 2 2 0", *words, ""]))
    command = ["neighbors", str(folder), "the river [bank] is here", "--mssg", str(tmp_path / "senses.txt")]
    command += ["--top", "1"]
    assert analyze.main(command) == 0
    page = capsys.readouterr().out
    assert "\nbank-1\n  river 1.00\n\nbank-2: chosen by this sentence\n  money 1.00\n" in page
    assert analyze.main([*command, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["mssg"] == "senses.txt" and [one["chosen"] for one in record["queries"][0]["mssg"]] == [False, True]


def test_neighbors_as_json_have_sentences_and_cosines(folder, tmp_path, capsys):
    (tmp_path / "static.txt").write_text("bank 1 0\nriver 0 1\nmoney 1 0.1\n")
    command = ["neighbors", str(folder), "the [bank] is here", "--json", "--static", str(tmp_path / "static.txt")]
    assert analyze.main(command) == 0
    record = json.loads(capsys.readouterr().out)
    assert record.keys() >= BEGINNING and record["data"]["index"]["file"] == "index.json"
    (found,) = record["queries"]
    assert found["static"][0][0] == "money" and found["place"] == 1
    same = found["layers"][2]["same"]
    assert {hit["word"] for hit in same} == {"bank"} and {hit["line"] for hit in same} == {1, 2}


@pytest.mark.parametrize("top", [0, -3])
def test_fewer_than_one_neighbor_is_refused(tmp_path, top):
    for command in (["neighbors"], ["table4"]):
        main = analyze.main if command == ["neighbors"] else reproduce.main
        with pytest.raises(ConfigError, match=rf"top must be at least 1 \(got {top}\)"):
            main([*command, str(tmp_path), "the [bank] is here", "--top", str(top)])


def test_what_can_not_be_analyzed_is_told(folder, tmp_path, capsys):
    with pytest.raises(ConfigError, match="there is no analysis 'wds'"):
        analyze.main(["wds"])
    with pytest.raises(TextError, match="holds no context index"):
        analyze.main(["neighbors", str(tmp_path), "the [bank]"])
    with pytest.raises(ConfigError, match="0 tokens in brackets"):
        analyze.main(["neighbors", str(folder), "the bank"])
    assert analyze.main([]) == 2 and "usage: elmo analyze" in capsys.readouterr().err


def test_senses_are_a_table_or_a_record(model_folder, tmp_path, capsys):
    pytest.importorskip("torch")  # the control with random weights
    command = [
        *("wsd", "--train", str(CORPUS / "train.data.xml"), "--test", str(CORPUS / "t.data.xml")),
        *("--inventory", str(CORPUS / "senses.tsv")),
        *("-m", str(model_folder), "--random", "-o", str(tmp_path / "out.json"), "--quiet"),
    ]
    assert analyze.main(command) == 0
    page = capsys.readouterr().out
    assert "first sense" in page and "biLM, mean of layers" in page and "random biLM, layer 2" in page
    record = json.loads((tmp_path / "out.json").read_text())
    assert len(record["systems"]) == 2 + 4 + 3 and record["data"]["train"]["file"] == "train.data.xml"
    keys = [CORPUS / f"{name}.gold.key.txt" for name in ("train", "t")]
    assert record["data"]["keys"] == [{"file": path.name, "sha256": file_hash(path)} for path in keys]
    with pytest.raises(OutputError, match="exists"):
        analyze.main(command)
    assert analyze.main([*command, "--force", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again == {**record, "date": again["date"]}


@pytest.fixture
def treebank(tmp_path):
    words = enumerate([("a", "D"), ("b", "N")], 1)
    lines = [f"{place}\t{word}\t_\t_\t{tag}" + "\t_" * 5 for place, (word, tag) in words]
    (tmp_path / "x.conllu").write_text("\n".join([*lines, "", ""]) * 30)
    return tmp_path / "x.conllu"


def sense_corpus(folder: Path) -> Path:
    """One word with two senses in 24 documents."""
    texts = [
        f'<text id="d{n}"><sentence id="d{n}.s0"><wf lemma="w{n}" pos="X">w{n}</wf>'
        f'<instance id="d{n}.s0.t0" lemma="play" pos="{("NOUN", "VERB")[n % 2]}">play</instance></sentence></text>'
        for n in range(24)
    ]
    (folder / "play.data.xml").write_text(f"<corpus>{''.join(texts)}</corpus>")
    keys = [f"d{n}.s0.t0 play%{n % 2}{n % 3}\n" for n in range(24)]
    (folder / "play.gold.key.txt").write_text("".join(keys))
    return folder / "play.data.xml"


def cove_folder(folder: Path) -> Path:
    import torch

    folder.mkdir(exist_ok=True)
    torch.save(torch.nn.LSTM(2, 2, num_layers=2, bidirectional=True).state_dict(), folder / "mt.pth")
    (folder / "vectors.txt").write_text("bank 1 0\na 0 1\nb 1 0.1\nplay 1 1\n")
    return folder


def commands(model_folder: Path, treebank: Path, folder: Path) -> dict[str, list[str]]:
    (folder / "text.txt").write_text("\n".join(SENTENCES * 2) + "\n", encoding="utf-8")
    (folder / "static.txt").write_text("bank 1 0\na 0 1\nb 1 0.1\nplay 1 1\n")
    words = [
        f"{word} 2\n1 0\n1 {place}\n0 1\n{place} 1\n1 1\n" for place, word in enumerate(("bank", "a", "b", "play"))
    ]
    (folder / "senses.txt").write_text("4 2 2 0\n" + "".join(words))
    if not (folder / "context2vec").exists():
        learn = ["--unit", "3", "--epochs", "1", "--min-count", "1", "--quiet"]
        assert context2vec.main([str(folder / "text.txt"), "-o", str(folder / "context2vec"), *learn]) == 0
    files = ["-m", str(model_folder), "--static", str(folder / "static.txt"), "--random", "--forward"]
    files += ["--context2vec", str(folder / "context2vec"), "--cove", str(cove_folder(folder / "cove"))]
    files += ["--mssg", str(folder / "senses.txt")]
    senses = ["--train", str(CORPUS / "train.data.xml"), "--test", str(CORPUS / "t.data.xml")]
    return {
        "wsd": [*senses, "--dev", str(CORPUS / "t.data.xml"), "--inventory", str(CORPUS / "senses.tsv"), *files],
        "pos": [*(f"--{part}={treebank}" for part in ("train", "dev", "test")), *files],
        "precision": [str(sense_corpus(folder)), *files],
        "geometry": [str(folder / "text.txt"), "--least-sentences", "2", "--against", str(model_folder), *files],
    }


@pytest.mark.parametrize("name", ["wsd", "pos", "geometry", "precision"])
def test_every_analysis_writes_a_record_of_one_shape_a_table_and_a_figure(
    name, model_folder, treebank, tmp_path, capsys
):
    pytest.importorskip("torch")  # the control with random weights
    for library in ("scipy", "matplotlib"):
        pytest.importorskip(library)
    out, figure = tmp_path / "out.json", tmp_path / "out.svg"
    command = [name, *commands(model_folder, treebank, tmp_path)[name], "-o", str(out), "--figure", str(figure)]
    assert analyze.main([*command, "--quiet"]) == 0
    page = capsys.readouterr().out
    record = json.loads(out.read_text("utf-8"))
    assert record.keys() >= BEGINNING and record["analysis"] == name and record["static"] == "static.txt"
    encoders = ["biLM", "forward LM", "random biLM", "static", "context average", "context2vec", "CoVe", "MSSG"]
    assert set(encoders) <= record["encoders"].keys()
    files = [one for found in record["data"].values() for one in (found if isinstance(found, list) else [found])]
    assert files and all(len(one["sha256"]) == 64 and "/" not in one["file"] for one in files)
    assert name != "precision" or [one["file"] for one in files] == ["play.data.xml", "play.gold.key.txt"]
    assert all(shown in page for shown in ("biLM, layer 1", "forward LM, layer 2", "CoVe, layer 2", *encoders[2:]))
    assert "<svg" in figure.read_text("utf-8") and "random biLM, layer 2" in figure.read_text("utf-8")
    if name != "geometry":
        require_lead_of_the_bilm_over_its_forward_half(name, record)


def require_lead_of_the_bilm_over_its_forward_half(name: str, record: dict) -> None:
    rows = record["systems"] if name == "wsd" else record["rows"]
    layers = {(row["encoder"], row["layer"].split(" (")[0]): row for row in rows}

    def figure(row: dict) -> float:
        if name == "precision":
            return row["precision"]["sense"]["1"][0]
        return row["sets"]["all"]["f1"] if name == "wsd" else row["accuracy"]

    forward = [key for key in layers if key[0].startswith("forward LM")]
    assert len(forward) == (6 if name == "wsd" else 3)
    for key, row in layers.items():
        assert (row["minus_bilm"] is not None) == (key in forward)
    for encoder, layer in forward:
        row, whole = layers[encoder, layer], layers[encoder.replace("forward LM", "biLM"), layer]
        less = row["minus_bilm"]["sense"]["1"][0] if name == "precision" else row["minus_bilm"][0]
        assert less == pytest.approx(figure(row) - figure(whole))


def test_what_was_not_measured_is_a_dash_in_the_tables_and_no_dot_in_a_figure(tmp_path):
    pytest.importorskip("matplotlib")
    given = {"model": "m", "date": "2030-01-01", "encoder": "biLM", "accuracy": 90.0, "interval": [80.0, 99.0]}
    rest = {"unseen": 50.0, "ambiguous": None, "selectivity": None, "compression": None}
    rows = [{**given, **rest, "layer": "layer 0"}, {**given, **rest, "layer": "layer 1", "unseen": None}]
    record = {**given, "analysis": "pos", "rows": rows}
    lines = pos.table(record).splitlines()
    assert [line.split()[7:] for line in lines[1:]] == [["50.00", "-"], ["-", "-"]]
    measured = dict.fromkeys(("anisotropy", "self_similarity", "intra_sentence", "explained", "norm"))
    layers = [{"encoder": "static", "layer": "", **measured}]
    counts = {"sentences": 2, "tokens": 3, "words": 0, "cka": [[1.0]]}
    assert geometry.table({"layers": layers, **counts}).splitlines()[1].split() == ["static", *"-----"]
    draw({**record, "rows": [rows[0], *rows]}, tmp_path / "a.svg", ".svg")
    layers.append({**layers[0], "layer": "1", "anisotropy": [0.5, [0.4, 0.6]]})
    draw({**record, "analysis": "geometry", "layers": layers}, tmp_path / "b.svg", ".svg")
    draw({**record, "model": r"$\cost$"}, tmp_path / "c.svg", ".svg")
    assert r"$\cost$" in (tmp_path / "c.svg").read_text(encoding="utf-8")


def test_a_figure_of_an_unknown_kind_is_refused_before_the_work(tmp_path, model_folder, treebank):
    files = ["--train", str(treebank), "--dev", str(treebank), "--test", str(treebank)]
    command = ["pos", *files, "--model", str(model_folder), "--figure", str(tmp_path / "out.doc")]
    with pytest.raises(ConfigError, match="must be .png or .svg"):
        analyze.main(command)


def test_tables_of_the_paper_stand_beside_records_and_what_is_computed(
    model_folder, treebank, folder, tmp_path, capsys
):
    pytest.importorskip("torch")  # the control with random weights
    pytest.importorskip("scipy")
    flags = commands(model_folder, treebank, tmp_path)["pos"]
    record = tmp_path / "pos.json"
    assert reproduce.main(["table6", *flags, "-o", str(record), "--quiet"]) == 0
    computed = capsys.readouterr().out
    assert reproduce.main(["table6", str(record)]) == 0
    assert capsys.readouterr().out == computed and "Ling et al. 2015" in computed and "random biLM, layer 2" in computed
    assert reproduce.main(["table6", "--json", str(record)]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["paper"]["rows"]["biLM, layer 1"] == 97.3 and shown["records"] == [json.loads(record.read_text())]
    assert reproduce.main(["table4", str(folder), "the [bank] is here", "--quiet"]) == 0
    page = capsys.readouterr().out
    assert "multiplayer" in page and "layer 2: the [bank]" in page
    with pytest.raises(TextError, match="is a record of 'elmo analyze pos', but table5 is made of 'wsd'"):
        reproduce.main(["table5", str(record)])
    with pytest.raises(TextError, match="is not a record of an analysis"):
        (tmp_path / "bad.json").write_text("[]")
        reproduce.main(["table5", str(tmp_path / "bad.json")])


def test_the_seed_of_an_index_is_checked(tmp_path, model_folder):
    (tmp_path / "text.txt").write_text("a b\n")
    command = [str(tmp_path / "text.txt"), "-o", str(tmp_path / "i"), "-m", str(model_folder), "--quiet"]
    with pytest.raises(ConfigError, match=r"seed must be .* \(got -1\)"):
        index.main([*command, "--sample", "--seed", "-1"])
    assert not (tmp_path / "i").exists()
    assert index.main([*command, "--sample", "--seed", "3"]) == 0


def test_geometry_reads_two_sentences_or_more(tmp_path, model_folder):
    (tmp_path / "text.txt").write_text("a b\nc d\n")
    with pytest.raises(ConfigError, match=r"sentences must be at least 2 \(got 1\)"):
        analyze.main(["geometry", str(tmp_path / "text.txt"), "--model", str(model_folder), "--sentences", "1"])


def test_text_that_the_model_will_not_understand_is_pointed_out_once(tmp_path, model_folder):
    (tmp_path / "text.txt").write_text("나는 [PAD] 어제 친구를 만났다\n나는 어제 왔다\n", encoding="utf-8")
    command = ["geometry", str(tmp_path / "text.txt"), "--model", str(model_folder), "--quiet"]
    with pytest.warns(TextWarning) as warned:
        analyze.main([*command, "--least-sentences", "2"])
    told = [str(it.message) for it in warned if it.category is TextWarning]
    assert len(told) == 2
    assert "has [PAD], special tokens of other models" in told[0]
    assert "is not in the model's language" in told[1]


@pytest.mark.parametrize("order", ["{record} --json", "--json {record}", "--json {record} {record}"])
def test_records_of_layers_are_found_before_and_after_flags(order, capsys):
    record = Path(__file__).resolve().parents[3] / "docs" / "analysis" / "wsd-small-en.json"
    assert reproduce.main(["table5", *order.format(record=record).split()]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["records"] == [json.loads(record.read_text("utf-8"))] * order.count("record")


def test_the_output_of_an_analysis_is_not_taken_for_a_record(tmp_path, capsys):
    with pytest.raises(SystemExit):
        reproduce.main(["table5", "-o", str(tmp_path / "out.json")])
    assert "--inventory" in capsys.readouterr().err


def test_a_figure_that_fails_leaves_the_record_and_the_table(model_folder, tmp_path, capsys, monkeypatch):
    def failing(*_):
        raise RuntimeError("no picture")

    pytest.importorskip("matplotlib")
    monkeypatch.setattr("elmo.analysis.plots.draw", failing)
    out, figure = tmp_path / "out.json", tmp_path / "out.svg"
    command = ["precision", str(sense_corpus(tmp_path)), "-m", str(model_folder), "-o", str(out), "--quiet"]
    with pytest.raises(RuntimeError, match="no picture"):
        analyze.main([*command, "--figure", str(figure)])
    assert json.loads(out.read_text("utf-8"))["analysis"] == "precision" and not figure.exists()
    assert "biLM, layer 2" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["both.svg", "./both.svg"])
def test_a_record_and_a_figure_of_one_name_are_refused_before_the_work(name, tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "text.txt").write_text("a b\nc d\n")
    command = ["geometry", str(tmp_path / "text.txt"), "-o", str(tmp_path / "both.svg")]
    with pytest.raises(ConfigError, match=r"--output and --figure both name .*both.svg, where one result would"):
        analyze.main([*command, "--figure", f"{tmp_path}/{name}", "--force"])
    assert not (tmp_path / "both.svg").exists()
