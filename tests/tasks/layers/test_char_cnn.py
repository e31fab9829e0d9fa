"""The task's own char CNN: a token has one vector, regardless of the other tokens."""

import torch

from elmo.tasks.layers.char_cnn import CharacterCNN, characters_of

SENTENCES = [["Anna", "is", "in", "Rome", "is"], [], ["a", "", "ünknown"]]


def network() -> CharacterCNN:
    torch.manual_seed(0)
    return CharacterCNN(characters_of(["Anna", "Rome", "is", "in", "a"]), dim=5, filters=7, width=3)


def test_a_token_has_the_vector_of_a_plain_convolution_over_it():
    cnn = network()
    found = cnn(SENTENCES)
    assert found.shape == (3, 5, 7)
    for row, column in ((0, 0), (0, 1), (2, 0), (2, 2)):
        word = SENTENCES[row][column]
        windows = cnn.embedding(cnn._ids.of_words([word], min_length=3)[0]).T[None]
        plain = torch.relu(torch.nn.functional.conv1d(windows, cnn.convolution.weight, cnn.convolution.bias)).amax(2)
        torch.testing.assert_close(found[row, column], plain[0])


def test_equal_tokens_have_equal_vectors_and_padding_has_none():
    found = network()(SENTENCES)
    assert torch.equal(found[0, 1], found[0, 4])
    assert (found[1] == 0).all()
    assert (found[2, 3:] == 0).all()


def test_unknown_characters_share_a_vector():
    cnn = network()
    one, other = cnn([["xAy"]]), cnn([["zAü"]])
    assert torch.equal(one, other)
    assert not torch.equal(one, cnn([["RAi"]]))


def test_a_batch_without_tokens_is_no_error():
    assert network()([[], []]).shape == (2, 0, 7)
    assert network()([]).shape == (0, 0, 7)
