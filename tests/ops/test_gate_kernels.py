"""The kernels for a GPU, run by Triton's interpreter on the CPU, beside the passes in torch.

In a process of its own: Triton decides when it is imported whether it interprets.
"""

import subprocess
import sys

import pytest

pytest.importorskip("triton", reason="Triton is not installed")

COMPARED = """
import torch
from elmo.ops import native_passes
from elmo.ops.projected_lstm import gate_kernels
from elmo.ops.projected_lstm.gate_passes import backward_pass, forward_pass

native_passes.ran = lambda *arguments, **settings: False
generator = torch.Generator().manual_seed(1)


def drawn(*shape, dtype=torch.float32):
    return torch.randn(*shape, generator=generator).to(dtype)


def compare(found, expected, factor):
    for index, (one, other) in enumerate(zip(found, expected, strict=True)):
        assert one.dtype == other.dtype
        # Of bfloat16 the last digit may be rounded otherwise; of float32 the sums of up to 130 rows differ.
        torch.testing.assert_close(one.float(), other.float(), rtol=2**-7 if one.dtype == factor else 1e-5, atol=2e-5)


WIDE, NARROW = torch.float32, torch.bfloat16
CASES = (5, 24, WIDE, None), (5, 24, NARROW, 0.5), (130, 40, WIDE, 0.5), (1, 1, NARROW, None), (3, 600, WIDE, 0.5)
for rows, size, factor, clip in CASES:
    share, recurrent = (drawn(rows, 4 * size, dtype=factor) for _ in range(2))
    forward = [share, recurrent, drawn(4 * size), drawn(rows, size), drawn(rows, 4 * size)]
    forward += [drawn(rows, size), drawn(rows, size), drawn(rows, size, dtype=factor)]
    backward = [drawn(rows, 4 * size).sigmoid(), drawn(rows, size), drawn(rows, size), drawn(rows, size).tanh()]
    backward += [drawn(rows, size, dtype=factor), drawn(rows, size)]
    backward += [drawn(rows, 4 * size, dtype=factor), drawn(4 * size)]
    for tensors, plain, kernel in (
        (forward, forward_pass, gate_kernels.gates_forward),
        (backward, backward_pass, gate_kernels.gates_backward),
    ):
        expected, found = ([tensor.clone() for tensor in tensors] for _ in range(2))
        plain(*expected, clip)
        kernel(found, clip, rows=rows, size=size)
        compare(found, expected, factor)
    if factor == torch.float32:  # scratch: what is kept of the gates doesn't count
        expected, found = ([tensor.clone() for tensor in forward] for _ in range(2))
        expected[4], found[4] = expected[0], found[0]
        forward_pass(*expected, clip, native=False)
        gate_kernels.gates_forward(found, clip, rows=rows, size=size)
        compare([found[5], found[7]], [expected[5], expected[7]], factor)
x = torch.linspace(-9, 9, 4001)
zeros = [torch.zeros(1, 4 * len(x)) for _ in range(3)] + [torch.zeros(1, len(x)) for _ in range(4)]
share, gates, (after, squashed, output) = zeros[0], zeros[1], zeros[4:]
share[0, 3 * len(x) :] = x
gate_kernels.gates_forward(
    [share, zeros[2], torch.zeros(4 * len(x)), zeros[3], gates, after, squashed, output], None, rows=1, size=len(x)
)
exact = x.double().tanh()
# exp, sum, quotient and difference round once each, by up to 2**-24 of at most 1; the series' terms, of its value.
bound = 4 * 2.0**-24 * torch.where(x.abs() < 0.25, exact.abs(), 1)
assert ((gates[0, 3 * len(x) :] - exact).abs() <= bound).all()
print("compared")
"""


def test_the_kernels_compute_what_the_passes_in_torch_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    done = subprocess.run([sys.executable, "-c", COMPARED], capture_output=True, text=True, timeout=300)
    assert done.stdout == "compared\n", done.stderr
