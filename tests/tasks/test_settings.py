"""Settings: one flat list of names, whatever groups they stand in."""

from dataclasses import fields

import pytest

from elmo.errors import ConfigError
from elmo.tasks.ner.data import NerSettings
from elmo.tasks.registry import BUILT_IN, find
from elmo.tasks.settings import to_table, with_table


@pytest.mark.parametrize("task", BUILT_IN)
def test_no_two_groups_have_a_field_in_common(task):
    settings = find(task).settings()
    groups = [getattr(settings, group.name) for group in fields(settings)]
    names = [field.name for group in groups for field in fields(group)]
    assert len(names) == len(set(names)) == len(to_table(settings))


def test_a_table_goes_there_and_back():
    table = {"hidden_sizes": [7], "learning_rate": 1, "placement": "both", "patience": 3}
    settings = with_table(NerSettings(), table, "x.toml")
    assert settings.tagger.hidden_sizes == (7,)
    assert (settings.fit.learning_rate, settings.fit.patience) == (1.0, 3)
    assert settings.tokens.placement == "both"
    assert settings.tokens.mix_penalty == NerSettings().tokens.mix_penalty
    assert with_table(NerSettings(), to_table(settings), "again") == settings
    # A model of elmo 0.1 that kept to the default of a setting that left.
    assert with_table(NerSettings(), {**to_table(settings), "tagger_scheme": "bioul"}, "old") == settings


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"hiden_sizes": [7]}, "x.toml: there is no setting 'hiden_sizes'"),
        ({"epochs": 0}, "x.toml: epochs must be a whole number from 1 to 1,000,000 (got 0)"),
        ({"epochs": 2.5}, "x.toml: epochs must be of the same type as 50 (got 2.5)"),
        (
            {"static": ["a.txt", "static=b.txt"]},
            "NAME=FILE with different names of letters and digits (got ('a.txt', 'static=b.txt'))",
        ),
        ({"encoder": "x:y", "train_bilm": True}, "x.toml: train_bilm must be off with the encoder 'x:y' (got True)"),
        ({"clip_norm": float("inf")}, "x.toml: clip_norm must be a finite number of at most 3e+38 (got inf)"),
        ({"character_filters": 10**10}, "must be a whole number from 0 to 65,536"),
        ({"elmo_dropout": 1}, "x.toml: elmo_dropout must be a probability: at least 0 and below 1 (got 1.0)"),
        ({"train_share": 0}, "x.toml: train_share must be above 0 and at most 1 (got 0.0)"),
        ({"layer_norm": "batch"}, "x.toml: layer_norm must be one of 'none', 'words', 'token' (got 'batch')"),
        ({"decay": "cosine"}, "x.toml: decay must be one of "),
        ({"scheme": "bio"}, "x.toml: scheme must be one of 'auto', 'iob1', 'iob2',"),
        ({"tagger_scheme": "iob2"}, "x.toml: there is no setting 'tagger_scheme'"),
    ],
)
def test_wrong_settings_are_told_with_their_file(table, message):
    with pytest.raises(ConfigError) as caught:
        with_table(NerSettings(), table, "x.toml")
    assert message in str(caught.value)
