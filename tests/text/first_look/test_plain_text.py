"""The measure of texts with more than words: finds them, and is silent about prose."""

import json
import re
from pathlib import Path

import pytest

from elmo.text.first_look.plain_text import why_not_plain
from elmo.text.first_look.sample import look_at
from elmo.text.reading.settings import Reading

OTHER_FORMS = json.loads(Path(__file__).with_name("other_forms.json").read_text(encoding="utf-8"))
"""Small files with more than words, in forms that people publish or export, with own words."""

PROSE = {
    "dialogues": '"Yes", he said .\n"No", she said .\n"Why?"\n' * 8,
    "dialogues in French": "— Oui, dit-il.\n— Non !\n— Pourquoi ?\n" * 8,
    "dates": "".join(f"On 2023-04-{day} rain fell in the town .\n" for day in range(10, 30)),
    "years": "".join(f"{1970 + 4 * n}년 비가 왔다 .\n" for n in range(20)),
    "verses": "Rain fell,\nand fell again —\non Rome!\n" * 8,
    "lists": "- Buy milk\n- Buy bread, too\n* Call Anna (today)\n" * 8,
    "a table in prose": "It shows who lives where:\n| Anna | Rome |\n| Bo | Oslo |\nRain fell on both.\n" * 8,
    "chat": "A: Hi! How are you?\nB: Fine, thanks :)\nA: see you at 8 ^^\n" * 8,
    "Korean": "“비가 왔다!” 그녀가 말했다. ㅋㅋㅋ 정말?? 3시 21분에 (집에서)...\n" * 8,
    "German": "„Ja“, sagte er; die Straße war naß – 3,5 km weit.\n" * 8,
    "Japanese": "「雨が降った。」アンナはローマを去った！（１９７８年）\n雨《あめ》が、また……降った。\n" * 8,
    "Hindi": "बारिश हुई। अन्ना रोम से चली गई, हाँ!\n" * 8,
    "Arabic": "هطل المطر، وغادرت آنا روما؛ لماذا؟\n" * 8,
    "few tokens": "1 2 3\n",
}
ORDINARY = [
    "At 10:30, Ann : came .\nRain fell at 3:21 PM, and we left : late .\nIt was 2023 .\n",
    "On 30 April 2023 at 15:21, Ann wrote: rain fell .\nBo read it .\nCy left it .\n",
    "On 3 May 2023 at 10:30, the minister said: go home .\n",
    "2023. 4. 30. 오후 3:21, 서울시는 이렇게 밝혔다: 비가 온다 .\n",
    "In the 1st and 2nd half, at 10:30, Ann said: run .\n2 Cor. 4 and 1 Cor. 4:16, Paul says: love .\n",
    "Monday 1 May 2023 20:15 - News: the day\nTuesday 2 May 2023 20:15 - News: all\n",
    "Figure A.1: rain fell .\nTable B.2: rain fell again .\n",
    "'Tis late , he said .\nd'Anna left .\n\"Rain?\"\n",
    "Read https://a.org/the-rain-that-fell-on-the-town-and-on-its-many-hills .\nDonaudampfschifffahrtsgesellschaft !\n",
    "- 2023-04-30: rain fell .\n- 2023-05-01: sun .\n- 2023-05-02: rain .\n",
]
"""Sentences that have a little of the other forms."""


VERSES = [
    "In the beginning God made heaven and earth .",
    "God said , let there be light .",
    "He saw that it was good .",
]
NUMBERED = ["{0}", "{0}.", "{0})", "({0})", "1:{0}", "2.{0}.", "2023-04-{0}", "2023. 4. {0}.", "{0}.04.2023:"]


def enough(text: str) -> str:
    """As many of it as are measured."""
    return text * (1 + 24 // len(text.split()))


@pytest.mark.parametrize("kind", OTHER_FORMS)
def test_other_forms_are_told_with_their_share_and_an_example(kind):
    assert re.fullmatch(r"\d+% of its (tokens|lines) .* \(.*\)", why_not_plain([enough(OTHER_FORMS[kind])]) or "")


@pytest.mark.parametrize("text", [*PROSE.values(), *ORDINARY], ids=[*PROSE, *map(str, range(len(ORDINARY)))])
def test_nothing_is_told_of_prose(text):
    assert why_not_plain(text.split("\n")) is None


@pytest.mark.parametrize("numbering", NUMBERED)
def test_nothing_is_told_of_verses_lists_and_dated_lines(numbering):
    for lines in (VERSES * 8, ["Milk", "Bread", "Call Anna"] * 8):
        assert why_not_plain(f"{numbering.format(n)} {line}" for n, line in enumerate(lines, 1)) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("the/DT rain/NN fell/VBD .\n" * 8, "30% of its tokens are neither words nor marks of sentences ('/')"),
        ("{'id': 0, 'text': 'rain'}\n" * 8, '60% of its tokens are neither words nor marks of sentences ("\' { 0")'),
        ("Rain fell\tpositive\n" * 8, "100% of its lines have tabs between words ('Rain fell\\tpositive')"),
    ],
)
def test_what_is_told(text, told):
    assert why_not_plain([text]) == told


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        (["나/NP + 는/JX 밥/NNG + 을/JKO 먹/VV + 다/EF"], "is read as text, but 43% of its tokens are neither words"),
        (["Thousands", "of", "demonstrators", "marched"] * 5, "has one word in each line or row"),
    ],
)
def test_rows_of_another_form_are_pointed_out(rows, what):
    (warning,) = look_at(rows, Reading(), "t.csv").warnings()
    assert f"t.csv {what}" in warning


def test_words_of_columns_and_chinese_lines_without_spaces_are_not_called_lone_words():
    assert look_at([["Rain"], ["fell"]] * 20, Reading()).warnings() == []
    assert look_at(["我没有心"] * 20, Reading()).warnings() == []
