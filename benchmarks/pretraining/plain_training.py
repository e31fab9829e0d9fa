"""The training step as it is written without further thought: what `training.py` compares ours with.

Same weights at the start, same windows, same negatives, dropout, loss, clip and optimizer as `elmo.pretrain.Trainer`;
only how it is computed differs: autograd of plain operations, one after the other, two threads in each product.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo.corpus.shards import TrainingData
from elmo.ops.projected_lstm.reference import projected_lstm_reference
from elmo.ops.sampled_softmax import NegativeSample, SoftmaxRows, sampled_softmax_reference
from elmo.pretrain.ranks.distributed import Ranks
from elmo.pretrain.settings.config import PretrainConfig
from elmo.pretrain.step.setup import make_optimizer
from elmo.pretrain.step.trainer import Trainer


class ReferenceLSTM(nn.Module):
    """Our layers' weights, run by the plain loop of `ops/projected_lstm/reference.py` under autograd."""

    def __init__(self, trainer: Trainer, direction: str) -> None:
        super().__init__()
        own = getattr(trainer.bilm, f"{direction}_lstm")
        self.layers = own.layers

    def forward(self, index: int, inputs: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Layer `index`; inputs (batch, tokens, dim): its outputs and the new (hidden, cell)."""
        layer, lengths = self.layers[index], torch.full((len(inputs),), inputs.shape[1], device=inputs.device)
        return projected_lstm_reference(inputs, lengths, *state, layer.weights, layer.settings)


class StockLSTM(nn.Module):
    """torch.nn.LSTM(proj_size) for each layer, with the same starting weights. It knows no clips."""

    def __init__(self, trainer: Trainer, direction: str) -> None:
        super().__init__()
        config = trainer.config
        self.layers = nn.ModuleList(
            nn.LSTM(config.projection_size, config.cell_size, batch_first=True, proj_size=config.projection_size)
            for _ in range(config.num_layers)
        )
        own = getattr(trainer.bilm, f"{direction}_lstm")
        for layer, ours in zip(self.layers, own.layers, strict=True):
            _take_over(layer, ours.weights, ours.settings.forget_bias)

    def forward(self, index: int, inputs: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """As `ReferenceLSTM`."""
        outputs, (hidden, cell) = self.layers[index](inputs, (state[0][None], state[1][None]))
        return outputs, hidden[0], cell[0]


@torch.no_grad()
def _take_over(layer: nn.LSTM, weights: Sequence[Tensor], forget_bias: float) -> None:
    """torch's gate rows stand in the order i, f, j, o, ours in i, f, o, j."""
    input_weight, recurrent_weight, bias, projection = weights
    bias = bias.clone()
    bias[layer.hidden_size : 2 * layer.hidden_size] += forget_bias
    pairs = (layer.weight_ih_l0, input_weight), (layer.weight_hh_l0, recurrent_weight), (layer.bias_ih_l0, bias)
    for own, ours in pairs:
        i, f, o, j = ours.chunk(4)
        own.copy_(torch.cat([i, f, j, o]))
    layer.bias_hh_l0.zero_()
    layer.weight_hr_l0.copy_(projection)


@dataclass
class PlainStep:
    """One way to compute a step."""

    config: PretrainConfig
    data: TrainingData
    stock: bool
    """LSTMs, convolutions and embedding from torch.nn, instead of the reference operations."""
    distinct_words: bool = False
    """Whether each distinct word of a step goes through the char CNN once, instead of every token."""
    device: torch.device = torch.device("cpu")

    def __post_init__(self) -> None:
        self.source = trainer = Trainer(self.config, self.data, Ranks(device=self.device))
        self.encoder, self.head = trainer.bilm.token_encoder, trainer.head
        kind = StockLSTM if self.stock else ReferenceLSTM
        self.lstms = {direction: kind(trainer, direction) for direction in trainer.states}
        for lstm in self.lstms.values():
            lstm.to(self.device)
        self.convolutions = _stock_convolutions(self.encoder).to(self.device) if self.stock else None
        parameters = {id(p): p for part in (*self.lstms.values(), self.head) for p in part.parameters()}
        parameters |= {id(p): p for p in self._encoder_parameters()}
        self.parameters = list(parameters.values())
        self.optimizer = make_optimizer(self.config, self.parameters)
        shape = self.config.num_layers, self.config.batch_size
        sizes = self.config.projection_size, self.config.cell_size
        zero = tuple(torch.zeros(*shape, size, device=self.device) for size in sizes)
        self.states = dict.fromkeys(trainer.states, zero)
        self.number = 0

    def _encoder_parameters(self) -> list[nn.Parameter]:
        if self.convolutions is None:
            return list(self.encoder.parameters())
        parts = (self.convolutions, self.encoder.highways, self.encoder.projection)
        return [parameter for part in parts for parameter in part.parameters()]

    def step(self) -> float:
        """One window a direction, forward, backward, clip and update: the mean loss of the directions."""
        self.number += 1
        config, plan, losses = self.config, self.source.planner.take(self.number), []
        for direction, own in plan.directions.items():
            vectors = self._vectors(torch.from_numpy(plan.types)[own.places.t()])
            outputs = self._read(direction, vectors).flatten(0, 1)
            losses.append(self._loss(outputs, own.target_ids.t().flatten(), own.sampled.negatives))
        loss = torch.stack(losses).mean()
        self.optimizer.zero_grad(set_to_none=True)
        (loss * config.unroll_steps if config.sum_over_window else loss).backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, config.clip_norm)
        self.optimizer.step()
        return loss.item()

    def _vectors(self, types: Tensor) -> Tensor:
        """(batch, tokens) word types -> (batch, tokens, projection)."""
        flat, places = types.flatten(), None
        if self.distinct_words:
            flat, places = flat.unique(return_inverse=True)
        characters, _ = self.source.type_ids.of_types(flat.numpy())
        assert characters is not None  # the plain loop is measured with a char CNN
        ids = characters.long().to(self.device)
        places = None if places is None else places.to(self.device)
        features = self._features(ids) if self.convolutions is None else self.convolutions(ids)
        for highway in self.encoder.highways:
            features = highway(features)
        vectors = self.encoder.projection(features)
        return (vectors if places is None else vectors[places]).view(*types.shape, -1)

    def _features(self, ids: Tensor) -> Tensor:
        """(types, characters) -> (types, filters), by convolutions over whole rows."""
        characters = functional.embedding(ids, self.encoder.character_embedding).transpose(1, 2)
        scores = (functional.conv1d(characters, one.weight, one.bias) for one in self.encoder.convolutions)
        features = torch.cat([each.amax(dim=2) for each in scores], dim=1)
        return torch.relu(features) if self.encoder.config.activation == "relu" else torch.tanh(features)

    def _read(self, direction: str, inputs: Tensor) -> Tensor:
        (hidden, cell), states = self.states[direction], []
        for index in range(self.config.num_layers):
            inputs = functional.dropout(inputs, self.config.dropout)
            outputs, *state = self.lstms[direction](index, inputs, (hidden[index], cell[index]))
            inputs = outputs + inputs if index and self.config.skip_connections else outputs
            states.append(state)
        self.states[direction] = tuple(torch.stack(parts).detach() for parts in zip(*states, strict=True))
        return functional.dropout(inputs, self.config.dropout)

    def _loss(self, outputs: Tensor, targets: Tensor, sample: NegativeSample) -> Tensor:
        sampler, head = self.source.sampler, self.head
        targets, negatives = targets.to(self.device), sample.ids.to(self.device)
        target_rows, negative_rows = (
            SoftmaxRows(head.weight[ids], head.bias[ids], sampler.log_probability(ids, sample.num_draws))
            for ids in (targets, negatives)
        )
        return sampled_softmax_reference(outputs, targets, target_rows, negatives, negative_rows).mean()


class _Convolutions(nn.Module):
    def __init__(self, embedding: nn.Embedding, convolutions: Sequence[nn.Conv1d]) -> None:
        super().__init__()
        self.embedding, self.convolutions = embedding, nn.ModuleList(convolutions)

    def forward(self, ids: Tensor) -> Tensor:
        """(tokens, characters) -> (tokens, filters)"""
        vectors = self.embedding(ids).transpose(1, 2)
        return torch.relu(torch.cat([convolution(vectors).amax(dim=2) for convolution in self.convolutions], dim=1))


def _stock_convolutions(encoder: nn.Module) -> _Convolutions:
    embedding = nn.Embedding.from_pretrained(encoder.character_embedding.detach().clone(), freeze=False)
    made = []
    for ours in encoder.convolutions:
        number, dim, width = ours.weight.shape
        convolution = nn.Conv1d(dim, number, width)
        convolution.load_state_dict({"weight": ours.weight.detach(), "bias": ours.bias.detach()})
        made.append(convolution)
    return _Convolutions(embedding, made)
