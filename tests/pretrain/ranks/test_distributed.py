"""Several processes train one model: as one process would, stopped together, and shared out anew when they resume."""

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch

import elmo
from elmo.cli.main import main as elmo_command
from elmo.corpus.shards import TrainingData
from elmo.errors import ConfigError
from elmo.pretrain.ranks import distributed
from elmo.pretrain.ranks.distributed import Ranks, agree, joined
from elmo.pretrain.ranks.gradients import RanksDiffer, Reduction, RowGradient
from elmo.pretrain.run.run_folder import RunFolder
from elmo.pretrain.run.training import train
from elmo.pretrain.settings.config import PretrainConfig
from elmo.pretrain.step.direction import RowDropout
from elmo.pretrain.step.trainer import Trainer
from elmo.pretrain.step.trainer_state import tensors_of
from elmo.weights.native.read import read

pytestmark = pytest.mark.slow

SOURCE = Path(elmo.__file__).parents[1]
ADAMW = {"optimizer": "adamw", "learning_rate": 0.01}
VARIANTS: dict[str, dict[str, Any]] = {
    "sampled softmax": {},
    "sampled softmax, lazy adamw, one direction": {**ADAMW, "lazy_rows": True, "direction": "backward"},
    "full softmax, adamw": {"softmax": "full", **ADAMW},
    "adaptive softmax": {"softmax": "adaptive", "softmax_cutoffs": (8, 15), "softmax_divisor": 2},
    "words": {"characters": "none"},
    "tied words": {"characters": "none", "tie_softmax": True, "optimizer": "sgd"},
    "words beside characters": {"word_dim": 5},
}


class Workers:
    """Processes that play ranks. One of them imports torch, which takes longer than any test here; then it forks."""

    SIZE = 3

    def __init__(self) -> None:
        self._jobs, self._answers, ends = [], [], []
        for _ in range(self.SIZE):
            (job_end, job), (answer, answer_end) = os.pipe(), os.pipe()
            self._jobs.append(os.fdopen(job, "w"))
            self._answers.append(os.fdopen(answer))
            ends += [job_end, answer_end]
        environment = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
        script = Path(__file__).with_name("rank_worker.py")
        command = [sys.executable, str(script), *map(str, ends)]
        self._process = subprocess.Popen(command, env=environment, pass_fds=ends)
        for end in ends:
            os.close(end)

    def __call__(self, size: int, name: str, **arguments: Any) -> list[dict[str, Any]]:
        """What each of `size` ranks finds."""
        # As torchrun does: the store of keys is held by the parent, on a port that the system gave it and nobody else.
        self._store = torch.distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
        for rank, jobs in enumerate(self._jobs[:size]):
            environment = {
                "RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size,
                "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": self._store.port, "TORCHELASTIC_USE_AGENT_STORE": True,
            }  # fmt: skip
            environment = {key: str(value) for key, value in environment.items()}
            print(json.dumps({"name": name, "environment": environment, "arguments": arguments}), file=jobs, flush=True)
        return [json.loads(answers.readline()) for answers in self._answers[:size]]

    def close(self) -> None:
        for pipe in (*self._jobs, *self._answers):
            pipe.close()
        self._process.wait()


@pytest.fixture(scope="module")
def on_ranks() -> Iterator[Workers]:
    workers = Workers()
    yield workers
    workers.close()


@pytest.fixture
def typed(data: TrainingData, recipe: PretrainConfig, tmp_path: Path) -> list[str]:
    """`elmo pretrain` of the tiny recipe into tmp_path/run, as it is typed."""
    settings = [f"{name} = {json.dumps(value)}" for name, value in asdict(recipe).items()]
    (tmp_path / "tiny.toml").write_text("\n".join(settings))
    return ["pretrain", str(tmp_path / "tiny.toml"), "--data", str(data.folder), "-o", str(tmp_path / "run")]


def _losses(run: Path) -> dict[int, float]:
    lines = [line for line in RunFolder(run).metrics() if "loss" in line]
    assert len({line["step"] for line in lines}) == len(lines)  # every step once
    return {line["step"]: line["loss"] for line in lines}


@pytest.mark.parametrize("variant", VARIANTS)
def test_two_ranks_find_what_one_process_finds(data, recipe, on_ranks, variant):
    config = replace(recipe, **VARIANTS[variant])  # three rows: one for the first rank, two for the second
    alone = Trainer(config, data)
    expected = [alone.step() for _ in range(6)]
    found = on_ranks(2, "steps", data=str(data.folder), config=asdict(config), steps=6)
    assert [one["rows"] for one in found] == [[0, 1], [1, 3]]
    for one in found:
        assert one["losses"] == pytest.approx([result.loss for result in expected], rel=1e-5)
        assert one["norms"] == pytest.approx([result.gradient_norm for result in expected], rel=1e-4)
    assert found[0]["weights"] == found[1]["weights"]
    for name, shape in found[0]["state"].items():  # gathered on the first rank
        assert shape == list(tensors_of(alone)[name].shape)


