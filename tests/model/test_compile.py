"""ELMo in a model under torch.compile: the biLM is left out of it, and nothing changes.

In a process of its own (this file, run), because the compiler can't see through the checks of shapes that tests add.
"""

import os
import subprocess
import sys

import pytest
import torch
from torch import nn

from elmo import BiLM, BiLMConfig
from elmo.model.elmo import ELMo

pytestmark = pytest.mark.slow

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
    config = BiLMConfig(character_dim=3, filters=((1, 2), (2, 3)), num_highway=1, cell_size=6, projection_size=4)
    model = Model(ELMo(BiLM(config), num_mixes=2, dropout=0.0, trainable=trainable))
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


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False)


def test_a_compiled_model_finds_the_same_loss_and_gradients():
    done = _run(__file__)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # nothing is given up with a warning either


def test_to_import_elmo_does_not_load_the_compiler():
    assert _run("-c", "import sys, elmo.model.elmo; sys.exit('torch._dynamo' in sys.modules)").returncode == 0


if __name__ == "__main__":
    compare(trainable=False, as_ids=False)
    compare(trainable=True, as_ids=True)
