"""Reading: which files there are, and settings that none of them heeds."""

import pytest

from elmo.errors import ConfigError
from elmo.text.reading.settings import require_used_field, text_files


@pytest.mark.parametrize(
    ("files", "format", "field"),
    [
        (["a.txt", "b.jsonl.gz"], "auto", "body"),
        (["-"], "csv", "body"),
        (["a.txt"], "conll", "2"),
        (["a.txt", "b.conllu"], "auto", "text"),
    ],
)
def test_a_field_is_for_texts_that_have_some_and_text_is_the_default(files, format, field):
    require_used_field(files, format, field)


@pytest.mark.parametrize(("files", "format"), [(["a.txt", "-"], "auto"), (["a.jsonl"], "text"), (["a.conllu"], "auto")])
def test_a_field_that_no_text_has_is_refused(files, format):
    with pytest.raises(ConfigError, match="field is 'body', but the text is read as .* has no fields"):
        require_used_field(files, format, "body")


def test_no_files_at_all_are_refused():
    with pytest.raises(ConfigError, match="there is no text: the list of files is empty. Name at least one"):
        text_files([])
