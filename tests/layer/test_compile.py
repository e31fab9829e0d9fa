"""Under torch.compile, torch.export and torch.jit.trace nothing changes; a compiled model leaves ELMo's biLM out.

In a process of its own (this file, run), because the compiler can't see through the checks of shapes that tests add.
"""

import os
import subprocess
import sys
import warnings

import pytest
import torch
from torch import nn

from elmo import BiLM, BiLMConfig
from elmo.layer.elmo import ELMo

pytestmark = pytest.mark.slow

CONFIG = BiLMConfig(character_dim=3, filters=((1, 2), (2, 3)), num_highway=1, cell_size=6, projection_size=4)
SENTENCES = [["the", "cat", "sat"], ["no"], ["a", "longer", "sentence", "here", "."]]


class Model(nn.Module):
    """ELMo below and above another layer."""

    def __init__(self, elmo: ELMo) -> None:
        super().__init__()
        self.elmo = elmo
        self.read = nn.Linear(elmo.output_dim, 3)

    def forward(self, sentences: object) -> torch.Tensor:
        below, above = self.elmo(sentences).mixes
        return torch.cat([self.read(below).tanh(), above], dim=2).amax(dim=1).sin().sum()


def compare(trainable: bool, as_ids: bool) -> None:
    """Loss and gradients, plain and compiled, for batches of two shapes."""
    torch.manual_seed(1)
    model = Model(ELMo(BiLM(CONFIG), num_mixes=2, dropout=0.0, trainable=trainable))
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    compiled = torch.compile(model, backend="aot_eager")
    for sentences in (SENTENCES, SENTENCES[:2]):
        given = model.elmo.character_ids(sentences) if as_ids else sentences
        (one, *ours), (other, *theirs) = ((loss := run(given), *torch.autograd.grad(loss, learned))
                                          for run in (model, compiled))  # fmt: skip
        torch.testing.assert_close(one, other)
        assert any(gradient.any() for gradient in ours)
        for gradient, same in zip(ours, theirs, strict=True):
            torch.testing.assert_close(gradient, same)


def read_alone() -> None:
    """A biLM by itself, compiled, with gradients and without."""
    bilm = BiLM(CONFIG)
    ids = ELMo(bilm, trainable=True).character_ids(SENTENCES)
    compiled = torch.compile(bilm, backend="aot_eager")
    for grad in (True, False):
        with torch.set_grad_enabled(grad):
            torch.testing.assert_close(compiled(ids).layers, bilm(ids).layers)


def export(strict: bool) -> None:
    """ELMo of fixed shapes, exported; the graph reads other sentences of as many tokens as the layer itself."""
    elmo = ELMo(BiLM(CONFIG), dropout=0.0).eval()
    given = [elmo.character_ids(sentences) for sentences in ([["the", "cat"], ["no"]], [["x" * 60, "sat"], ["a", "b"]])]
    exported = torch.export.export(elmo, (given[0],), strict=strict).module()
    for ids in given:
        for one, other in zip(exported(ids), elmo(ids), strict=True):
            torch.testing.assert_close(one, other)


def trace() -> None:
    """torch.jit.trace of the biLM's layers."""
    bilm = BiLM(CONFIG).eval()
    two = [["the", "cat"], ["no"]], [["x" * 60, "sat"], ["a", "b"]]
    given = [ELMo(bilm).character_ids(sentences) for sentences in two]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls it deprecated, and names constants of the trace
        traced = torch.jit.trace(lambda ids: bilm(ids).layers, (given[0],), check_trace=False)
    for ids in given:
        torch.testing.assert_close(traced(ids), bilm(ids).layers)


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("what", ["frozen", "trainable", "alone", "exported", "exported strictly", "traced"])
def test_nothing_changes(what):
    done = _run(__file__, what)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # nothing is given up with a warning either


def test_to_import_elmo_does_not_load_the_compiler():
    assert _run("-c", "import sys, elmo.layer.elmo; sys.exit('torch._dynamo' in sys.modules)").returncode == 0


if __name__ == "__main__":
    {
        "frozen": lambda: compare(trainable=False, as_ids=False),
        "trainable": lambda: compare(trainable=True, as_ids=True),
        "alone": read_alone,
        "exported": lambda: export(strict=False),
        "exported strictly": lambda: export(strict=True),
        "traced": trace,
    }[sys.argv[1]]()
