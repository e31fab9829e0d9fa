"""`elmo substitutes` as it is typed."""

import json
import unicodedata

from elmo.cli.verbs.substitutes import main
from elmo.lm.language_model import EngineLanguageModel
from elmo.lm.substitutes import substitutes


def test_json_equals_the_library(model_folder, language_model, capsys):
    assert main([str(model_folder), "the [bank] was", "--top", "3", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    expected = substitutes(EngineLanguageModel(language_model), ["the", "bank", "was"], 1, 3)
    assert (facts["sentence"], facts["place"]) == (["the", "bank", "was"], 1)
    for direction in ("forward", "backward", "both"):
        assert [tuple(pair) for pair in facts[direction]["best"]] == expected[direction].best
        assert facts[direction]["rank"] == expected[direction].rank


def test_a_sentence_is_read_alike_whether_its_letters_are_composed_or_not(model_folder, capsys):
    for form in ("NFC", "NFD"):
        assert main([str(model_folder), unicodedata.normalize(form, "Zoë's [bänk] was"), "--json"]) == 0
        facts = json.loads(capsys.readouterr().out)
        assert (facts["sentence"], facts["place"]) == (["Zoë", "'s", "bänk", "was"], 2)


def test_the_table_has_a_column_for_each_direction_and_their_product(model_folder, capsys):
    assert main([str(model_folder), "the [bank] was", "--top", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["forward", "backward", "both"]
    assert len(lines) == 1 + 2 + 2
    assert lines[-1].count("bank (rank ") == 3
    assert main([str(model_folder), "the [zebra] was", "--top", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].count("zebra (not in the vocabulary)") == 3
