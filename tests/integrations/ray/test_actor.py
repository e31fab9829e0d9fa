"""ElmoActor on a local Ray cluster of several worker processes."""

import contextlib
import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ray")

import pyarrow  # noqa: E402
import pyarrow.parquet  # noqa: E402
import ray  # noqa: E402
import ray.data  # noqa: E402

from elmo.cli.main import main  # noqa: E402
from elmo.errors import ConfigError, OutputError, WeightFileError  # noqa: E402
from elmo.integrations.ray import ElmoActor, embed_dataset  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

SLOW_TOKENIZER = "import time\n\n\ndef split(text):\n    time.sleep(0.01)\n    return text.split()\n"
LINES = [f"the cat number {number} sat on the mat , {'and sat ' * (number % 7)}." for number in range(400)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Three logical processors: two actors and the tasks that read and write."""
    (place := tmp_path_factory.mktemp("modules")).joinpath("slow_words.py").write_text(SLOW_TOKENIZER)
    # The workers find the package where this process does, and a tokenizer that gives time to end one of them.
    paths = [str(place), *filter(None, sys.path)]
    environment = {"env_vars": {"PYTHONPATH": os.pathsep.join(paths)}}
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, runtime_env=environment)
    yield
    ray.shutdown()


@pytest.fixture
def by_elmo(tiny_model, tmp_path) -> dict[str, np.ndarray]:
    """The vectors of each line as `elmo embed` writes them."""
    (tmp_path / "lines.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    output = tmp_path / "elmo.parquet"
    command = ["embed", str(tmp_path / "lines.txt"), "-o", str(output), "--model", tiny_model, "--layers", "average"]
    assert main([*command, "--quiet"]) == 0
    table = pyarrow.parquet.read_table(output)
    return dict(zip(LINES, map(np.array, table["vectors"].to_pylist()), strict=True))


def test_a_batch_gets_a_column_of_the_type_that_elmo_embed_writes(tiny_model, by_elmo):
    table = pyarrow.table({"id": [7, 8, 9], "text": [LINES[0], "", LINES[3]]})
    found = ElmoActor(tiny_model)(table)
    assert found.column_names == ["id", "text", "vectors"]
    vectors = found["vectors"].to_pylist()
    np.testing.assert_array_equal(np.array(vectors[0], np.float32), by_elmo[LINES[0]].astype(np.float32))
    assert vectors[1] == []
    assert str(found.schema.field("vectors").type).startswith("list<item: fixed_size_list<item: float")
    half = ElmoActor(tiny_model, store="float16", output="half")(table)
    assert "halffloat" in str(half.schema.field("half").type)
    whole = ElmoActor(tiny_model, layers="all")(table)
    assert len(whole["vectors"].to_pylist()[0][0]) == 48
    empty = ElmoActor(tiny_model)(table.slice(0, 0))
    assert empty.schema == found.schema
    assert len(empty) == 0
    tokens = pyarrow.table({"text": [LINES[0].split()]})
    assert ElmoActor(tiny_model)(tokens)["vectors"].to_pylist() == vectors[:1]


def test_what_it_cannot_read_is_an_error(tiny_model, other_model, tiny_bilm):
    with pytest.raises(ConfigError, match=r"sentences\[1\] must be .*None"):
        ElmoActor(tiny_model)(pyarrow.table({"text": ["a", None]}))
    with pytest.raises(WeightFileError, match="but this was made with"):
        ElmoActor(other_model, model_hash="0" * 64)
    with pytest.raises(OutputError, match="the largest float16 is 65504"):
        ElmoActor(tiny_model, layers=[1e9, 1e9, 1e9], store="float16")(pyarrow.table({"text": ["a"]}))


def rows_of(folder: Path) -> dict[str, np.ndarray]:
    table = pyarrow.parquet.read_table(folder)
    texts = table["text"].to_pylist()
    assert len(texts) == len(set(texts))
    return dict(zip(texts, map(np.array, table["vectors"].to_pylist()), strict=True))


def test_two_actors_one_of_them_killed_give_the_vectors_of_elmo_embed(cluster, tiny_model, tmp_path, by_elmo):
    table = pyarrow.table({"id": range(len(LINES)), "text": LINES})
    (tmp_path / "in").mkdir()
    for start in range(0, len(LINES), 40):
        pyarrow.parquet.write_table(table.slice(start, 40), tmp_path / "in" / f"{start}.parquet")
    dataset = ray.data.read_parquet(str(tmp_path / "in"), override_num_blocks=10)
    dataset = embed_dataset(dataset, model=tiny_model, actors=2, batch_size=20, tokenizer="slow_words:split")
    ended, killed = threading.Event(), []
    killer = threading.Thread(target=_kill_an_actor_at_work, args=(ended, killed))
    killer.start()
    try:
        dataset.write_parquet(str(tmp_path / "out"))
    finally:
        ended.set()
        killer.join()
    assert killed, "no actor was seen at work"
    found = rows_of(tmp_path / "out")
    assert set(found) == set(LINES)
    ids = pyarrow.parquet.read_table(tmp_path / "out")
    assert dict(zip(ids["text"].to_pylist(), ids["id"].to_pylist(), strict=True)) == {
        line: row for row, line in enumerate(LINES)
    }
    for line, expected in by_elmo.items():
        np.testing.assert_array_equal(found[line].astype(np.float32), expected.astype(np.float32))


def _kill_an_actor_at_work(ended: threading.Event, killed: list[int]) -> None:
    """Ends an actor in the middle of a batch as a machine that dies would. Ray gives its processes these names."""
    while not ended.is_set() and not killed:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if path.read_bytes().startswith(b"ray::MapWorker(MapBatches(ElmoActor)).submit"):
                    os.kill(int(path.parent.name), signal.SIGKILL)
                    killed.append(int(path.parent.name))
                    break
        time.sleep(0.02)


def test_too_few_processors_are_an_error_and_no_silence(cluster, tiny_model):
    dataset = ray.data.from_items([{"text": "a"}])
    with pytest.raises(ConfigError, match="num_cpus must be below Ray's 3 processors.*got 3"):
        embed_dataset(dataset, model=tiny_model, num_cpus=3)
    with pytest.raises(ConfigError):
        embed_dataset(dataset, model=tiny_model, layers="bottom")
    for name in ("num_cpus", "actors"):
        with pytest.raises(ConfigError, match=f"{name} must be at least 1 .got 0"):
            embed_dataset(dataset, model=tiny_model, **{name: 0})


def test_the_guide_runs(cluster, run_guide):
    run_guide("ray.md")


def test_a_column_named_like_the_output_is_refused_before_anything_is_computed(tiny_model, cluster, tmp_path):
    with pytest.raises(ConfigError, match="output must be another name .*got 'vectors'"):
        embed_dataset(ray.data.from_items([{"text": "a", "vectors": 2}]), model=tiny_model)
    pyarrow.parquet.write_table(pyarrow.table({"text": ["a"], "mine": [1]}), tmp_path / "a.parquet")
    dataset = ray.data.read_parquet(str(tmp_path / "a.parquet"))
    with pytest.raises(ConfigError, match="output must be another name .*got 'mine'"):
        embed_dataset(dataset, model=tiny_model, output="mine")
    assert embed_dataset(dataset, model=tiny_model).columns() == ["text", "mine", "vectors"]


def test_lists_of_tokens_come_from_parquet_and_their_vectors_are_read_back_by_elmo(
    cluster, tiny_model, tmp_path, by_elmo
):
    tokens = pyarrow.array([line.split() for line in LINES[:50]], pyarrow.list_(pyarrow.string()))
    pyarrow.parquet.write_table(pyarrow.table({"words": tokens, "text": LINES[:50]}), tmp_path / "in.parquet")
    dataset = ray.data.read_parquet(str(tmp_path / "in.parquet"))
    embed_dataset(dataset, model=tiny_model, column="words", batch_size=16).write_parquet(str(tmp_path / "out"))
    for line, found in rows_of(tmp_path / "out").items():
        np.testing.assert_array_equal(found.astype(np.float32), by_elmo[line].astype(np.float32))
