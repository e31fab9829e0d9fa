"""Korean verbs with endings, nouns with particles."""

import unicodedata

import pytest

from elmo.analysis.neighbors.korean import forms_of, verb_forms_of


@pytest.mark.parametrize(
    ("verb", "forms", "others"),
    [
        (
            "타다",
            "타고 타는 탔다 탄 탈 타서 타면 탑니다 타 타다가 타지 탔던 타자마자",
            "탁자 타인 탈의실은 타령 다고",
        ),
        ("쓰다", "쓴다 썼다 쓰고 써서 쓸 씁니다 쓰면 쓰시던", "쓰레기 쓰라린 쓱 썩다 쓰다듬다"),
        ("먹다", "먹고 먹는다 먹었다 먹은 먹으면 먹어 먹습니다 먹자", "먹거리를 먹물 먹이다 막아"),
        ("묻다", "묻고 묻어서 물어서 물었다 묻은 물으면", "물고 물가 묻힌"),
        ("부르다", "부르고 불렀다 불러서 부른 부르면", "부릉 불다"),
        ("모으다", "모아 모았다 모은 모으고", "모이다 모래"),
        ("마시다", "마신다 마셨다 마시고 마셔서 마시면", "마침"),
        ("만들다", "만드는 만든 만들었다 만듭니다 만들면 만들 만들고", "만두 만드레"),
        ("돕다", "돕고 도와 도왔다 도우면 도운", "도움닫기 돌아"),
        ("낫다", "낫고 나아서 나았다 나은 나으면", "나무"),
        ("하다", "하고 했다 해 하여 한 할 합니다", "하늘 한국 할머니가 하루"),
        ("오다", "온 왔다 와서 오면", "오이 옷"),
    ],
)
def test_words_are_a_verb_with_endings_that_can_follow_it(verb, forms, others):
    found = verb_forms_of(verb, [*others.split(), *forms.split()])
    assert found == forms.split()


def test_it_is_the_same_in_decomposed_letters():
    assert verb_forms_of(unicodedata.normalize("NFD", "타다"), ["탔다", unicodedata.normalize("NFD", "탔다")]) == [
        "탔다",
        unicodedata.normalize("NFD", "탔다"),
    ]


@pytest.mark.parametrize("verb", ["", "다", "탔", "tada", "타다."])
def test_what_no_dictionary_has_has_no_forms(verb):
    assert verb_forms_of(verb, ["타고"]) == []


@pytest.mark.parametrize(
    ("noun", "forms", "others"),
    [
        ("배", ["배", "배가", "배를", "배에서도", "배로", "배까지는"], ["배은", "배우", "배경이", "배으로", "나배"]),
        ("눈", ["눈이", "눈을", "눈으로", "눈만", "눈에는"], ["눈가", "눈를", "눈로", "눈물이"]),
        ("말", ["말이", "말로", "말로는", "말처럼"], ["말으로", "말가", "말다", "말라"]),
        ("TV", ["TV가", "TV를", "TV는"], ["TVs"]),
    ],
)
def test_words_are_a_noun_with_particles_that_can_follow_it(noun, forms, others):
    assert forms_of(noun, [*others, *forms]) == forms
    assert forms_of(unicodedata.normalize("NFD", noun), [*others, *forms]) == forms
