"""What each experiment trains, and which of it is the same."""

from dataclasses import replace

import pytest

from elmo.errors import ConfigError
from elmo.tasks.ner.data import NerSettings
from elmo.tasks.registry import find
from elmo.tasks.train.job import Files, Job
from elmo_paper.reproduce.experiment import data_facts
from elmo_paper.reproduce.paper import TABLES
from elmo_paper.reproduce.systems import (
    EXPERIMENTS,
    checked_bilms,
    checked_shares,
    require_experiment,
    require_open,
    systems_of,
)

SETTINGS = NerSettings()


def with_tokens(**values):
    return replace(SETTINGS, tokens=replace(SETTINGS.tokens, **values))


def test_table2_tries_out_the_layers_and_nothing_else():
    found = {system.name: system.settings for system in systems_of("table2", SETTINGS)}
    assert list(found) == ["baseline", "top", "lambda-1", "lambda-0.001"]
    assert found["baseline"].tokens.encoder == "none"
    tokens = {name: (it.tokens.encoder, it.tokens.layers, it.tokens.mix_penalty) for name, it in found.items()}
    assert tokens["top"] == ("elmo", "top", 0.1)
    assert tokens["lambda-1"] == ("elmo", "mix", 1.0)
    assert tokens["lambda-0.001"] == ("elmo", "mix", 0.001)
    assert all((it.tagger, it.fit) == (SETTINGS.tagger, SETTINGS.fit) for it in found.values())


@pytest.mark.parametrize("experiment", ["table3", "figure2"])
def test_table3_and_figure2_try_out_the_places(experiment):
    systems = systems_of(experiment, with_tokens(layers="top"))
    assert [system.settings.tokens.placement for system in systems] == ["input", "both", "output"]
    assert all(system.settings.tokens.layers == "mix" for system in systems)


def test_table1_and_gamma_compare_what_they_say():
    assert [system.name for system in systems_of("table1", SETTINGS)] == ["baseline", "elmo"]
    found = {system.name: system.settings.tokens for system in systems_of("gamma", SETTINGS)}
    assert list(found) == ["baseline", "top", "top-fixed", "mix", "mix-fixed"]
    assert [(one.layers, one.train_gamma) for one in found.values()][1:] == [
        ("top", True), ("top", False), ("mix", True), ("mix", False),
    ]  # fmt: skip
    assert len({system.folder for system in systems_of("gamma", SETTINGS)}) == 5


def test_taglm_has_the_top_layer_alone_between_the_layers():
    found = {system.name: system.settings.tokens for system in systems_of("taglm", SETTINGS)}
    assert list(found) == ["baseline", "top-input", "taglm", "elmo"]
    assert [(one.layers, one.placement) for one in found.values()][1:] == [
        ("top", "input"), ("top", "between"), ("mix", "input"),
    ]  # fmt: skip


def test_bilms_differ_in_their_model_alone_and_have_short_names():
    baseline, *others = systems_of("bilms", SETTINGS, bilms=["small-en", "a/model", "b/model"])
    assert baseline.settings.tokens.encoder == "none"
    assert [system.label for system in others] == ["+ ELMo of small-en", "+ ELMo of a/model", "+ ELMo of b/model"]
    assert [system.settings for system in others] == [
        with_tokens(model=name) for name in ("small-en", "a/model", "b/model")
    ]
    assert len({system.folder for system in others}) == 3
    for wrong, message in ((["small-en"], "--bilms has 1 of them"), (["a", "b", "a"], "--bilms names a twice")):
        with pytest.raises(ConfigError, match=message):
            checked_bilms(wrong)


def test_encoders_that_elmo_was_compared_with_take_its_place_with_the_same_settings():
    _, *others = systems_of("bilms", SETTINGS, bilms=["a/model", "cove=b/model", "mssg=a=b.txt", "a=b", "minilm=c"])
    assert [(system.name, system.label) for system in others] == [
        ("elmo-1", "+ ELMo of a/model"), ("cove-2", "+ CoVe of b/model"), ("mssg-3", "+ MSSG of a=b.txt"),
        ("elmo-4", "+ ELMo of a=b"), ("minilm-5", "+ MiniLM of c"),
    ]  # fmt: skip
    assert [system.settings for system in others] == [
        with_tokens(encoder=encoder, model=model)
        for encoder, model in (
            ("elmo", "a/model"),
            ("cove", "b/model"),
            ("mssg", "a=b.txt"),
            ("elmo", "a=b"),
            ("minilm", "c"),
        )
    ]


def test_models_of_another_encoder_keep_it():
    _, first, second = systems_of("bilms", with_tokens(encoder="mine"), bilms=["a", "cove=b"])
    assert [(one.settings.tokens.encoder, one.settings.tokens.model) for one in (first, second)] == [
        ("mine", "a"), ("cove", "b"),
    ]  # fmt: skip


def test_folders_of_one_name_are_told_apart_by_as_much_of_their_paths_as_needed(tmp_path, monkeypatch):
    for name in ("a/model", "b/model"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "model")
    _, *others = systems_of("bilms", SETTINGS, bilms=[".", str(tmp_path / "b" / "model")])
    assert [system.label for system in others] == ["+ ELMo of a/model", "+ ELMo of b/model"]
    with pytest.raises(ConfigError, match="names .*/a/model twice"):
        checked_bilms([".", f"{tmp_path}/a/model"])
    checked_bilms([".", f"cove={tmp_path}/a/model"])


