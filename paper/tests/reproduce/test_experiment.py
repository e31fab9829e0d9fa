"""What is asked for is refused before anything is trained, if nothing could come of it."""

import pytest

from elmo.errors import ConfigError
from elmo.tasks.ner.data import NerSettings
from elmo.tasks.ner.task import NamedEntities
from elmo.tasks.train.job import Files, Job
from elmo_paper.reproduce.experiment import reproduce


class OneArticle(NamedEntities):
    """All sentences belong together."""

    def group(self, example, place):
        return 0


def test_training_data_that_can_not_be_split_need_others_to_be_scored_on(tmp_path):
    (tmp_path / "train.conll").write_text("x B-A\n\ny O\n\n" * 20)
    job = Job(OneArticle(), NerSettings(), Files(tmp_path / "train.conll"), tmp_path / "out")
    with pytest.raises(ConfigError, match="train.conll: all training examples belong together .* Give --dev or --test"):
        reproduce("table1", job)
    assert not (tmp_path / "out").exists()
