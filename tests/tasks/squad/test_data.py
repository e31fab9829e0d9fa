"""SQuAD files: every answer is where it claims to be, or the complaint names the file and the question."""

import copy
import json
import lzma

import pytest

from elmo.errors import TextError, TextWarning
from elmo.tasks.squad.data import read_predictions, read_questions, read_unlabelled, write_predictions
from elmo.tasks.squad.tokens import ReaderSettings
from elmo.tasks.task import TextReading

CONTEXT = "Anna \U0001f600 lives in Rome. She sells red-wine in Oslo."
QUESTION = {
    "id": "q1",
    "question": "Where does Anna live?",
    "answers": [{"text": "Rome", "answer_start": 16}, {"text": " in Rome", "answer_start": 12}],
}

INVISIBLE = {**QUESTION, "answers": [{"text": "\u200b", "answer_start": 5}]}


def squad(*questions, context=CONTEXT) -> dict:
    return {"version": "1.1", "data": [{"title": "Anna", "paragraphs": [{"context": context, "qas": list(questions)}]}]}


@pytest.fixture
def read(tmp_path):
    def read(value, settings=None):
        path = tmp_path / "squad.json"
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return read_questions(path, settings or ReaderSettings())

    return read


def test_offsets_count_code_points_and_answers_find_their_tokens(read):
    question, other = read(squad(QUESTION, {**QUESTION, "id": "q2"}))
    assert question.passage is other.passage
    assert question.id == "q1"
    assert question.article == "Anna"
    assert [question.passage.cut(answer.span) for answer in question.answers] == ["Rome", "in Rome"]


def test_packed_files_and_byte_order_marks_are_read(tmp_path):
    path = tmp_path / "squad.json.xz"
    path.write_bytes(lzma.compress(("\ufeff" + json.dumps(squad(QUESTION), indent=1)).encode()))
    assert len(read_questions(path, ReaderSettings())) == 1


def changed(**values):
    question = copy.deepcopy(QUESTION)
    question.update(values)
    return squad(question)


def answered(text, start):
    return changed(answers=[{"text": text, "answer_start": start}])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (answered("Rome", 17), r"question 'q1' .*'Rome' at 17, where the passage has 'ome\.'.*has it at 16"),
        (answered("Rome", 400), r"question 'q1' .*outside its passage of 49 code points"),
        (answered("Rome", -33), r"question 'q1' .*outside its passage"),
        (answered("Paris", 16), r"question 'q1' .*doesn't have it anywhere"),
        (answered("", 16), r"question 'q1' .*holds no token"),
        (answered("Rome", "16"), r"question 'q1' .*answer_start must be a whole number .got \"16\""),
        (answered("Rome", True), r"question 'q1' .*answer_start must be a whole number .got true"),
        (changed(answers=[]), r"question 'q1' .*has no answer"),
        (changed(answers={"text": ["Rome", "x"], "answer_start": [16]}), r"answers has 2 texts and 1 of answer_start"),
        (changed(question=" "), r"question 'q1' .*is empty or has no token"),
        (changed(question=None), r"question 'q1' .*question must be a string .got null"),
        (changed(id=7), r"data\[0\]\.paragraphs\[0\]\.qas\[0\]\.id must be a string .got 7"),
        (squad({"id": "q1"}), r"question 'q1' .*has no 'answers'; its members are: 'id'\. Check"),
        (changed(id="\ud800"), r"qas\[0\]\.id has one half of a surrogate pair"),
        (changed(question="Who \udc00?"), r"question 'q1' .*question has one half of a surrogate pair"),
        (squad(QUESTION, context=CONTEXT + "\ud800"), r"paragraphs\[0\]\.context has one half of a surrogate pair"),
        (squad(QUESTION, context=""), r"data\[0\]\.paragraphs\[0\]\.context is empty"),
        (squad(INVISIBLE, context="Anna \u200b lives in Rome."), "no token of its passage"),
        ([], "json:1: has 1 tab-separated columns, but 2 are expected: question TAB context"),
        ({"data": {}}, "data must be a list .got {}"),
        ('{\n"data": [}', r"squad\.json:2: is not valid JSON"),
        ("[" * 100_000, "json:1: has 1 tab-separated columns"),
    ],
)
def test_what_does_not_fit_is_named(read, value, message):
    with pytest.raises(TextError, match=message) as caught:
        read(value)
    assert "squad.json" in str(caught.value)


