"""Semantic role labeling from files to predictions, as on the command line."""

import json
import os
import random
from pathlib import Path

import pytest

from elmo.cli.main import main
from elmo.errors import TextError, TextWarning
from elmo.tasks.srl.data import LabelerSettings, RoleSentence, SrlSettings
from elmo.tasks.srl.task import TASK
from elmo.tasks.task import TextReading


def sentence(chance):
    """One or two predicates; who stands before, what stands after."""
    parts = []
    for _ in range(chance.randint(1, 2)):
        parts.append([(chance.choice(["she", "he"]), "ARG0"), (chance.choice(["saw", "took"]), "V"),
                      (chance.choice(["it", "him"]), "ARG1")])  # fmt: skip
    rows = [(word, label, number) for number, part in enumerate(parts) for word, label in part]
    lines = []
    for place, (word, label, number) in enumerate(rows):
        is_verb = label == "V"
        cells = [f"({label}*)" if number == column else "*" for column in range(len(parts))]
        first = f"d 0 {place} {word} {'VBD' if is_verb else 'PRP'} * {word if is_verb else '-'} - - - *"
        lines.append(" ".join([first, *cells, "-"]))
    return "\n".join(lines) + "\n\n"


@pytest.fixture
def files(tmp_path):
    chance = random.Random(0)
    for name, count in (("train", 60), ("dev", 15)):
        text = "#begin document (d); part 000\n" + "".join(sentence(chance) for _ in range(count)) + "#end document\n"
        (tmp_path / f"{name}.conll").write_text(text, encoding="utf-8")
    words = ["she", "he", "saw", "took", "it", "him"]
    vectors = "".join(f"{word} {' '.join(str(chance.gauss(0, 1)) for _ in range(6))}\n" for word in words)
    (tmp_path / "vectors.txt").write_text(vectors, encoding="utf-8")
    (tmp_path / "small.toml").write_text(
        "num_layers = 2\nhidden_size = 16\nindicator_dim = 4\nepochs = 12\nbatch_size = 8\nlearning_rate = 0.02\n"
    )
    return tmp_path


