"""Korean nouns with particles."""

import pytest

from elmo.analysis.neighbors.particles import forms_of


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
