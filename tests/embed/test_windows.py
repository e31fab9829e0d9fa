"""Windows depend on the stream alone."""

from hypothesis import given, settings
from hypothesis import strategies as st

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


@given(st.lists(st.integers(0, 12), max_size=30), st.integers(1, 10))
@settings(max_examples=200)
def test_windows_keep_the_order_and_the_bound_by_any_count(lengths, most):
    sentences = [["t"] * length for length in lengths]
    groups = list(windows(sentences, None, most, lambda sentence: max(1, len(sentence))))
    assert [sentence for group in groups for sentence in group] == sentences
    assert all(len(group) == 1 or sum(max(1, len(sentence)) for sentence in group) <= most for group in groups)
    assert all(groups)
