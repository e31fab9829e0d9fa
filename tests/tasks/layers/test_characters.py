"""The char CNN of several widths: a token has one vector, regardless of the other tokens."""

import torch

from elmo.tasks.labels import characters_of
from elmo.tasks.layers.characters import CharacterCNN, CharacterWindows

CNN_SENTENCES = [["Anna", "is", "in", "Rome", "is"], [], ["a", "", "ünknown"]]


def one_width() -> CharacterCNN:
    torch.manual_seed(0)
    return CharacterCNN(characters_of(["Anna", "Rome", "is", "in", "a"]), dim=5, filters=7, width=3)


def test_a_token_has_the_vector_of_a_plain_convolution_over_it():
    cnn = one_width()
    found = cnn(CNN_SENTENCES)
    assert found.shape == (3, 5, 7)
    for row, column in ((0, 0), (0, 1), (2, 0), (2, 2)):
        word = CNN_SENTENCES[row][column]
        windows = cnn.embedding(cnn._ids.of_words([word], min_length=3)[0]).T[None]
        plain = torch.relu(torch.nn.functional.conv1d(windows, cnn.convolution.weight, cnn.convolution.bias)).amax(2)
        torch.testing.assert_close(found[row, column], plain[0])
    assert (found[1] == 0).all() and (found[2, 3:] == 0).all()
    assert cnn([[], []]).shape == (2, 0, 7) and cnn([]).shape == (0, 0, 7)


def test_unknown_characters_share_a_vector():
    cnn = one_width()
    one, other = cnn([["xAy"]]), cnn([["zAü"]])
    assert torch.equal(one, other)
    assert not torch.equal(one, cnn([["RAi"]]))


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
    assert (found[1] == 0).all() and (found[2, 1] == 0).all()
    assert cnn([[], []]).shape == (2, 0, 8) and cnn([]).shape == (0, 0, 8)


def test_long_tokens_are_cut():
    cnn = network(max_characters=3)
    assert torch.equal(cnn([["Rome"]]), cnn([["Romania"]]))
