"""The bidirectional GRU: equal to torch's own on each sentence, indifferent to padding."""

import torch

from elmo.tasks.layers.recurrent.bigru import BiGRU


def test_each_row_equals_torchs_bidirectional_gru_on_it_alone():
    torch.manual_seed(0)
    layer, plain = BiGRU(4, 3), torch.nn.GRU(4, 3, batch_first=True, bidirectional=True)
    for own, suffix in ((layer.forward_gru, ""), (layer.backward_gru, "_reverse")):
        for name, parameter in own.named_parameters():
            parameter.data.normal_()
            getattr(plain, name + suffix).data.copy_(parameter)
    lengths = [5, 1, 3]
    vectors = torch.full((3, 6, 4), torch.nan)
    mask = torch.arange(6)[None, :] < torch.tensor(lengths)[:, None]
    vectors[mask] = torch.randn(9, 4)
    found = layer(vectors, mask)
    assert (found[~mask] == 0).all()
    found.sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in layer.parameters())
    for row, length in enumerate(lengths):
        torch.testing.assert_close(found[row, :length], plain(vectors[row : row + 1, :length])[0][0])


def test_a_batch_without_tokens_is_no_error():
    assert BiGRU(4, 3)(torch.zeros(2, 0, 4), torch.zeros(2, 0, dtype=torch.bool)).shape == (2, 0, 6)
