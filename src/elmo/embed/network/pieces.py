"""Rows too long for one pass, read piece by piece. The result is that of `BiLM.contextualize`.

Each direction hands its state from piece to piece in its own reading order, the backward one from the sentence's end,
so nothing is approximated; only the memory for gates, 64 kB a token at the published size, is bounded. The engine, on
CPUs, needs no such memory, and reads any row in one pass.
"""

import torch
from torch import Tensor

from elmo.model.bilm import BiLM, BiLMOutput, BiLMState
from elmo.model.projected_lstm import ProjectedLSTM
from elmo.shapes import Float, Int


def contextualize_in_pieces(
    bilm: BiLM,
    vectors: Float[Tensor, "batch tokens projection"],
    lengths: Int[Tensor, " batch"],
    state: BiLMState | None,
    piece: int,
) -> BiLMOutput:
    """As `bilm.contextualize`, at most `piece` tokens of each row at a time."""
    batch, tokens, size = vectors.shape
    state = state if state is not None else bilm.zero_state(batch)
    steps = torch.arange(tokens, device=vectors.device)[None, :]
    mask = steps < lengths[:, None]
    vectors = torch.where(mask[:, :, None], vectors, 0)
    turned = torch.where(mask, lengths[:, None] - 1 - steps, steps)[:, :, None].expand(-1, -1, size)
    num_directions = len(bilm.lstms)
    layers = vectors.new_zeros(bilm.config.num_layers + 1, batch, tokens, num_directions * size)
    parts = zip(state.hidden.chunk(num_directions, dim=2), state.cell.chunk(num_directions, dim=2), strict=True)
    ends = []
    for place, (direction, lstm, (hidden, cell)) in enumerate(
        zip(bilm.config.directions, bilm.lstms, parts, strict=True)
    ):
        mine = layers[:, :, :, place * size : (place + 1) * size]
        backward = direction == "backward"
        inputs = vectors.gather(1, turned) if backward else vectors
        ends.append(_read(lstm, inputs, lengths, (hidden, cell), piece, mine))
        mine[0] = vectors
        if backward:
            for layer in mine[1:]:
                layer.copy_(layer.gather(1, turned))
    hiddens, cells = zip(*ends, strict=True)
    return BiLMOutput(layers, mask, BiLMState(torch.cat(hiddens, dim=2), torch.cat(cells, dim=2)))


def _read(
    lstm: ProjectedLSTM,
    inputs: Float[Tensor, "batch tokens projection"],
    lengths: Int[Tensor, " batch"],
    state: tuple[Float[Tensor, "layers batch projection"], Float[Tensor, "layers batch cell"]],
    piece: int,
    into: Float[Tensor, "all_layers batch tokens projection"],
) -> tuple[Float[Tensor, "layers batch projection"], Float[Tensor, "layers batch cell"]]:
    """Writes each layer's outputs into `into[1:]`, in reading order, and gives the last (hidden, cell)."""
    hidden, cell = state
    for start in range(0, inputs.shape[1], piece):
        stop = min(start + piece, inputs.shape[1])
        now = (lengths - start).clamp(0, stop - start)
        outputs, hidden, cell = lstm(inputs[:, start:stop], now, hidden, cell)
        for layer, output in zip(into[1:], outputs, strict=True):
            layer[:, start:stop] = output
    return hidden, cell
