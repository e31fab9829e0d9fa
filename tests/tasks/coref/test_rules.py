"""The rule that resolves coreference."""

from elmo.tasks.coref.documents import Document
from elmo.tasks.coref.task import TASK, equal_texts, mention_texts

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
