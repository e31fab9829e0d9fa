"""How far back a gradient reaches: a plain tanh RNN, an LSTM of the same size, and the trained LSTM of small-en.

    python paper/scripts/gradients_through_time.py measure paper/records/explained/gradients-through-time.json
    python paper/scripts/gradients_through_time.py draw paper/records/explained/gradients-through-time.json OUT.svg

The network reads 61 inputs. Of a random direction of its last output the gradient is taken with respect to each input:
its norm, beside that at the last input, says how much a network that is wrong now can learn about what it read so many
steps ago. Median over 20 seeds with 8 sequences each; of small-en, layer 1 of its forward LSTM, over 160 stretches of
the explorer's text. Half a minute on one core; docs/how-elmo-works.md has the picture.
"""

import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

import elmo
from elmo.analysis.record import begun
from elmo.disk.json_file import read_record, write_json
from elmo.weights import formats, hub
from elmo_paper.analysis.plots import plain, save

STEPS, CELLS, INPUTS, SEQUENCES, SEEDS = 60, 256, 256, 8, 20
TEXT = Path(elmo.__file__).parent / "explorer" / "bundled_texts" / "senses-en.txt"
Step = Callable[[Tensor, tuple[Tensor, ...]], tuple[Tensor, tuple[Tensor, ...]]]


def rnn() -> tuple[Step, tuple[Tensor, ...]]:
    """h = tanh(W x + U h); weights as torch begins with: uniform, up to 1 / sqrt(cells)."""
    w, u = uniform(CELLS, INPUTS), uniform(CELLS, CELLS)

    def step(x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        h = torch.tanh(x @ w.T + state[0] @ u.T)
        return h, (h,)

    return step, (torch.zeros(SEQUENCES, CELLS),)


def lstm(forget_bias: float) -> tuple[Step, tuple[Tensor, ...]]:
    """The same for each of the four gates. ELMo adds 1 to what decides how much is kept."""
    return lstm_of(uniform(4 * CELLS, INPUTS), uniform(4 * CELLS, CELLS), torch.zeros(4 * CELLS), None, forget_bias)


def lstm_of(
    w: Tensor, u: Tensor, b: Tensor, projection: Tensor | None, forget_bias: float = 1.0
) -> tuple[Step, tuple[Tensor, ...]]:
    """An LSTM of these weights; with a projection the clips at 3 too, as the biLM."""

    def step(x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        i, f, o, j = (x @ w.T + state[0] @ u.T + b).chunk(4, dim=-1)
        c = torch.sigmoid(f + forget_bias) * state[1] + torch.sigmoid(i) * torch.tanh(j)
        c = c if projection is None else c.clamp(-3, 3)
        h = torch.sigmoid(o) * torch.tanh(c)
        h = h if projection is None else (h @ projection.T).clamp(-3, 3)
        return h, (h, c)

    return step, (torch.zeros(SEQUENCES, u.shape[1]), torch.zeros(SEQUENCES, w.shape[0] // 4))


def uniform(rows: int, columns: int) -> Tensor:
    """Uniform up to 1 / sqrt(cells) on both sides of 0."""
    return (2 * torch.rand(rows, columns) - 1) / math.sqrt(CELLS)


def norms(step: Step, state: tuple[Tensor, ...], inputs: Tensor) -> np.ndarray:
    """(sequences, steps + 1): of the gradient at each input, the last one first, divided by that at the last."""
    inputs.requires_grad_()
    output = state[0]
    for x in inputs:
        output, state = step(x, state)
    (output * torch.randn(output.shape)).sum().backward()
    assert inputs.grad is not None
    found = inputs.grad.norm(dim=-1).flip(0).T
    return (found / found[:, :1]).numpy()


def of_small_en() -> list[np.ndarray]:
    """Layer 1 of the forward LSTM on stretches of text."""
    model = formats.read(hub.resolve("small-en"))
    names = ("input_weight", "recurrent_weight", "bias", "projection_weight")
    w, u, b, p = (torch.from_numpy(model.tensors[f"forward_lstm.layers.0.{name}"].astype(np.float32)) for name in names)
    step, state = lstm_of(w, u, b, p)
    tokens = TEXT.read_text(encoding="utf-8").split()[: (STEPS + 1) * SEQUENCES * SEEDS]
    (vectors,) = elmo.Embedder.from_pretrained("small-en").embed([tokens], layers=0)
    stretches = torch.from_numpy(vectors[:, : w.shape[1]]).reshape(SEEDS, SEQUENCES, STEPS + 1, -1).transpose(1, 2)
    return [norms(step, state, one.contiguous()) for one in stretches]


def measure(out: Path) -> None:
    """Writes the record."""
    torch.set_grad_enabled(True)
    curves: dict[str, list[np.ndarray]] = {"tanh RNN": [], "LSTM": [], "LSTM, forget gate + 1 (ELMo)": []}
    for seed in range(SEEDS):
        for name, make in zip(curves, (rnn, lambda: lstm(0.0), lambda: lstm(1.0)), strict=True):
            torch.manual_seed(seed)
            step, state = make()
            curves[name].append(norms(step, state, torch.randn(STEPS + 1, SEQUENCES, INPUTS)))
    torch.manual_seed(0)
    curves["small-en, trained"] = of_small_en()
    medians = {name: [float(f"{x:.4g}") for x in np.median(np.concatenate(one), 0)] for name, one in curves.items()}
    settings = {"cells": CELLS, "inputs": INPUTS, "sequences": SEQUENCES, "seeds": SEEDS, "steps": STEPS}
    command = ["python", "paper/scripts/gradients_through_time.py", "measure", out.name]
    beginning = begun("gradients through time", encoders={}, data={"text": TEXT}, settings=settings, command=command)
    write_json(out, beginning | {"norms": medians}, indent=1)


def draw(record: Path, out: Path) -> None:
    """Draws a record."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.subplots()
    places = ((13, 3e-9, "#d55e00"), (37, 1e-8, "#56b4e9"), (25, 8e-6, "#0072b2"), (36, 3e-2, "#1a1a1a"))
    for (name, values), (x, y, color) in zip(read_record(record)["norms"].items(), places, strict=True):
        axes.semilogy(values[:51], color=color)  # up to 50: what lies near the first input is read into an empty memory
        axes.text(x, y, name, color=color)
    axes.set(xlabel="steps back", ylabel="gradient, relative to the last step", ylim=(1e-12, 2))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0e}")
    plain(axes)
    save(figure, out, out.suffix)


if __name__ == "__main__":
    if sys.argv[1] == "measure":
        measure(Path(sys.argv[2]))
    else:
        draw(Path(sys.argv[2]), Path(sys.argv[3]))