def test_gradients_sent_as_bfloat16_change_the_losses_little(data, recipe, on_ranks):
    config = replace(recipe, reduce_dtype="bfloat16")
    alone = Trainer(config, data)
    expected = [alone.step().loss for _ in range(6)]
    one, other = on_ranks(2, "steps", data=str(data.folder), config=asdict(config), steps=6)
    assert one["losses"] == pytest.approx(expected, rel=0.01)
    assert one["losses"] != pytest.approx(expected, rel=1e-6)
    assert one["weights"] == other["weights"]


def test_more_ranks_than_rows_are_refused(data, recipe, tmp_path):
    with pytest.raises(ConfigError, match="batch_size must be at least 4: a row for each process .got 3"):
        train(data, tmp_path / "run", recipe, ranks=Ranks(3, 4))
    assert not (tmp_path / "run").exists()
    blocks = [Ranks(rank, 4).rows(10) for rank in range(4)]
    assert [row for block in blocks for row in range(block.start, block.stop)] == list(range(10))
    assert {block.stop - block.start for block in blocks} == {2, 3}


def test_a_run_goes_on_with_another_number_of_ranks(data, recipe, tmp_path, on_ranks, typed, monkeypatch):
    train(data, tmp_path / "whole", recipe)
    expected = _losses(tmp_path / "whole")
    begin = [*typed, "--quiet", "--resume-if-begun"]
    for one in on_ranks(2, "command", argv=begin, fault={"kind": "signal", "rank": 1, "step": 4}):
        assert one["code"] == 75
    run = RunFolder(tmp_path / "run")
    assert run.latest.name == "step-00000004"
    for size, stop in ((1, 6), (3, 9)):
        found = on_ranks(size, "command", argv=begin, fault={"kind": "signal", "rank": size - 1, "step": stop})
        assert [one["code"] for one in found] == [75] * size
        assert run.latest.name == f"step-{stop:08d}"
    assert [one["code"] for one in on_ranks(2, "command", argv=begin, fault={})] == [0, 0]
    assert _losses(tmp_path / "run") == pytest.approx(expected, rel=1e-4)
    assert _progress(run) == _progress(RunFolder(tmp_path / "whole"))  # the streams stand where one process's stand
    found = read(tmp_path / "run" / "model").metadata
    assert float(found["valid_mean_perplexity"]) == pytest.approx(
        float(read(tmp_path / "whole" / "model").metadata["valid_mean_perplexity"]), rel=1e-3
    )


def _progress(run: RunFolder) -> dict[str, Any]:
    return json.loads((run.latest / "progress.json").read_text())


def test_equal_numbers_of_ranks_go_on_bit_for_bit_and_one_process_takes_over(data, tmp_path, on_ranks, typed):
    whole = [*typed[:-1], str(tmp_path / "whole"), "--quiet"]
    assert [one["code"] for one in on_ranks(2, "command", argv=whole, fault={})] == [0, 0]
    stopped = on_ranks(2, "command", argv=[*typed, "--quiet"], fault={"kind": "signal", "rank": 0, "step": 5})
    assert [one["code"] for one in stopped] == [75, 75]
    assert "stopped at step 5 of" in stopped[0]["told"]
    assert stopped[1]["told"] == ""  # said once
    assert stopped[0]["seconds"] < 10
    assert [one["code"] for one in on_ranks(2, "command", argv=[*typed, "--resume"], fault={})] == [0, 0]
    assert _losses(tmp_path / "run") == _losses(tmp_path / "whole")
    one, other = read(tmp_path / "whole" / "model"), read(tmp_path / "run" / "model")
    assert all((one.tensors[name] == other.tensors[name]).all() for name in one.tensors)
    assert train(data, tmp_path / "run").model == tmp_path / "run" / "model"  # there is nothing left to do
    log = (tmp_path / "run" / "log.txt").read_text()
    assert log.count("started by 2 processes") == 1
    assert "resumed at step 5 by 2 processes" in log


