"""Annotated files are refused with a step that leads to their words; sentences with a little of their form are read."""

import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from tests.text.formats.annotated_files import ANNOTATED, ORDINARY
from tests.text.formats.published_files import COLUMNS, OTHERS

from elmo.errors import TextError
from elmo.text.formats.known_forms import FORMS, LINES, known_form
from elmo.text.sentences import read_sentences

needs_sed = pytest.mark.skipif(shutil.which("sed") is None, reason="needs sed")


@needs_sed
@pytest.mark.parametrize(
    ("kind", "first"),
    [
        ("Brown of NLTK", "The bank was steep ."),
        ("Peking", "1-1 中国 人民 讲话 ， 人民 讲话 。"),
        ("factors of Moses", "Rain fell ."),
        ("PubTator", "Rain fell."),
        ("M2", "Rain fall ."),
        ("AMR", "Rain fell ."),
        ("LibriSpeech", "RAIN FELL"),
        ("labels of sentiment", "rain fell"),
        ("vertical text", "Anna left Rome"),
        ("MeCab", "비 가"),
        ("WikiANN", "Anna left Rome ."),
        ("Penn Treebank", "Anna left Rome ."),
        ("trees of sentiment", "Rain fell ."),
        ("trees without spaces", "Anna left Rome ."),
        ("trees without tags", "Anna Li , left ."),
    ],
)
def test_the_step_that_is_named_leads_to_the_words(tmp_path, kind, first):
    name, content, _ = (COLUMNS | OTHERS)[kind]
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert followed(path) == first


@needs_sed
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("kind", ANNOTATED)
def test_annotated_files_are_refused_with_a_step_that_leads_to_their_words(tmp_path, kind, end):
    name, content, what, first = ANNOTATED[kind]
    (tmp_path / name).write_text(content, encoding="utf-8", newline=end)
    with pytest.raises(TextError, match=rf"{name}: looks like {what}"):
        list(read_sentences(tmp_path / name))
    if first is not None:
        assert followed(tmp_path / name) == first


@pytest.mark.parametrize("text", ORDINARY)
def test_sentences_with_a_little_of_an_annotated_form_are_read(tmp_path, text):
    (tmp_path / "t.txt").write_text(text, encoding="utf-8")
    assert list(read_sentences(tmp_path / "t.txt")) == [line.split() for line in text.splitlines()]


def followed(path: Path, field: str = "text") -> str:
    """The first sentence of the file that is written as the message about `path` says."""
    with pytest.raises(TextError) as refused:
        list(read_sentences(path, field=field))
    command = re.search(r"((?:sed|cut) .*?) OLD > NEW", str(refused.value))
    new = path.with_name("new")
    new.write_bytes(subprocess.check_output(f"{command[1]} '{path}'", shell=True))
    columns = "conll" if field != "text" or "--format conll" in str(refused.value) else "auto"
    return " ".join(next(it for it in read_sentences(new, format=columns, field=field) if it))


def test_commands_work_in_any_sed():
    """GNU's reads "\\t" as a tab and writes "\\n" as a new line, others don't; all know "\\n" of y."""
    for _, _, step in FORMS + LINES:
        if "sed " in step:
            assert re.findall(r"\\[A-Za-z]", step.replace(r"y/ /\n/", "")) == []


@pytest.mark.parametrize("start, part", [("E1\t", ":"), ("", "KakaoTalk Chats"), ("(A (A", " a"), ("", "[+1][u]")])
def test_the_time_grows_no_faster_than_a_line(start, part):
    def seconds(length):
        line = start + part * (length // len(part))
        begun = time.process_time()
        assert known_form([line]) is None
        return time.process_time() - begun

    known_form([start])
    assert seconds(8_000) < 32 * max(0.001, seconds(1_000))  # of pairs of characters 64 times as many


@needs_sed
def test_languages_before_words_are_cut_off_in_any_column(tmp_path):
    for separator in ("\t", " "):
        path = tmp_path / "tags_first.conll"
        path.write_text("".join(f"O{separator}{w}\n" for w in ("en:Rain", "en:in", "en:en:x")), encoding="utf-8")
        assert followed(path, "2") == "Rain in en:x"
