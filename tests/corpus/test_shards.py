"""Corpus -> prepared data -> back."""

import hashlib
import json
import os
import re
import shutil
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo.corpus.prepare import prepare
from elmo.corpus.settings import CorpusSettings
from elmo.corpus.shards import TrainingData
from elmo.errors import ConfigError, OutputError, TextError
from elmo.text.characters import CharacterMap
from elmo.text.vocabulary import BEGINNING_MARK

TRAIN = "the cat sat on the mat .\nthe dog sat .\n\na cat 밥 .\n"
VALID = "the new cat sat\n \nnew\n"


@pytest.fixture
def train(tmp_path) -> Path:
    path = tmp_path / "train.txt"
    path.write_text(TRAIN, encoding="utf-8")
    return path


@pytest.fixture
def valid(tmp_path) -> Path:
    path = tmp_path / "valid.txt"
    path.write_text(VALID, encoding="utf-8")
    return path


def sentences(text: str) -> list[list[str]]:
    return [line.split() for line in text.split("\n") if line.split()]


def restored(data: TrainingData, split: str) -> list[list[str]]:
    types = data.types()
    return [
        [types[number] for number in shard.sentence(index)]
        for shard in data.shards(split)
        for index in range(shard.num_sentences)
    ]


@settings(max_examples=30)
@given(
    st.lists(st.lists(st.sampled_from(["a", "b", "c", "d", "<S>", "<UNK>"]), max_size=4), min_size=1), st.integers(1, 9)
)
def test_any_corpus_survives_in_shards_of_any_size(tmp_path_factory, lines, tokens_per_shard):
    if not any(lines):
        return
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "text").write_text("".join(" ".join(line) + "\n" for line in lines))
    report = prepare([folder / "text"], folder / "data", CorpusSettings(tokens_per_shard=tokens_per_shard))
    data = TrainingData.open(folder / "data")
    assert restored(data, "train") == [line for line in lines if line]
    assert all(shard.num_tokens >= tokens_per_shard for shard in data.shards("train")[:-1])
    assert report["splits"]["train"]["blank_lines"] == sum(not line for line in lines)
    shutil.rmtree(folder)


def test_types_stand_by_training_frequency_after_the_boundaries(tmp_path, train, valid):
    prepare([train], tmp_path / "data", valid=[valid])
    data = TrainingData.open(tmp_path / "data")
    assert data.types()[:6] == ["<S>", "</S>", ".", "the", "cat", "sat"]
    assert data.types()[-1] == "new"  # occurs in the held-out text alone
    counts = Counter(TRAIN.split())
    assert data.type_counts.tolist() == [counts[word] for word in data.types()]
    assert sorted(data.type_counts[2:], reverse=True) == data.type_counts[2:].tolist()


def test_each_type_has_its_characters_and_its_word(tmp_path, train, valid):
    prepare([train], tmp_path / "data", CorpusSettings(vocab_size=6), valid=[valid])
    data = TrainingData.open(tmp_path / "data")
    assert data.vocabulary.words == ("<S>", "</S>", "<UNK>", ".", "the", "cat")
    np.testing.assert_array_equal(data.type_characters, CharacterMap.for_bytes(50).ids(data.types()))
    assert data.type_characters.dtype == np.int16
    assert data.type_characters[0, :3].tolist() == [259, 257, 260]
    np.testing.assert_array_equal(data.type_words, data.vocabulary.ids(data.types()))
    assert data.type_words[:2].tolist() == [0, 1]
    assert data.type_words[data.types().index("mat")] == 2


def test_all_arrays_are_memory_mapped(tmp_path, train):
    prepare([train], tmp_path / "data")
    data = TrainingData.open(tmp_path / "data")
    shard = data.shards("train")[0]
    arrays = [data.type_characters, data.type_words, data.type_counts, shard.tokens, shard.offsets]
    assert all(isinstance(array, np.memmap) for array in arrays)
    assert [array.dtype for array in arrays] == [np.int16, np.int32, np.int64, np.uint32, np.int64]


def test_a_boundary_in_the_text_becomes_the_boundary_type_and_a_warning(tmp_path):
    (tmp_path / "text").write_text("<S> a </S>\n<UNK> <s>\n")
    report = prepare([tmp_path / "text"], tmp_path / "data")
    data = TrainingData.open(tmp_path / "data")
    numbers = data.shards("train")[0].tokens
    assert numbers[0] == 0
    assert numbers[2] == 1
    assert data.type_words[numbers[3]] == 2
    assert any("holds <S> as a word, 1 times" in warning for warning in report["warnings"])
    assert data.vocabulary.words == ("<S>", "</S>", "<UNK>", "<s>", "a")


def test_text_without_spaces_whose_tokens_are_cut_is_a_warning(tmp_path):
    (tmp_path / "text").write_text("ฉันไปโรงเรียนทุกวันกับเพื่อนของฉัน\n" + "a b c\n" * 16, encoding="utf-8")
    (warning,) = prepare([tmp_path / "text"], tmp_path / "data")["warnings"]
    assert warning.startswith("2.0% of the tokens of the train text are longer than 48 bytes")
    assert "Thai" in warning and "--tokenizer module:function" in warning
    (tmp_path / "text").write_text("a" * 60 + "\n" + "a b c\n" * 50)
    assert prepare([tmp_path / "text"], tmp_path / "data", force=True)["warnings"] == []


