"""The beginning of a record: the command, without what only the machine knows where it ran."""

import pytest

from elmo.analysis.record import shown_command


@pytest.mark.parametrize("word", ["He / she [went] home .", "org/model", "a" * 300 + "/b", "text.txt"])
def test_what_lies_in_no_folder_is_recorded_as_it_is(word):
    assert shown_command([word]).strip("'") == word


def test_what_lies_in_a_folder_is_recorded_without_it(tmp_path):
    words = [f"{tmp_path}/text.txt", f"{tmp_path}/my-index/", f"--static={tmp_path}/static.txt", f"{tmp_path}/new.json"]
    assert shown_command(["elmo", *words]) == "elmo text.txt my-index --static=static.txt new.json"
