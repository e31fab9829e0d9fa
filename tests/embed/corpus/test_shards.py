"""Shards: embedded apart and joined, they are the file of a single run, byte by byte."""

import itertools
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.embed.corpus.embed_corpus import embed_corpus
from elmo.embed.corpus.join import join_shards
from elmo.embed.corpus.planned_text import Shard, windows_of, windows_of_shard
from elmo.embed.embedder import Embedder
from elmo.embed.storage.readers import read_vectors
from elmo.embed.windows import windows
from elmo.errors import ConfigError, OutputError, TextError

SUFFIXES = (".hdf5", ".npy", ".parquet")


def made(embedder, text, folder, suffix=".npy", count=3, **settings):
    paths = [folder / f"shard-{index}{suffix}" for index in range(1, count + 1)]
    for index, path in enumerate(paths, start=1):
        embed_corpus(embedder, text, path, window=4, shard=f"{index}/{count}", **settings)
    return paths


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"layers": "top", "store": "float16", "forget_sentences": True},
        {"sentences": "within-lines", "tokenizer": "unicode"},
    ],
    ids=["plain", "small", "raw"],
)
def test_shards_joined_are_a_single_run_to_the_byte(
    embedder, text, tmp_path, suffix, settings, recorded_progress, require_equal
):
    whole = tmp_path / f"whole{suffix}"
    embed_corpus(embedder, text, whole, window=4, **settings)
    paths = made(embedder, text, tmp_path, suffix, **settings)
    report = join_shards(paths[::-1], tmp_path / f"joined{suffix}", progress=recorded_progress)
    recorded_progress.require_stages(joining="rows")
    require_equal(tmp_path / f"joined{suffix}", whole)
    assert report["shards"] == 3
    with read_vectors(whole) as vectors:
        assert report["rows"] == len(vectors)
    assert sorted(tmp_path.glob("*.partial")) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_boundaries_warm_states_and_several_files_are_joined_too(
    tiny_checkpoint, text, tmp_path, suffix, require_equal
):
    embedder = Embedder(tiny_checkpoint, keep_boundaries=True)
    embedder = Embedder(
        tiny_checkpoint, keep_boundaries=True, state="warm", warm_state=embedder.warm_up(["a b", "c d"])
    )
    other = tmp_path / "other.txt"
    other.write_text("the last one\n" * 9, encoding="utf-8")
    embed_corpus(embedder, [text, other], tmp_path / f"whole{suffix}", window=4)
    paths = made(embedder, [text, other], tmp_path, suffix, count=4)
    join_shards(paths, tmp_path / f"joined{suffix}")
    require_equal(tmp_path / f"joined{suffix}", tmp_path / f"whole{suffix}")


def test_a_shard_is_a_file_of_its_own_that_says_which_it_is(embedder, text, lines, tmp_path):
    paths = made(embedder, text, tmp_path)
    row = 0
    for path in paths:
        with read_vectors(path) as vectors:
            assert vectors.metadata["shard_first_row"] == str(row)
            assert vectors.metadata["shard_of_rows"] == str(len(lines))
            for place in range(len(vectors)):
                assert vectors.row(place).line == row + 1
                assert vectors.row(place).tokens == lines[row].split()
                row += 1
    assert row == len(lines)


def test_an_interrupted_shard_is_resumed(embedder, text, tmp_path, require_equal, interrupt):
    embed_corpus(embedder, text, tmp_path / "a.npy", window=4, shard="2/2")
    interrupt(1, embedder, text, tmp_path / "b.npy", window=4, shard="2/2")
    with pytest.raises(ConfigError, match="was begun with shard"):
        embed_corpus(embedder, text, tmp_path / "b.npy", window=4, resume=True, shard="1/2")
    embed_corpus(embedder, text, tmp_path / "b.npy", window=4, resume=True, shard="2/2")
    require_equal(tmp_path / "a.npy", tmp_path / "b.npy")