def test_the_report_counts_what_is_there(tmp_path, train, valid):
    report = prepare(
        [train], tmp_path / "data", CorpusSettings(vocab_size=6, max_characters_per_token=4), valid=[valid]
    )
    counted = report["splits"]["train"]
    assert (counted["sentences"], counted["tokens"], counted["types"], counted["blank_lines"]) == (3, 15, 9, 1)
    assert counted["oov_tokens"] == 7  # sat x2, on, mat, dog, a, 밥
    assert counted["oov_share"] == 7 / 15
    assert counted["truncated_tokens"] == 10  # over 2 bytes: the x3, cat x2, sat x2, mat, dog, 밥
    assert counted["mean_bytes_per_token"] == sum(len(word.encode()) for word in TRAIN.split()) / 15
    assert counted["files"] == [
        {"path": str(train), "sha256": hashlib.sha256(train.read_bytes()).hexdigest(), "tokens": 15}
    ]
    held_out = report["splits"]["valid"]
    assert (held_out["sentences"], held_out["tokens"], held_out["oov_tokens"], held_out["blank_lines"]) == (2, 5, 3, 1)
    assert (report["vocabulary_size"], report["types"]) == (6, 12)
    assert all("longer than 2 bytes" in warning for warning in report["warnings"])
    assert json.loads((tmp_path / "data" / "data.json").read_text()) == report
    assert TrainingData.open(tmp_path / "data").report == report


def test_a_given_vocabulary_is_taken_as_it_is(tmp_path, train):
    (tmp_path / "words").write_text("<S>\n</S>\n<UNK>\nthe\ncat\nnowhere\n")
    report = prepare([train], tmp_path / "data", CorpusSettings(vocabulary=tmp_path / "words"))
    assert TrainingData.open(tmp_path / "data").vocabulary.words[3:] == ("the", "cat", "nowhere")
    assert [warning[:50] for warning in report["warnings"]] == ["67% of the training text's tokens, such as '.', ar"]
    (tmp_path / "words").write_text("<S>\n</S>\n<UNK>\nthe 3\ncat 2\ncat 2\n\n")  # counts, and a word twice
    report = prepare([train], tmp_path / "data", CorpusSettings(vocabulary=tmp_path / "words"), force=True)
    idle, unknown = report["warnings"]
    assert idle.startswith("3 words of the vocabulary stand twice, are empty or have a space in them, such as 'the 3'")
    assert unknown.startswith("100% of the training text's tokens")


def test_beginnings_are_targets_of_words_that_are_not_listed(tmp_path):
    text, other = tmp_path / "text.txt", tmp_path / "other.txt"
    text.write_text("집 집 집 학교 학교 학교 학교에 학교는\n집 a\n", encoding="utf-8")
    other.write_text("학교도 a\n", encoding="utf-8")
    report = prepare([text], tmp_path / "data", CorpusSettings(vocab_size=6, num_beginnings=1), valid=[other])
    assert report["warnings"] == []
    data = TrainingData.open(tmp_path / "data")
    beginning = data.vocabulary.words.index("학교" + BEGINNING_MARK)
    targets = dict(zip(data.types(), data.type_words.tolist(), strict=True))
    assert [targets[word] for word in ("학교에", "학교는", "학교도")] == [beginning] * 3
    assert targets["a"] == data.vocabulary.unknown_id
    train = report["splits"]["train"]
    assert (train["beginning_share"], train["oov_share"]) == (2 / 10, 1 / 10)
    again = prepare([text], tmp_path / "again", CorpusSettings(vocabulary=tmp_path / "data" / "vocab.txt"))
    assert again["warnings"] == []
    assert again["splits"]["train"]["beginning_share"] == 2 / 10