def test_from_columns_to_predictions_with_static_vectors(files, capsys):
    train, dev, run = str(files / "train.conll"), str(files / "dev.conll"), str(files / "run")
    flags = ["--encoder", "none", "--static", str(files / "vectors.txt"), "--json"]
    data = ["--train", train, "--dev", dev, "--test", dev]
    assert main(["task", "train", "srl", str(files / "small.toml"), *data, "-o", run, *flags]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["test"]["mean"] > 90
    props = str(files / "answers.props")
    assert main(["task", "evaluate", run, dev, "-o", props, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert (scores["f1"], set(scores["per_predicate"])) == (found["test"]["mean"], {"verbs"})
    assert Path(props).read_text().splitlines()[1].split()[0] in ("saw", "took")
    assert main(["task", "score", "srl", dev, props, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["f1"] == scores["f1"]
    (files / "text").write_text("she saw/V him he took it\n\nhe took it she saw him\n")
    assert main(["task", "predict", run, str(files / "text"), "--json"]) == 0
    first, empty, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    (frame,) = first["frames"]
    assert frame["predicate"]["tokens"] == ["saw"]
    assert [(one["label"], one["tokens"]) for one in frame["arguments"]] == [("ARG0", ["she"]), ("ARG1", ["him"])]
    assert empty["frames"] == []
    assert [frame["predicate"]["start"] for frame in second["frames"]] == [1, 4]  # found, for none is marked
    assert main(["task", "predict", run, dev]) == 0
    assert capsys.readouterr().out == (files / "run/seed-1/test.predictions").read_text()
    assert main(["task", "predict", run, str(files / "text")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["she saw him he took it", "  saw: [ARG0 she] [V saw] [ARG1 him] he took it", ""]
    assert lines[3:7] == ["", "", "he took it she saw him", "  took: [ARG0 he] [V took] [ARG1 it] she saw him"]
    assert main(["task", "predict", run, str(files / "text"), "-o", str(files / "columns.conll")]) == 0
    assert (files / "columns.conll").read_text().splitlines()[1].split() == ["saw", "saw", "(V*)"]


def test_columns_are_known_by_their_first_line_or_their_ending(files):
    reading = TextReading()
    (one, *_) = TASK.read_unlabelled(files / "dev.conll", SrlSettings(), reading)
    assert one.columns is not None
    (files / "two.conll").write_text("she -\nsaw saw\n")
    (two,) = TASK.read_unlabelled(files / "two.conll", SrlSettings(), reading)
    assert [proposition.predicate for proposition in two.propositions] == [(1, 2)]
    (files / "text").write_text("she saw/V\n")
    (three,) = TASK.read_unlabelled(files / "text", SrlSettings(), reading)
    assert (three.tokens, three.propositions) == (two.tokens, two.propositions)


def test_a_sentence_with_a_number_is_no_row_of_columns(files):
    text = "In the 2012 season the team won the cup again in Paris ."
    (files / "text").write_text(text + "\n")
    (found,) = TASK.read_unlabelled(files / "text", SrlSettings(), TextReading())
    assert (found.columns, found.tokens) == (None, text.split())


def test_a_pipe_is_read_once_and_whole_and_is_text(files):
    def read(text):
        reader, writer = os.pipe()
        with os.fdopen(writer, "w") as file:
            file.write(text)
        try:
            return list(TASK.read_unlabelled(f"/dev/fd/{reader}", SrlSettings(), TextReading()))
        finally:
            os.close(reader)

    assert [one.tokens for one in read("she saw/V\nhe left/V\n")] == [["she", "saw"], ["he", "left"]]


def test_tokens_with_spaces_are_no_columns():
    spaced = RoleSentence(["New York", "left"], predicates=[])
    with pytest.raises(TextError, match="the token 'New York' of the sentence 'New York left'"):
        list(TASK.write_file(Path("a.conll"), [(spaced, [])]))


def test_marks_in_raw_text_are_kept_whole(files):
    (files / "text").write_text("She left/V, and (he said/V) it.\nThe AC / V and/or V leave/V!\n", encoding="utf-8")
    first, second = TASK.read_unlabelled(files / "text", SrlSettings(), TextReading(tokenizer="auto"))
    assert first.tokens == ["She", "left", ",", "and", "(", "he", "said", ")", "it", "."]
    assert [one.predicate for one in first.propositions] == [(1, 2), (6, 7)]
    assert second.tokens == ["The", "AC", "/", "V", "and", "/", "or", "V", "leave", "!"]
    assert [one.predicate for one in second.propositions] == [(8, 9)]


def test_a_model_that_finds_no_predicates_warns_of_text_without_marks(files):
    (files / "text").write_text("she saw/V him\nshe saw him\nhe saw it\n")
    settings = SrlSettings(labeler=LabelerSettings(find_predicates=False))
    with pytest.warns(TextWarning, match="text: no predicate is marked in 'she saw him'.* gets no roles") as told:
        found = list(TASK.read_unlabelled(files / "text", settings, TextReading()))
    assert (len(told), [len(one.propositions) for one in found]) == (1, [1, 0, 0])


@pytest.mark.filterwarnings("always::elmo.errors.TextWarning")
def test_gold_sentences_that_cannot_be_read_are_left_out_as_they_are_in_predictions(files, capsys):
    gold, answers = files / "gold.props", files / "answers.props"
    gold.write_text("saw (V*)\n- (A1*)\n\ntook (V*)\n- (A1*\n\nsaw (V*)\n- (A1*)\n\n")
    answers.write_text("saw (V*)\n- (A1*)\n\nsaw (V*)\n- (A0*)\n\n")
    flags = ["task", "score", "srl", str(gold), str(answers), "--layout", "props", "--json"]
    assert main(flags) == 2
    assert "gold.props:" in capsys.readouterr().err
    assert main([*flags, "--errors", "skip"]) == 0
    output = capsys.readouterr()
    assert (json.loads(output.out)["sentences"], json.loads(output.out)["f1"]) == (2, 50)
    assert "gold.props: left out what can't be read, 1 in all" in output.err


def test_a_file_without_roles_is_remarked_on():
    (remark,) = TASK.remarks(TASK.score([], []))
    assert "no sentence has a predicate with roles" in remark
