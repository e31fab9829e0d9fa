"""Settings: one flat list of names, whatever groups they stand in."""

from dataclasses import fields

import pytest

from elmo.errors import ConfigError
from elmo.tasks.settings import FitSettings, TokenSettings, to_table, with_table
from elmo.tasks.task import TASKS, default_settings, find


@pytest.mark.parametrize("task", TASKS)
def test_no_two_groups_have_a_field_in_common(task):
    groups = [getattr(default_settings(task), group.name) for group in fields(default_settings(task))]
    names = [field.name for group in groups for field in fields(group)]
    assert len(names) == len(set(names)) == len(to_table(default_settings(task)))


@pytest.mark.parametrize("task", TASKS)
def test_every_task_is_found_by_its_name(task):
    assert find(task).name == task


def test_a_table_goes_there_and_back():
    table = {"hidden_sizes": [7], "learning_rate": 1, "placement": "both", "patience": 3}
    settings = with_table(default_settings("ner"), table, "x.toml")
    assert settings.tagger.hidden_sizes == (7,)
    assert (settings.fit.learning_rate, settings.fit.patience) == (1.0, 3)
    assert settings.tokens.placement == "both"
    assert settings.tokens.mix_penalty == default_settings("ner").tokens.mix_penalty
    assert with_table(default_settings("ner"), to_table(settings), "again") == settings


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"hiden_sizes": [7]}, "x.toml: unknown setting 'hiden_sizes'"),
        ({"patience": "3"}, "x.toml: patience is '3'"),
        ({"epochs": 0}, "x.toml: epochs is 0, but must be a whole number from 1 on"),
        ({"epochs": 2.5}, "x.toml: epochs is 2.5"),
        ({"encoder": "bert"}, "x.toml: encoder is 'bert', but must be one of 'none', 'elmo'"),
        ({"layer_norm": "batch"}, "x.toml: layer_norm is 'batch', but must be one of 'none', 'words', 'token'"),
        ({"layer_norm": True}, "x.toml: layer_norm is True"),
        ({"decay": "cosine"}, "x.toml: decay is 'cosine'"),
        ({"tagger_scheme": "bio"}, "x.toml: tagger_scheme is 'bio', but must be one of 'bioul', 'iob2', 'iob1'"),
    ],
)
def test_wrong_settings_are_told_with_their_file(table, message):
    with pytest.raises(ConfigError) as caught:
        with_table(default_settings("ner"), table, "x.toml")
    assert message in str(caught.value)


def test_settings_out_of_bounds_are_errors():
    with pytest.raises(ConfigError, match="elmo_dropout is 1"):
        TokenSettings(elmo_dropout=1)
    with pytest.raises(ConfigError, match="train_share is 0"):
        FitSettings(train_share=0)


def test_an_unknown_task_is_told_with_the_known_ones():
    with pytest.raises(ConfigError, match="there is no task 'pos'. The tasks are: ner"):
        find("pos")