@pytest.mark.parametrize("answers", [{}, {"q1": "Rome", "q\u2028": 'say "x"\n', "q\ud800": "\ud800"}])
def test_predictions_round_trip(tmp_path, answers):
    text = "".join(line + "\n" for line in write_predictions(answers.items()))
    assert json.loads(text) == answers
    path = tmp_path / "predictions.json"
    path.write_text(text, encoding="utf-8")
    assert read_predictions(path) == answers


@pytest.mark.parametrize(
    ("text", "message"),
    [('{"q1": ["Rome"]}', "'q1' must be a string"), ('[{"id": "q1"}]', "must be an object")],
)
def test_predictions_of_another_layout_are_refused(tmp_path, text, message):
    (tmp_path / "predictions.json").write_text(text, encoding="utf-8")
    with pytest.raises(TextError, match=message):
        read_predictions(tmp_path / "predictions.json")


def test_all_answers_of_the_open_data_are_found(shared):
    for name in ("train.json.xz", "dev.json"):
        questions = read_questions(shared / "data" / "qa" / "new-wiki" / name, ReaderSettings())
        assert all(
            answer.text.strip() in question.passage.cut(answer.span)
            for question in questions
            for answer in question.answers
        )


def test_questions_without_an_answer_are_left_out_on_request_and_counted_once(read):
    impossible = {
        **QUESTION,
        "id": "q2",
        "is_impossible": True,
        "answers": [],
        "plausible_answers": QUESTION["answers"],
    }
    unanswered = {**QUESTION, "id": "q3", "answers": []}
    file = squad(QUESTION, impossible, unanswered)
    with pytest.raises(TextError, match=r"question 'q2' .*--unanswerable skip"):
        read(file)
    with pytest.warns(TextWarning, match=r"left out 2 of its 3 questions, which have no answer") as told:
        assert [question.id for question in read(file, ReaderSettings(unanswerable="skip"))] == ["q1"]
    assert len(told) == 1
    with pytest.warns(TextWarning, match="left out 1 of its 1"), pytest.raises(TextError, match="there is no question"):
        read(squad(impossible), ReaderSettings(unanswerable="skip"))


def test_json_lines_have_a_question_each_as_hugging_faces_copies(read, tmp_path):
    found, own = read(squad(QUESTION)), QUESTION["answers"]
    for answers in (own, {name: [answer[name] for answer in own] for name in own[0]}):
        row = {**QUESTION, "context": found[0].passage.text, "title": found[0].article, "answers": answers}
        (tmp_path / "rows.jsonl").write_text((json.dumps(row) + "\n\n") + json.dumps({**row, "id": "q2"}) + "\n")
        one, other = read_questions(tmp_path / "rows.jsonl", ReaderSettings())
        assert (one.id, one.question, one.passage, one.answers, one.article) == (
            found[0].id, found[0].question, found[0].passage, found[0].answers, found[0].article
        )  # fmt: skip
        assert (other.id, other.passage is one.passage) == ("q2", True)


def test_unlabelled_questions_that_can_not_be_read_are_left_out_if_asked(tmp_path):
    told = []
    skip = TextReading(errors="skip", on_bad_line=lambda _, message: told.append(message))
    (tmp_path / "file").write_text(json.dumps(squad({"id": "q2", "question": " "}, QUESTION)))
    assert [question.id for question in read_unlabelled(tmp_path / "file", ReaderSettings(), skip)] == ["q1"]
    assert len(told) == 1 and "'q2'" in told[0]
    with pytest.raises(TextError, match="'q2'"):
        list(read_unlabelled(tmp_path / "file", ReaderSettings(), TextReading()))
