"""Files that don't belong together give no figures but an error, before anything is embedded."""

import dataclasses
import re
import shutil
from pathlib import Path

import pytest

from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError, TextError
from elmo_paper.analysis.senses.experiment import sense_table
from elmo_paper.analysis.senses.files import key_file
from elmo_paper.analysis.senses.inventory import read_inventory


def copied(corpus: Path, name: str) -> Path:
    """The corpus and its keys under another name."""
    new = corpus.parent / f"{name}.data.xml"
    new.parent.mkdir(exist_ok=True)
    shutil.copy(corpus, new)
    shutil.copy(key_file(corpus), new.with_name(new.name.replace(".data.xml", ".gold.key.txt")))
    return new


def test_missing_keys_are_named(files):
    keys = key_file(files.tests[0])
    keys.write_text("".join(keys.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(TextError, match=r"has no keys for 't1.s2.t0' of .*t.data.xml .*without keys: 1 of 5"):
        sense_table(files, {})
    keys.unlink()
    with pytest.raises(TextError, match=r"t.gold.key.txt: there is no such file"):
        sense_table(files, {})


def test_a_training_corpus_of_which_some_instances_have_no_key_is_refused_with_their_number(files):
    keys = key_file(files.train)
    keys.write_text("".join(keys.read_text().splitlines(keepends=True)[2:]))
    with pytest.raises(TextError, match=r"'d0.s0.t0' of .*train.data.xml \(instances without keys: 2 of 7\)"):
        sense_table(files, {})


def test_blank_lines_of_an_inventory_say_nothing(files):
    before = read_inventory(files.inventory)
    files.inventory.write_text(files.inventory.read_text() + "\n\n")
    assert read_inventory(files.inventory) == before


@pytest.mark.parametrize("lines", [1, 3])
def test_an_inventory_without_a_word_of_the_test_sets_is_refused(files, lines):
    rows = files.inventory.read_text().replace("bank\tNOUN", "cat\tNOUN").splitlines(keepends=True)
    files.inventory.write_text("".join(rows[:lines]))
    message = rf"senses.tsv: lists {lines // 2} words, but none of the 4 of the test sets, such as 'bank' \(NOUN\)"
    with pytest.raises(TextError, match=message):
        sense_table(files, {})


@pytest.mark.parametrize("which", ["train", "t"])
def test_a_corpus_without_instances_is_refused_by_name(files, which):
    path = files.train.with_name(f"{which}.data.xml")
    path.write_text(re.sub(r"(</?)instance", r"\1wf", path.read_text()))
    with pytest.raises(TextError, match=rf"{which}.data.xml: has no <instance>"):
        sense_table(files, {})


def test_test_sets_that_a_table_could_not_tell_apart_are_refused_before_anything_is_read(files):
    files.inventory.unlink()
    (test,) = files.tests
    with pytest.raises(ConfigError, match=r"t.data.xml and .*t.data.xml: both test sets are called 't'"):
        sense_table(dataclasses.replace(files, tests=(test, test)), {})
    with pytest.raises(ConfigError, match=r"all.data.xml: a test set can't be called 'all'"):
        sense_table(dataclasses.replace(files, tests=(copied(test, "all"),)), {})
    with pytest.raises(ConfigError, match=r"there is no test set"):
        sense_table(dataclasses.replace(files, tests=()), {})


def test_a_development_set_called_like_a_test_set_is_another_set(files, tiny_bilm):
    (test,) = files.tests
    dev = copied(test, "other/t")
    dev.write_text(re.sub(r'(?s)<sentence id="t1.s2">.*?</sentence>', "", dev.read_text()))
    named_alike, named_apart = (
        sense_table(dataclasses.replace(files, dev=one), {"biLM": Embedder(tiny_bilm)})
        for one in (dev, copied(dev, "another"))
    )
    assert named_alike.systems == named_apart.systems
