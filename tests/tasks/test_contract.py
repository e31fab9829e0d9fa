"""The contract of a task, for all of them: what is trained is evaluated, scored from files and used alike.

What only one task does is tested in its own folder.
"""

import json
import pickle

import pytest

from elmo.cli.main import main
from elmo.tasks.counts import score_of
from elmo.tasks.registry import BUILT_IN, find

PASSAGE = "Anna lives in a house near the harbour of Rome ."
COREF = [("Anna", "(1)"), ("saw", "-"), ("her", "(1)"), ("house", "-"), (".", "-")]


def squad(place: int) -> dict:
    """An article with a question."""
    answer = {"text": "Rome", "answer_start": PASSAGE.index("Rome")}
    question = {"id": str(place), "question": "Where does Anna live ?", "answers": [answer]}
    return {"title": f"Anna {place}", "paragraphs": [{"context": PASSAGE, "qas": [question]}]}


def pair(label: str, place: int) -> str:
    sides = {"sentence1": f"She saw {place} old cats .", "sentence2": "Cats sleep ."}
    return json.dumps({"gold_label": label, "pairID": f"p{place}", **sides}) + "\n"


def document(place: int) -> str:
    rows = "".join(f"nw/{place} 0 {at} {word} NN * - - - Anna * {cell}\n" for at, (word, cell) in enumerate(COREF))
    return f"#begin document (nw/{place}); part 000\n{rows}\n#end document\n"


# Of each task a labelled file, flags of a small network, and a file from which nothing can be learned with the reason.
DATA = {
    "ner": "Anna B-PER\nsaw O\nRome B-LOC\n\nshe O\nran O\n\n" * 6,
    "pos": "Anna NOUN\nsaw VERB\nRome NOUN\n\nshe PRON\nran VERB\n\n" * 6,
    "sst": "good\ta good film .\nbad\ta bad film .\n" * 6,
    "snli": "".join(pair(label, number) for number, label in enumerate(["entailment", "neutral"] * 6)),
    "srl": "She - (A0*)\nleft left (V*)\n\nHe - (A0*)\ntook took (V*)\nit - (A1*)\n\n" * 6,
    "squad": json.dumps({"data": [squad(number) for number in range(8)]}),
    "coref": "".join(map(document, range(8))),
}
SMALL = {
    "ner": "--hidden-sizes 4 --character-filters 4",
    "pos": "--hidden-sizes 4 --character-filters 4",
    "sst": "--hidden-size 4",
    "snli": "--hidden-size 4",
    "srl": "--hidden-size 4 --num-layers 2 --indicator-dim 2",
    "squad": "--hidden-size 4 --character-filters 4",
    "coref": "--hidden-size 4 --character-filters 4 --span-hidden-sizes 4 --feature-size 2 --max-width 2",
}
NOTHING = {
    "ner": ("Anna O\n\n", "the training data have 0 labels of 0 kinds (), so there is nothing to learn"),
    "pos": ("Anna X\n\n", "the training data have 4 labels of 1 kinds (X), so there is nothing to learn"),
    "sst": ("good\ta film\n", "the training data have 4 labels of 1 kinds (good), so there is nothing to learn"),
    "snli": (pair("neutral", 1), "the training data have 1 labels of 1 kinds (neutral), so there is nothing to learn"),
    "srl": ("left left (V*)\n\n", "the training data have 0 labels of 0 kinds (), so there is nothing to learn"),
    "squad": ('{"data": []}', "there is no question in it"),
    "coref": (
        document(1).replace("(1)", "-"),
        "the training data have 0 labels of 0 kinds (), so there is nothing to learn",
    ),
}

# Of each task whose labels must be known, a label of its file, how to write another one, and where that is then.
LABEL = {"ner": ("B-LOC", "B-OTHER", 38), "pos": ("PRON", "OTHER", 40), "sst": ("bad", "OTHER", 12),
         "snli": ("neutral", "OTHER", 12)}  # fmt: skip

pytestmark = pytest.mark.parametrize("name", BUILT_IN)


@pytest.fixture
def file(name, tmp_path) -> str:
    (tmp_path / "data").write_text(DATA[name], encoding="utf-8")
    return str(tmp_path / "data")


def train(name, file, tmp_path, *flags):
    data = ["--train", file, "--dev", file, "--test", file, "-o", str(tmp_path / "run")]
    return main(["task", "train", name, *data, *SMALL[name].split(), "--epochs", "1", *flags])


