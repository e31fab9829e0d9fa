"""Tag schemes: every scheme writes the same entities, and conlleval's rules read them all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.tasks.tags import all_tags, follows, scheme_of, spans_of, split_tag, tags_of

SENTENCES = {
    "iob1": "O I-PER I-PER B-PER I-LOC O I-ORG B-ORG",
    "iob2": "O B-PER I-PER B-PER B-LOC O B-ORG B-ORG",
    "ioe1": "O I-PER E-PER I-PER I-LOC O E-ORG I-ORG",
    "ioe2": "O I-PER E-PER E-PER E-LOC O E-ORG E-ORG",
    "bioul": "O B-PER L-PER U-PER U-LOC O U-ORG U-ORG",
    "iobes": "O B-PER E-PER S-PER S-LOC O S-ORG S-ORG",
}
SPANS = [(1, 3, "PER"), (3, 4, "PER"), (4, 5, "LOC"), (6, 7, "ORG"), (7, 8, "ORG")]


@pytest.mark.parametrize("tags", SENTENCES.values(), ids=SENTENCES)
def test_the_same_entities_are_read_from_every_scheme(tags):
    assert spans_of(tags.split()) == SPANS


@pytest.mark.parametrize("scheme", ["iob1", "iob2", "bioul"])
def test_entities_are_written_in_the_scheme(scheme):
    assert tags_of(SPANS, 8, scheme) == SENTENCES[scheme].split()


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("", []),
        ("I-A B-B I-B", [(0, 1, "A"), (1, 3, "B")]),
        ("B-A I-B", [(0, 1, "A"), (1, 2, "B")]),
        ("O L-A I-A U-A", [(1, 2, "A"), (2, 3, "A"), (3, 4, "A")]),
        ("B-creative-work I-creative-work", [(0, 2, "creative-work")]),
    ],
)
def test_broken_sequences_are_read_as_conlleval_reads_them(tags, spans):
    assert spans_of(tags.split()) == spans


@given(st.lists(st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B"]), max_size=8))
def test_what_any_tags_mean_survives_every_scheme(tags):
    spans = spans_of(tags)
    for scheme in ("iob1", "iob2", "bioul"):
        written = tags_of(spans, len(tags), scheme)
        assert spans_of(written) == spans
        assert all(follows(a, b, scheme) for a, b in zip(["O", *written], [*written, "O"], strict=True))


@pytest.mark.parametrize(("name", "tags"), SENTENCES.items())
def test_the_scheme_is_found_out(name, tags):
    expected = {"ioe1": "ioe", "ioe2": "ioe", "iobes": "bioul"}.get(name, name)
    assert scheme_of([["O"], tags.split()]) == expected


def test_one_wrong_tag_doesnt_make_a_file_iob1():
    assert scheme_of([["B-A", "I-A"], ["O", "I-A"]]) == "iob2"
    assert scheme_of([["O"]]) == "iob2"


def test_all_tags_of_a_scheme_begin_with_o():
    assert all_tags(["X"], "bioul") == ["O", "B-X", "I-X", "U-X", "L-X"]
    assert all_tags(["X", "Y"], "iob2") == ["O", "B-X", "I-X", "B-Y", "I-Y"]
    assert split_tag("B-creative-work") == ("B", "creative-work")