def test_ranks_fine_tune_as_one_process_does(data, recipe, tmp_path, on_ranks):
    model = train(data, tmp_path / "old", replace(recipe, max_steps=3)).model
    old = tmp_path / "old.txt"
    old.write_text("the cat sat on the log\n", encoding="utf-8")
    settings = "--learning-rate 0.02 --batch-size 4 --unroll-steps 5 --num-negative-samples 8 --epochs 9 --max-steps 8"
    domains = ["--data", str(data.folder), "--model", str(model), "--old", str(old)]
    typed = ["finetune", *domains, *settings.split(), "--log-every", "1", "--quiet", "-o"]
    assert elmo_command([*typed, str(tmp_path / "one")]) == 0
    run = str(tmp_path / "two")
    fault = {"kind": "signal", "rank": 1, "step": 4}
    assert [one["code"] for one in on_ranks(2, "command", argv=[*typed, run], fault=fault)] == [75, 75]
    again = ["finetune", "--data", str(data.folder), "-o", run, "--resume", "--quiet"]
    assert [one["code"] for one in on_ranks(2, "command", argv=again, fault={})] == [0, 0]
    one, two = _losses(tmp_path / "one"), _losses(tmp_path / "two")
    assert list(two) == list(one) == list(range(1, 9))
    assert [two[step] for step in one] == pytest.approx([one[step] for step in one], rel=1e-5)
    found = [json.loads((tmp_path / name / "perplexities.json").read_text()) for name in ("one", "two")]
    for moment in ("before", "after"):
        for text, figures in found[0][moment].items():
            assert found[1][moment][text] == pytest.approx(figures, rel=1e-5)


def test_a_signal_to_one_rank_in_an_evaluation_stops_all(on_ranks, typed, tmp_path):
    found = on_ranks(2, "command", argv=[*typed, "--quiet"], fault={"kind": "evaluation", "rank": 1})
    assert [one["code"] for one in found] == [75, 75]
    assert RunFolder(tmp_path / "run").latest.name == "step-00000004"
    assert [one["code"] for one in on_ranks(2, "command", argv=[*typed, "--resume", "--quiet"], fault={})] == [0, 0]


def test_no_number_on_one_rank_stops_or_skips_on_all(on_ranks, typed, tmp_path):
    fault = {"kind": "nan", "rank": 1, "step": 5}
    found = on_ranks(2, "command", argv=[*typed, "--quiet"], fault=fault)
    assert [one["code"] for one in found] == [1, 1]
    assert "step 5: the loss is" in found[0]["told"]
    assert "step-00000004-before-nan" in found[0]["told"]
    assert found[1]["told"] == ""
    skipping = [*typed[:-1], str(tmp_path / "skipping"), "--quiet", "--on-nan", "skip"]
    assert [one["code"] for one in on_ranks(2, "command", argv=skipping, fault=fault)] == [0, 0]
    skipped = [line["step"] for line in RunFolder(tmp_path / "skipping").metrics() if "skipped" in line]
    assert skipped == [5]
    assert all(math.isfinite(loss) for loss in _losses(tmp_path / "skipping").values())


def test_a_rank_that_hangs_ends_the_others_after_the_timeout(on_ranks, typed):
    argv = [*typed, "--quiet", "--peer-timeout", "1.5"]
    first, second = on_ranks(2, "command", argv=argv, fault={"kind": "hang", "rank": 1, "step": 3})
    assert first["code"] == second["code"] == 1
    assert "rank 0 of 2: another process ended, or hung" in first["told"]
    assert "hung for more than 1.5 seconds (--peer-timeout)" in first["told"]
    assert first["seconds"] < second["seconds"]