def test_what_is_trained_is_evaluated_scored_and_used_alike(name, file, tmp_path, bilm_folder, capsys):
    task, answers = find(name), tmp_path / "answers"
    flags = ["--model", str(bilm_folder), "--placement", "both" if "output" in task.places else "input"]
    assert train(name, file, tmp_path, *flags, "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    seed, found = summary["per_seed"][0], summary["test"]["mean"]
    assert summary["metric"] == task.metric
    assert {mix["placement"] for mix in seed["mix_weights"]} == set(task.places) - {"between"}
    counts = json.loads((tmp_path / "run/seed-1/test.examples.json").read_text())
    assert score_of(counts["kind"], counts["examples"]) == pytest.approx(found)

    assert main(["task", "evaluate", str(tmp_path / "run"), file, "-o", str(answers), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[task.metric] == found
    assert answers.read_text() == (tmp_path / "run/seed-1/test.predictions").read_text()
    assert main(["task", "score", name, file, str(answers), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[task.metric] == pytest.approx(found)

    text, count = file, len(task.read(file, task.settings()))
    if name == "sst":  # which predicts text alone
        text, count = str(tmp_path / "text"), 3
        (tmp_path / "text").write_text("a good film .\n\na bad film .\n")
    assert main(["task", "predict", str(tmp_path / "run"), text, "--json"]) == 0
    assert len([json.loads(line) for line in capsys.readouterr().out.splitlines()]) == count


def test_elmo_is_taken_at_the_task_s_places_alone(name, file, tmp_path, capsys):
    assert train(name, file, tmp_path, "--placement", "nowhere") == 2
    assert f"at places that the task {name!r} knows: {', '.join(find(name).places)}" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_file_without_an_example_is_told(name, tmp_path, capsys):
    (tmp_path / "empty").write_text("\n\n")
    assert train(name, str(tmp_path / "empty"), tmp_path) == 2
    said = capsys.readouterr().err
    assert "empty" in said and "there is no " in said and "Traceback" not in said
    assert not (tmp_path / "run").exists()


def test_data_from_which_nothing_can_be_learned_are_told(name, tmp_path, capsys):
    text, message = NOTHING[name]
    (tmp_path / "data").write_text(text * 4 if name in ("ner", "pos", "srl", "sst") else text, encoding="utf-8")
    static = tmp_path / "vectors.txt"
    static.write_text("film 1 2\nleft 2 1\n")
    flags = ["--encoder", "none", "--static", str(static)]
    assert train(name, str(tmp_path / "data"), tmp_path, *flags) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_its_examples_are_lists_of_tokens_and_other_processes_find_it(name, file):
    task = find(name)
    settings = task.settings()
    examples = task.read(file, settings)
    assert all(isinstance(token, str) for words in task.sentences_of(examples) for token in words)
    assert all(task.size(example) > 0 for example in examples)
    task.check(examples, task.vocabulary(examples, settings), settings)
    assert pickle.loads(pickle.dumps(task)) is task


def test_a_label_that_training_does_not_have_is_told_with_its_line_or_counts_as_missed(name, file, tmp_path, capsys):
    if name not in LABEL:
        assert not [group for group in vars(find(name).settings()).values() if hasattr(group, "unseen_labels")]
        return
    old, new, line = LABEL[name]
    head, _, tail = DATA[name].rpartition(f"{old}\t" if name == "sst" else old)
    (tmp_path / "dev").write_text(head + new + ("\t" if name == "sst" else "") + tail, encoding="utf-8")
    files = ["--train", file, "--dev", str(tmp_path / "dev"), "-o", str(tmp_path / "run"), "--encoder", "none"]
    static, task = tmp_path / "vectors.txt", find(name)
    words = {word for sentence in task.sentences_of(task.read(file, task.settings())) for word in sentence}
    static.write_text("".join(f"{word} {len(word)} 1\n" for word in sorted(words)))
    command = ["task", "train", name, *files, "--static", str(static), *SMALL[name].split(), "--epochs", "1", "--json"]
    assert main(command) == 2
    assert f"dev:{line}: the label 'OTHER' isn't in the training data, which has " in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
    assert main([*command, "--unseen-labels", "miss"]) == 0
    scores = json.loads(capsys.readouterr().out)["per_seed"][0]["dev"]
    assert scores["per_label"]["OTHER"]["correct"] == 0 < scores["per_label"]["OTHER"]["gold"]