def test_figure1_has_two_systems_for_each_share():
    found = [(system.name, system.share) for system in systems_of("figure1", SETTINGS, [0.1, 7, 100])]
    assert found == [(name, share) for share in (0.1, 7, 100) for name in ("baseline", "elmo")]


def test_an_epoch_of_a_small_share_has_several_passes():
    shares = [0.1, 1, 10, 20, 50, 100]
    found = {system.share: system.settings.fit.epoch_passes for system in systems_of("figure1", SETTINGS, shares)}
    assert list(found.values()) == [250, 25, 3, 2, 1, 1]


def test_equal_settings_have_one_folder_and_others_have_others():
    table2, table3, figure1 = (systems_of(name, SETTINGS, [50, 100]) for name in ("table2", "table3", "figure1"))
    free = systems_of("table3", with_tokens(mix_penalty=0.001))
    assert table2[3].folder == free[0].folder
    assert table2[0].folder == figure1[2].folder != figure1[0].folder
    assert table2[0].folder == systems_of("table2", with_tokens(mix_penalty=0.5, elmo_dropout=0.3))[0].folder
    assert table2[0].folder != systems_of("table2", with_tokens(static=("vectors.txt",)))[0].folder
    folders = [system.folder for system in (*table2, *table3, *figure1)]
    assert len(set(folders)) == 4 + 3 + 4 - 2  # two systems are the same: baseline; lambda 0.1 at the input


def test_settings_that_came_later_leave_the_names_of_kept_runs():
    """The names are those of the trainings in paper/finished."""
    usual = find("sst").settings()
    assert [system.folder for system in systems_of("table1", usual)] == [
        "baseline-36e864dd",
        "mix-input-lambda-0.001-92dd8028",
    ]
    last_state = replace(usual, classifier=replace(usual.classifier, network="last_state"))
    tuned, faster = (replace(usual.tokens, train_bilm=True, bilm_rate=rate) for rate in (0.1, 0.5))
    others = [last_state, replace(usual, tokens=tuned), replace(usual, tokens=faster)]
    assert len({systems_of("table1", settings)[1].folder for settings in (usual, *others)}) == 4


def test_the_papers_tables_have_the_same_systems():
    for experiment, table in TABLES.items():
        assert [system.name for system in systems_of(experiment, SETTINGS)] == list(table)


def test_shares_that_leave_nothing_are_left_out_unless_asked_for():
    assert checked_shares([], 10_000) == [0.1, 1, 5, 10, 20, 50, 100]
    assert checked_shares([], 60) == [1, 5, 10, 20, 50, 100]
    assert checked_shares([], 1) == [100]
    assert checked_shares([], 20) == [5, 10, 20, 50, 100]
    assert checked_shares([50, 10, 50], 60) == [10, 50]
    assert checked_shares([100 / 3], 60) == [33.333333333]  # as it is noted for --resume
    with pytest.raises(ConfigError, match=r"--shares has 0.1, but that share of 60 groups .* is none"):
        checked_shares([0.1], 60)


@pytest.mark.parametrize("share", [0, -1, 100.5, float("nan"), float("inf")])
def test_what_is_no_percentage_is_told(share):
    with pytest.raises(ConfigError, match=r"above 0 and at most 100"):
        checked_shares([50, share], 1000)


def test_what_the_experiment_tries_out_is_not_to_be_set():
    with pytest.raises(ConfigError, match="Leave --encoder out"):
        require_open("table2", with_tokens(encoder="none"))
    require_open("table3", with_tokens(encoder="cove"))
    with pytest.raises(ConfigError, match="'cove', but figure2 is about the layers of a biLM"):
        require_open("figure2", with_tokens(encoder="cove"))
    with pytest.raises(ConfigError, match="'mine', but figure2 is about the layers of a biLM"):
        require_open("figure2", with_tokens(encoder="mine"))  # its layers may be fewer
    share = replace(SETTINGS, fit=replace(SETTINGS.fit, train_share=0.5))
    require_open("table2", share)
    with pytest.raises(ConfigError, match="choose them with --shares"):
        require_open("figure1", share)


def test_an_unknown_experiment_is_told_with_those_there_are():
    with pytest.raises(ConfigError, match="table1, table2, table3, figure1, figure2, gamma, bilms, taglm"):
        require_experiment("table4")
    for name in EXPERIMENTS:
        require_experiment(name)


def test_shares_are_of_groups_which_stay_together(tmp_path):
    """A share of fewer examples than a document has would be trained on the whole document."""
    path = tmp_path / "data.conll"
    document = "-DOCSTART- O\n\n" + "Anna B-PER\nspoke O\n\n" * 30
    path.write_text(document * 4, encoding="utf-8")
    facts = data_facts(Job(find("ner"), SETTINGS, Files(path, path), tmp_path / "run"))
    assert facts.num_groups == 4
    assert checked_shares([], facts.num_groups) == [20, 50, 100]