def test_shards_that_do_not_fit_together_are_refused(embedder, text, tmp_path):
    paths = made(embedder, text, tmp_path)
    output = tmp_path / "joined.npy"
    with pytest.raises(ConfigError, match=r"1 of 3 shards missing: 2\..*--shard 2/3"):
        join_shards([paths[0], paths[2]], output)
    with pytest.raises(ConfigError, match="are both shard 1/3"):
        join_shards([paths[0], paths[0]], output)
    embed_corpus(embedder, text, tmp_path / "top.npy", layers="top", window=4, shard="2/3")
    with pytest.raises(ConfigError, match="shards of different runs"):
        join_shards([paths[0], tmp_path / "top.npy", paths[2]], output)
    embed_corpus(embedder, text, tmp_path / "whole.npy", window=4)
    with pytest.raises(TextError, match="is not a shard"):
        join_shards([tmp_path / "whole.npy"], output)
    with pytest.raises(ConfigError, match="no shard to join"):
        join_shards([], output)
    with pytest.raises(ConfigError, match="shards are joined in their own format"):
        join_shards(paths, tmp_path / "joined.h5")
    with pytest.raises(ConfigError, match="is the shard itself"):
        join_shards(paths, paths[0], force=True)
    with pytest.raises(OutputError, match="exists already"):
        join_shards(paths, tmp_path / "whole.npy")
    join_shards(paths, tmp_path / "whole.npy", force=True)
    assert not output.exists()
    assert sorted(tmp_path.glob("*.partial")) == []


def test_a_damaged_shard_is_an_error_that_names_it_and_nothing_is_written(embedder, text, tmp_path):
    paths = made(embedder, text, tmp_path)
    paths[1].write_bytes(paths[1].read_bytes()[:50])
    with pytest.raises(TextError, match="shard-2.npy: is not a file of vectors, or is damaged"):
        join_shards(paths, tmp_path / "joined.npy")
    shutil.copy(paths[0], paths[1])
    for suffix in (".offsets.npy", ".text.jsonl"):
        shutil.copy(str(paths[0]) + suffix, str(paths[1]) + suffix)
    with pytest.raises(TextError, match=r"shard-3.npy: begins at row \d+, not \d+"):
        join_shards(paths, tmp_path / "joined.npy")
    assert not (tmp_path / "joined.npy").exists()


def test_what_is_no_shard_is_refused(tiny_checkpoint, embedder, text, tmp_path):
    for name in ("0/3", "4/3", "1", "a/b", "1/2/3", "-1/3", "", "1/0"):
        with pytest.raises(ConfigError, match="must be like 2/8"):
            Shard.of(name)
    with pytest.raises(ConfigError, match=r"7 .of up to 4 rows each.*N of at most 7"):
        embed_corpus(embedder, text, tmp_path / "a.npy", window=4, shard="1/8")
    with pytest.raises(ConfigError, match="'carry', in which every sentence depends"):
        embed_corpus(Embedder(tiny_checkpoint, state="carry"), text, tmp_path / "a.npy", shard="1/2")
    assert not (tmp_path / "a.npy").exists()


def rows_of_shards(lengths, count, limits):
    windows = windows_of(lengths.tolist(), limits)
    chosen = [windows_of_shard(lengths, windows, Shard(index, count)) for index in range(1, count + 1)]
    return [(its[0].start, its[-1].stop) for its in chosen]


@given(st.lists(st.integers(0, 40), min_size=1, max_size=80), st.integers(1, 6), st.integers(1, 60), st.integers(1, 7))
def test_shards_are_whole_windows_and_every_row_is_in_one(lengths, max_rows, max_tokens, count):
    borders = [0]
    for window in windows([["w"] * length for length in lengths], max_rows, max_tokens):
        borders.append(borders[-1] + len(window))
    found = np.array(lengths)
    if len(borders) <= count:
        with pytest.raises(ConfigError, match="N of at most"):
            windows_of_shard(found, windows_of(lengths, (max_rows, max_tokens)), Shard(1, count))
        return
    ranges = rows_of_shards(found, count, (max_rows, max_tokens))
    assert ranges[0][0] == 0
    assert ranges[-1][1] == len(lengths)
    assert all(before[1] == after[0] for before, after in itertools.pairwise(ranges))
    assert all(first < stop and {first, stop} <= set(borders) for first, stop in ranges)


def test_shards_have_about_as_many_tokens_each():
    lengths = np.random.default_rng(0).integers(0, 40, 20_000)
    ranges = rows_of_shards(lengths, 8, (512, 16_384))
    tokens = [int((lengths[first:stop] + 2).sum()) for first, stop in ranges]
    assert max(tokens) - min(tokens) <= 2 * 16_384
