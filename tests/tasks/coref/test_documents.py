"""Documents in JSON lines and raw text, clusters that share mentions, windows, and the rule of equal texts."""

import json

import numpy as np
import pytest

from elmo.errors import TextError
from elmo.tasks.coref.documents import Document, WindowLimits, disjoint, random_window
from elmo.tasks.coref.read import jsonlines_documents, read_documents, read_unlabelled, write_jsonlines, write_text
from elmo.tasks.coref.task import TASK, equal_texts, mention_texts
from elmo.tasks.lines import labelled_lines
from elmo.text.tokenizer import tokenizer

VALUES = {
    "doc_key": "nw/anna_000",
    "sentences": [["Anna", "saw", "her", "dog", "."], ["It", "barked"]],
    "speakers": [["A"] * 5, ["B"] * 2],
    "clusters": [[[0, 0], [2, 2]], [[2, 3], [5, 5]]],
}


@pytest.fixture
def read(tmp_path):
    def read(values):
        path = tmp_path / "anna.jsonl"
        path.write_text("\n" + (values if isinstance(values, str) else json.dumps(values)) + "\n", encoding="utf-8")
        return jsonlines_documents(labelled_lines(path), str(path))

    return read


def test_json_lines_round_trip(read):
    (document,) = read(VALUES)
    assert document.clusters == (((0, 0), (2, 2)), ((2, 3), (5, 5)))
    (line,) = write_jsonlines(document, dict(zip(document.ids, document.clusters, strict=True)))
    assert json.loads(line) == VALUES


def test_speakers_and_clusters_may_be_missing(read):
    (document,) = read({"doc_key": "a", "sentences": [["Hi"]]})
    assert (document.speakers, document.clusters) == ((), ())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clusters": [[[2, 0]]]}, r"anna\.jsonl:2: clusters\[0\]\[0\] is \[2, 0\], not \[first token, last token\]"),
        ({"clusters": [[[0, 7]]]}, r"is \[0, 7\], not \[first token, last token\] of 7 words"),
        ({"clusters": [[[-1, 0]]]}, r"is \[-1, 0\], not"),
        ({"clusters": [[[0, "1"]]]}, r"clusters\[0\]\[0\]\[1\] must be a whole number"),
        ({"clusters": {}}, "clusters must be a list"),
        ({"speakers": [["A"]]}, "as many entries"),
        ({"sentences": ["Anna"]}, r"sentences\[0\] must be a list"),
        ({"doc_key": 3}, "doc_key must be a string"),
        ('{"doc_key"', r"anna\.jsonl:2: is not valid JSON"),
        ({"doc_key": "\ud800"}, r"anna\.jsonl:2: doc_key has one half of a surrogate pair"),
        ({"sentences": [["\ud800"]]}, r"anna\.jsonl:2: sentences\[0\]\[0\] has one half of a surrogate pair"),
        ("[]", r"anna\.jsonl:2: must be an object"),
    ],
)
def test_what_does_not_fit_is_named(read, change, message):
    with pytest.raises(TextError, match=message):
        read(change if isinstance(change, str) else {**VALUES, **change})


def test_a_mention_may_go_on_over_the_end_of_a_sentence(read):
    (document,) = read({**VALUES, "clusters": [[[4, 5]]]})
    assert document.clusters == (((4, 5),),)


def test_two_documents_of_one_name_are_refused(read):
    with pytest.raises(TextError, match=r"anna\.jsonl:3: .* is the name of another example too \(in .*anna\.jsonl:2"):
        read(json.dumps(VALUES) + "\n" + json.dumps(VALUES))


def test_raw_text_becomes_one_document_and_clusters_can_be_read_out(tmp_path):
    path = tmp_path / "anna.txt"
    path.write_text("Anna saw her dog. It\nbarked.\n\nShe laughed\n", encoding="utf-8")
    (document,) = read_unlabelled(path, "utf-8", tokenizer("unicode"))
    assert [" ".join(sentence) for sentence in document.sentences] == [
        "Anna saw her dog .",
        "It barked .",
        "She laughed",
    ]
    assert list(write_text(document, [[(0, 0), (2, 2), (8, 8)], [(2, 3), (5, 5)]])) == [
        "[Anna]1 saw [[her]1 dog]2 .",
        "[It]2 barked .",
        "[She]1 laughed",
        "",
        "1: Anna | her | She",
        "2: her dog | It",
    ]