def test_what_fails_on_the_first_rank_is_told_once(on_ranks, typed, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine")
    first, second = on_ranks(2, "command", argv=typed, fault={})
    assert first["code"] == second["code"] == 2
    assert "exists already and is not empty" in first["told"]
    assert second["told"] == ""


def test_what_fails_on_every_rank_is_told_with_the_rank(on_ranks, typed, tmp_path):
    found = on_ranks(2, "command", argv=[*typed[:2], "--data", str(tmp_path / "nowhere"), *typed[4:]], fault={})
    for rank, one in enumerate(found):
        assert one["code"] == 2
        assert one["told"].startswith(f"rank {rank} of 2: {tmp_path / 'nowhere'} is not prepared data")


def test_weights_that_no_longer_agree_are_noticed(monkeypatch):
    reported = torch.tensor([[0.5, 0, 3.0], [0.5000001, 0, 3.0]], dtype=torch.float64)
    monkeypatch.setattr(Ranks, "gather", lambda self, values: reported)
    with pytest.raises(RanksDiffer, match=r"step 6: the ranks' gradients had different norms \(\[0.5, 0.5000001\]"):
        Reduction(Ranks(0, 2)).add_up(7, {"forward": torch.tensor(3.0)}, {})


def test_one_process_sends_nothing(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    gradients = {"head.bias": RowGradient(torch.tensor([1, 4]), torch.ones(2)), "bilm.x": torch.ones(3)}
    with joined("cpu") as ranks:
        assert (ranks.rank, ranks.size, ranks.rows(7)) == (0, 1, slice(0, 7))
        losses = {"forward": torch.tensor(2.0)}
        reduced = Reduction(ranks).add_up(1, losses, gradients, 15)
        assert reduced.losses is losses
        assert reduced.gradients is gradients
        assert reduced.stop_signal == 15
        assert ranks.largest(15) == 15
        assert ranks.on_first(lambda: "done") == "done"
        assert not torch.distributed.is_initialized()


def test_variables_that_make_no_sense_are_named(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "two")
    with pytest.raises(ConfigError, match="WORLD_SIZE must be .*got 'two'"), joined("cpu"):
        pass
    monkeypatch.setenv("WORLD_SIZE", "2")
    for name in ("RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError, match="can't find each other.*with torchrun"), joined("cpu"):
        pass
    if not torch.cuda.is_available():
        with pytest.raises(ConfigError, match="device is 'cuda', but torch .* finds no GPU"), joined("cuda"):
            pass


@pytest.mark.parametrize(
    ("given", "torchrun", "shared"),
    [
        (None, True, True),
        ("1", False, False),  # no torchrun could have set it
        ("1", True, True),  # torchrun's own choice
        ("4", True, False),
    ],
)
def test_processes_share_the_cores_unless_the_number_of_threads_is_set(monkeypatch, given, torchrun, shared):
    for name, value in (("OMP_NUM_THREADS", given), ("TORCHELASTIC_RUN_ID", "none" if torchrun else None)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    chosen: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", chosen.append)
    monkeypatch.setattr(distributed, "num_cores", lambda: 8)
    distributed._share_cores(2)
    assert chosen == ([4] if shared else [])


def test_a_signal_to_one_rank_travels_with_the_losses(monkeypatch):
    messages = []

    def gather(self: Ranks, values: list[float]) -> torch.Tensor:
        messages.append(values)
        return torch.tensor([values, [values[0], 15, *values[2:]]], dtype=torch.float64)

    monkeypatch.setattr(Ranks, "gather", gather)
    monkeypatch.setattr(Ranks, "add_up_", lambda self, values: values)
    reduced = Reduction(Ranks(0, 2)).add_up(1, {"forward": torch.tensor(3.0)}, {"bilm.x": torch.ones(2)})
    assert reduced.stop_signal == 15
    assert len(messages) == 1  # no message of its own
    assert float(reduced.losses["forward"]) == 6.0


@pytest.mark.parametrize(("total", "cuts"), [(7, [0, 3, 7]), (1100, [0, 511, 513, 1024, 1100])])
def test_dropout_is_the_same_for_a_row_whichever_rank_has_it(total, cuts):
    values = torch.ones(3, total, 4)
    device = torch.device("cpu")
    whole = RowDropout(0.3, 5, slice(0, total), total, device)
    parts = [RowDropout(0.3, 5, slice(*cut), total, device) for cut in zip(cuts, cuts[1:], strict=False)]
    rows = [slice(*cut) for cut in zip(cuts, cuts[1:], strict=False)]
    draws = []
    for _ in range(2):
        draws.append(whole(values))
        pieces = [part(values[:, own]) for part, own in zip(parts, rows, strict=True)]
        assert torch.equal(torch.cat(pieces, dim=1), draws[-1])
    assert not torch.equal(*draws)
    assert draws[0].eq(0).float().mean().item() == pytest.approx(0.3, abs=0.1)
    assert draws[0].max().item() == pytest.approx(1 / 0.7)
    if total > 1000:
        assert draws[0].eq(0).float().mean(dim=(0, 2))[512:1024].mean().item() == pytest.approx(0.3, abs=0.05)


def test_dropout_of_few_rows_is_that_of_one_generator():
    found = RowDropout(0.25, 11, slice(0, 6), 6, torch.device("cpu"))(torch.ones(4, 6, 3))
    kept = torch.rand(4, 6, 3, generator=torch.Generator().manual_seed(11)).ge(0.25)
    assert torch.equal(found, kept / 0.75)


def test_processes_started_again_find_each_other_in_a_store_full_of_dead_ones():
    store, size, names = torch.distributed.HashStore(), 3, set()
    for late in (None, 0, 1, 2):  # who comes after the others
        with ThreadPoolExecutor(size) as pool:
            found = {}
            for rank in sorted(range(size), key=lambda rank, late=late: rank == late):
                if rank == late:
                    time.sleep(0.1)  # the others have looked at what is there
                found[rank] = pool.submit(agree, store, rank, size, 20)
            agreed = {future.result() for future in found.values()}
        assert len(agreed) == 1
        assert not agreed & names
        names |= agreed
    with pytest.raises(TimeoutError):
        agree(store, 1, 2, 0.1)  # the proposal that is there is none of this life