def test_unknown_words_that_the_text_itself_marks_are_no_beginnings(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("a <UNK> a b\n", encoding="utf-8")
    counted = prepare([text], tmp_path / "data", CorpusSettings(vocab_size=4))["splits"]["train"]
    assert (counted["oov_share"], counted["beginning_share"]) == (2 / 4, 0)


def test_small_texts_and_repeated_files_are_warnings(tmp_path, train):
    (tmp_path / "empty").write_text("\n")
    report = prepare([train, tmp_path / "empty"], tmp_path / "data", CorpusSettings(vocab_size=100), valid=[train])
    warnings = "\n".join(report["warnings"])
    assert "empty (train) has no token" in warnings
    assert "train.txt (valid) is the same as" in warnings
    assert "the vocabulary has 12 words, not 100" in warnings


def test_no_text_and_texts_without_a_token_are_errors(tmp_path, train):
    (tmp_path / "empty").write_text("")
    (tmp_path / "blank").write_text("\n \n")
    with pytest.raises(ConfigError, match="texts must be one or more files"):
        prepare([], tmp_path / "data")
    with pytest.raises(TextError, match="the train text has no token"):
        prepare([tmp_path / "empty"], tmp_path / "data")
    with pytest.raises(TextError, match=r"blank: the valid text has no token \(2 blank lines"):
        prepare([train], tmp_path / "data", valid=[tmp_path / "blank"])
    with pytest.raises(TextError, match="nowhere: there is no such file"):
        prepare([train, tmp_path / "nowhere"], tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_an_existing_folder_is_replaced_only_by_force_and_only_if_it_is_data(tmp_path, train, valid):
    prepare([train], tmp_path / "data", valid=[valid])
    with pytest.raises(OutputError, match="data: exists already"):
        prepare([valid], tmp_path / "data")
    assert restored(TrainingData.open(tmp_path / "data"), "train") == sentences(TRAIN)
    prepare([valid], tmp_path / "data", force=True)
    assert TrainingData.open(tmp_path / "data").splits == ("train",)
    (tmp_path / "data" / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match="thesis.txt"):
        prepare([train], tmp_path / "data", force=True)
    assert (tmp_path / "data" / "thesis.txt").read_text() == "mine"


def test_a_failure_in_the_middle_leaves_the_old_data_and_nothing_else(tmp_path, train):
    prepare([train], tmp_path / "data")
    bad = tmp_path / "bad"
    bad.write_bytes(b"a\n" * 100 + b"\xff\n")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(TextError, match="bad:101: not valid UTF-8"):
        prepare([bad], tmp_path / "data", CorpusSettings(tokens_per_shard=10), force=True)
    assert sorted(tmp_path.iterdir()) == before
    assert restored(TrainingData.open(tmp_path / "data"), "train") == sentences(TRAIN)


@pytest.mark.parametrize("is_stream", [False, True])
def test_progress_counts_the_bytes_of_the_text_and_then_its_parts(tmp_path, train, recorded_progress, is_stream):
    source, size = tmp_path / "source", train.stat().st_size
    if is_stream:
        os.mkfifo(source)
    writer = threading.Thread(target=source.write_bytes, args=(train.read_bytes(),))
    writer.start()
    if not is_stream:
        writer.join()
    prepare([source], tmp_path / "data", progress=recorded_progress)
    writer.join()
    recorded_progress.require_stages(reading="bytes", counting_words="parts", writing_shards="parts")
    assert recorded_progress.stages["reading"][0] == (0, None if is_stream else size)
    assert recorded_progress.stages["reading"][-1][0] == size


def test_a_folder_that_is_no_prepared_data_is_refused(tmp_path):
    with pytest.raises(TextError, match="is not prepared data: it has no data.json. Make it first: elmo prepare"):
        TrainingData.open(tmp_path)
    (tmp_path / "data.json").write_text("[]")
    with pytest.raises(TextError, match="isn't the report of 'elmo prepare'"):
        TrainingData.open(tmp_path)


def test_another_format_version_is_refused(tmp_path, train):
    prepare([train], tmp_path / "data")
    path = tmp_path / "data" / "data.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format_version": 99}))
    with pytest.raises(TextError, match="format version is 99, but this elmo reads 1, so"):
        TrainingData.open(tmp_path / "data")


@pytest.mark.parametrize("name", ["type_words.npy", "train-00001.offsets.npy"])
def test_a_cut_off_or_missing_array_is_an_error_that_names_it(tmp_path, train, name):
    prepare([train], tmp_path / "data", CorpusSettings(tokens_per_shard=5))
    path = tmp_path / "data" / name
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(TextError, match=f"{name} was changed .* run 'elmo prepare' again"):
        TrainingData.open(tmp_path / "data")
    path.unlink()
    with pytest.raises(TextError, match=f"'{name}' can't be read"):
        TrainingData.open(tmp_path / "data")


def test_every_changed_byte_is_noticed_and_its_file_named(tmp_path, train, valid):
    """Bits that still make sense: tokens, characters, counts and words in range, words in another order."""
    folder = tmp_path / "data"
    prepare([train], folder, valid=[valid])
    assert sorted([*json.loads((folder / "sha256.json").read_text()), "sha256.json"]) == sorted(
        path.name for path in folder.iterdir()
    )
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        for place in (len(content) // 2, len(content) - 2):
            changed = bytearray(content)
            changed[place] ^= 1
            path.write_bytes(changed)
            with pytest.raises(TextError, match=f"{re.escape(str(folder))}.*damaged or mixed from two"):
                TrainingData.open(folder)
        path.write_bytes(content)
    words = (folder / "vocab.txt").read_text().splitlines()
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in [*words[:3], *reversed(words[3:])]))
    with pytest.raises(TextError, match=r"data: vocab.txt was changed \(its checksum is another\)"):
        TrainingData.open(folder)


def test_data_without_checksums_is_read_with_a_warning(tmp_path, train):
    prepare([train], tmp_path / "data")
    (tmp_path / "data" / "sha256.json").unlink()
    with pytest.warns(UserWarning, match="data: has no checksums .* Copy it, too, or run 'elmo prepare' again"):
        TrainingData.open(tmp_path / "data")
