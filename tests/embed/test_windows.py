"""Windows depend on the stream alone."""

from elmo.embed.windows import windows


def test_windows_are_bounded_in_sentences_and_tokens():
    sentences = [["a"] * length for length in (1, 1, 1, 8, 30, 0, 2)]
    sizes = [[len(sentence) for sentence in window] for window in windows(sentences, 3, 20)]
    assert sizes == [[1, 1, 1], [8], [30], [0, 2]]
    assert [len(window) for window in windows(sentences, 5, None)] == [5, 2]
    assert list(windows([], 5, 20)) == []


def test_windows_from_a_border_on_are_the_same():
    sentences = [["a"] * (length * 7 % 11) for length in range(40)]
    groups = list(windows(sentences, 6, 30))
    border = sum(map(len, groups[:3]))
    assert list(windows(sentences[border:], 6, 30)) == groups[3:]
