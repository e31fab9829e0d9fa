"""Reading: which files there are."""

import pytest

from elmo.errors import ConfigError
from elmo.text.reading.settings import text_files


def test_no_files_at_all_are_refused():
    with pytest.raises(ConfigError, match="there is no text: the list of files is empty. Name at least one"):
        text_files([])
