"""ELMo in torch's DistributedDataParallel. The test's two processes run this file: RANK RENDEZVOUS MODEL RESULT."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from elmo.layer.elmo import ELMo

pytestmark = pytest.mark.slow

SENTENCES = [["the", "cat", "sat"], ["no"], ["a", "longer", "sentence", "here", "."], [], ["un", "café"], ["x"]]


def build(model: str | Path, trainable: bool) -> ELMo:
    """The same in every process."""
    elmo = ELMo.from_pretrained(model, num_mixes=2, dropout=0.0, trainable=trainable)
    with torch.no_grad():
        for number, mix in enumerate(elmo.mixes):
            mix.raw_weights.copy_(torch.tensor([0.3, -0.2, 0.5]) * (number + 1))
    return elmo


def gradients(elmo: ELMo, network: torch.nn.Module, sentences: list[list[str]]) -> dict[str, torch.Tensor]:
    """Of a task's loss that is a mean over sentences, with the mix penalty."""
    output = network(sentences)
    per_sentence = sum(mixed.sin().sum(dim=(1, 2)) for mixed in output.mixes)
    (per_sentence.mean() + elmo.mix_penalty(0.1)).backward()
    return {name: parameter.grad for name, parameter in elmo.named_parameters() if parameter.requires_grad}


def take_part(rank: int, rendezvous: str | Path, model: str | Path) -> dict[bool, dict[str, torch.Tensor]]:
    """One of two processes: gradients of its half of the sentences, averaged over both; frozen and trainable biLM."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    distributed.init_process_group(
        "gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=2, timeout=timedelta(seconds=60)
    )
    found = {}
    for trainable in (False, True):
        elmo = build(model, trainable)
        network = DistributedDataParallel(elmo)
        gradients(elmo, network, SENTENCES[::-1][rank::2])  # a step before must leave no trace
        elmo.zero_grad()
        found[trainable] = gradients(elmo, network, SENTENCES[rank::2])
    return found


def test_two_processes_find_the_gradients_of_one(tiny_bilm, tmp_path):
    rendezvous, model = tmp_path / "rendezvous", tmp_path / "model"
    results = [tmp_path / f"result-{rank}" for rank in range(2)]
    tiny_bilm.save_pretrained(model)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    processes = [
        subprocess.Popen(
            [sys.executable, __file__, str(rank), rendezvous, model, result],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank, result in enumerate(results)
    ]
    try:
        for process in processes:
            _, errors = process.communicate(timeout=120)
            assert process.returncode == 0, errors
    finally:
        for process in processes:
            process.kill()
    found = [torch.load(result) for result in results]
    for trainable in (False, True):
        elmo = build(model, trainable)
        for name, expected in gradients(elmo, elmo, SENTENCES).items():
            for by_rank in found:
                assert torch.allclose(by_rank[trainable][name], expected, atol=1e-5, rtol=1e-4), name


if __name__ == "__main__":
    torch.save(take_part(int(sys.argv[1]), *sys.argv[2:4]), sys.argv[4])
    # Not through the destructors: freeing DistributedDataParallel's reducer has waited forever for a thread of gloo's
    # that waited for Python's lock (torch 2.13).
    sys.stderr.flush()
    os._exit(0)
