"""Where tokens stand in the text they were made of."""

from hypothesis import given
from hypothesis import strategies as st

from elmo.text.reading.spans import token_spans
from elmo.text.tokenizer import sentence_spans, split_sentences, tokenizer

raw = st.text(st.sampled_from("ab .,\"'()n't\u200b\u3000은행다!?\n中U.S1😀\u0301-"), max_size=40)


@given(raw, st.sampled_from(["whitespace", "unicode"]))
def test_every_token_of_our_tokenizers_is_found_where_it_stands(text, name):
    tokens = tokenizer(name)(text)
    spans = token_spans(text, tokens)
    assert [text[start:end] for start, end in spans.tolist()] == tokens
    assert (spans[1:, 0] >= spans[:-1, 1]).all()
    assert (token_spans(text, tokens, 7) == spans + 7).all()


def test_a_token_that_was_changed_is_nowhere_and_those_after_it_are_found():
    text = 'He said "no (way)" .'
    tokens = ["He", "said", "``", "no", "-LRB-", "way", "-RRB-", "''", "."]
    found = [text[a:b] if a >= 0 else None for a, b in token_spans(text, tokens).tolist()]
    assert found == ["He", "said", None, "no", None, "way", None, None, "."]


def test_no_token_is_found_far_from_where_it_must_be():
    text = "a " + "x " * 50 + "b"
    assert token_spans(text, ["a", "b"]).tolist() == [[0, 1], [-1, -1]]
    assert token_spans(text, ["a", "?", "b"]).tolist()[2] == [-1, -1]
    assert token_spans("abc", ["", "abc"]).tolist() == [[-1, -1], [0, 3]]


@given(raw)
def test_the_spans_of_sentences_hold_the_text_once(text):
    spans = sentence_spans(text)
    assert [" ".join(text[start:stop].split()) for start, stop in spans] == split_sentences(text)
    assert all(text[start:stop] == text[start:stop].strip() for start, stop in spans)
    rest = "".join(text[a:b] for (_, a), (b, _) in zip([(0, 0), *spans], [*spans, (len(text),) * 2], strict=True))
    assert not rest.strip()
