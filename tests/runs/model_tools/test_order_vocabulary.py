"""A vocabulary gets another text's order of frequency."""

from elmo.corpus.prepare import prepare
from elmo.corpus.settings import CorpusSettings
from elmo.text.vocabulary import BEGINNING_MARK, SPECIAL_WORDS


def test_entries_stand_by_what_they_stand_for_in_the_text(script, tmp_path):
    beginning = "학교" + BEGINNING_MARK
    (tmp_path / "old.txt").write_text("\n".join([*SPECIAL_WORDS, "a", "b", beginning]) + "\n", encoding="utf-8")
    (tmp_path / "text.txt").write_text("학교에 b 학교는 b 학교로 a c c c c c\n", encoding="utf-8")
    settings = CorpusSettings(vocabulary=str(tmp_path / "old.txt"))
    prepare([tmp_path / "text.txt"], tmp_path / "data", settings)
    assert script.main([str(tmp_path / "data"), str(tmp_path / "new.txt")]) == 0
    assert (tmp_path / "new.txt").read_text(encoding="utf-8").split("\n") == [*SPECIAL_WORDS, beginning, "b", "a", ""]


def test_a_folder_without_data_is_named(script, tmp_path, capsys):
    assert script.main([str(tmp_path), str(tmp_path / "new.txt")]) == 2
    assert "order_vocabulary: " in capsys.readouterr().err
    assert not (tmp_path / "new.txt").exists()
