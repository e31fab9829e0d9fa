"""The char CNN of several widths: a token has one vector, regardless of the other tokens."""

import torch

from elmo.tasks.layers.char_windows import CharacterWindows

SENTENCES = [["Anna", "is", "in", "Rome", "is"], [], ["a", "", "unknowable"]]


def network(**settings) -> CharacterWindows:
    torch.manual_seed(0)
    return CharacterWindows("AnaRomeis", dim=5, filters=4, widths=(2, 3), **settings).eval()


def test_a_token_has_the_maximum_over_the_windows_that_begin_inside_it():
    cnn = network()
    found = cnn(SENTENCES)
    assert found.shape == (3, 5, 8)
    for row, column in ((0, 0), (0, 1), (2, 0), (2, 2)):
        ids = cnn._ids.of_words([SENTENCES[row][column]], min_length=1)[0]
        vectors = torch.cat([cnn.embedding(ids), torch.zeros(2, 5)])
        plain = [
            torch.stack(
                [
                    torch.relu(
                        (convolution.weight * vectors[place : place + width].T).sum(dim=(1, 2)) + convolution.bias
                    )
                    for place in range(len(ids))
                ]
            ).amax(dim=0)
            for width, convolution in zip((2, 3), cnn.convolutions, strict=True)
        ]
        torch.testing.assert_close(found[row, column], torch.cat(plain))


def test_equal_tokens_have_equal_vectors_and_padding_and_empty_tokens_have_none():
    found = network()(SENTENCES)
    assert torch.equal(found[0, 1], found[0, 4])
    assert (found[1] == 0).all()
    assert (found[2, 1] == 0).all()
    torch.testing.assert_close(network()([["is"]])[0, 0], found[0, 1])


def test_long_tokens_are_cut():
    cnn = network(max_characters=3)
    assert torch.equal(cnn([["Rome"]]), cnn([["Romania"]]))


def test_a_batch_without_tokens_is_no_error():
    assert network()([[], []]).shape == (2, 0, 8)
    assert network()([]).shape == (0, 0, 8)