def test_a_text_without_a_word_is_no_document(tmp_path):
    path = tmp_path / "empty.txt"
    path.write_text(" \n\n", encoding="utf-8")
    with pytest.raises(TextError, match="no word in it"):
        read_unlabelled(path, "utf-8", str.split)


def test_the_format_is_found_out(conll_file, tmp_path):
    path = tmp_path / "anna.txt"
    path.write_text(json.dumps(VALUES), encoding="utf-8")
    for file in (path, conll_file):
        (labelled,), (unlabelled,) = read_documents(file), read_unlabelled(file, "utf-8", str.split)
        assert len(labelled.clusters) == 2
        assert unlabelled == labelled.without_clusters()


def test_clusters_that_share_a_mention_become_one():
    clusters = [[(5, 5), (0, 0)], [(1, 1), (1, 1)], [(3, 4), (5, 5)], [(7, 7), (3, 4)]]
    assert disjoint(clusters) == [[(0, 0), (3, 4), (5, 5), (7, 7)], [(1, 1)]]


def test_a_window_keeps_the_mentions_inside_it(conll_file):
    (document,) = read_documents(conll_file)
    window = document.window(1, 5)
    assert window.sentences == (("It", "(2)", "barked"),)
    assert window.clusters == (((0, 0),),)
    assert window.speakers == ("B",) * 3


def document_of(lengths):
    """Each word is its number, a mention, and in a cluster with all others."""
    words = iter(range(sum(lengths)))
    sentences = tuple(tuple(str(next(words)) for _ in range(length)) for length in lengths)
    mentions = tuple((place, place) for place in range(sum(lengths)))
    return Document(("a", ""), sentences, tuple(map(str, range(sum(lengths)))), (mentions,))


def test_windows_stay_inside_their_limits_and_reach_every_sentence():
    document, random = document_of([3, 1, 4, 2, 6]), np.random.default_rng(0)
    seen = set()
    for _ in range(200):
        window = random_window(document, WindowLimits(3, 7), random)
        assert 1 <= len(window.sentences) <= 3
        assert window.num_tokens <= 7
        assert tuple(window.tokens) == window.speakers  # sentences, speakers and mentions are cut alike
        assert window.clusters == (tuple((place, place) for place in range(window.num_tokens)),)
        seen.update(window.tokens)
    assert len(seen) == 16


def test_small_documents_are_their_own_window():
    document, random = document_of([3, 4]), np.random.default_rng(0)
    assert random_window(document, WindowLimits(0, 0), random) is document
    assert random_window(document, WindowLimits(2, 7), random) is document


def test_a_sentence_longer_than_a_window_is_cut():
    window = random_window(document_of([20_000]), WindowLimits(5, 100), np.random.default_rng(0))
    assert window.num_tokens == 100
    assert window.clusters[0][-1] == (99, 99)


TRAIN = Document(
    ("a", ""),
    (("He", "saw", "it", ",", "and", "it", "rained"), ("it", "rained", "on", "him")),
    clusters=(((0, 0), (10, 10)), ((2, 2), (5, 5))),
)


def document(*sentences):
    return Document(("b", ""), tuple(tuple(sentence.split()) for sentence in sentences))


def test_texts_that_are_mentions_every_second_time_are_learned():
    assert mention_texts([TRAIN]) == {("he",), ("him",), ("it",)}  # "it" is one two times of three
    assert mention_texts([TRAIN, document("it is", "it may be")]) == {("he",), ("him",)}  # two of five


def test_equal_texts_and_names_corefer():
    text = document("Then Ada King met him", "It was late , and he told Ada King all", "He left")
    # "Then", "It" and "He" begin sentences, so they are no names; "him" stands alone.
    found = equal_texts(text, {("he",), ("him",)})
    assert found.clusters == [[(1, 2), (12, 13)], [(10, 10), (15, 15)]]
    assert found.kept == [(1, 2), (4, 4), (10, 10), (12, 13), (15, 15)]


def test_a_name_at_the_end_and_empty_documents():
    assert equal_texts(document("we met Bo", "you met Bo"), set()).clusters == [[(2, 2), (5, 5)]]
    assert equal_texts(document(), set()).clusters == []


def test_the_task_scores_it():
    (rule,) = TASK.rules([TRAIN])
    assert TASK.score([TRAIN], rule.predict([TRAIN]))["mentions"]["recall"] == 50  # he and him are not equal
