"""The texts on which the course trains a biLM: English and Korean, 110,000 tokens each: one tokenized sentence a line.

    python runs/pages/course_texts.py FAIRY_TALES NSMC docs/course/texts

`FAIRY_TALES` is 2591-h/2591-h.htm of github.com/GITenberg/Grimms-Fairy-Tales_2591 (commit a5daec70): the tales,
with straight quotes, and an empty line after each. `NSMC` is the folder raw of github.com/e9t/nsmc (commit
cc0670e8): the reviews of whole sentences in which every word is frequent, so that what is left is spelled and spaced as
usual; an empty line after each film.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from elmo.text.tokenizer import split_sentences, tokenizer

TOKENS = 110_000
TIMES = 10  # a word of a review is in so many of all reviews
FEWEST = 2  # reviews of a film
_TIDY = re.compile(r"(?:[가-힣]+,? )+[가-힣]+[.!?](?: (?:[가-힣]+,? )+[가-힣]+[.!?])*")
_UNWANTED = re.compile(
    r"새끼|병신|씨발|시발|지랄|미친|년[이아들]|놈|개같|쓰레기|벌레|여자|남자|"
    r"섹|벗|야한|알바|좆|죽|강간|창녀|게이|포르노|베드|야동|성폭|장애"
)


def tales(page: str) -> Iterator[str]:
    """The lines of the tales, and an empty one after each."""
    for tale in page[: page.rindex('<div class="mynote">')].split("<h2>")[2:]:
        paragraphs = re.findall(r"<p>(.*?)</p>", tale, flags=re.DOTALL)
        yield from filter(None, (straight(" ".join(unescape(re.sub(r"<.*?>", "", it)).split())) for it in paragraphs))
        yield ""


def straight(text: str) -> str:
    """The text with " where someone speaks, ' where a letter is left out, and dashes between spaces."""
    text = re.sub(r"(?<=\w)’(?=\w)|(?<=s)’", "'", text)
    return re.sub(r"\s*(?:--|—)\s*", " - ", re.sub("[‘’“”]", '"', text))


def reviews(folder: Path) -> Iterator[str]:
    """The lines of the reviews, and an empty one after each film."""
    films = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    texts = [list(dict.fromkeys(review["review"].strip() for review in film)) for film in films]
    words = Counter(word for film in texts for text in film for word in set(re.findall(r"\w+", text)))
    tokens = 0
    for film in texts:
        tidy = [text for text in film if is_tidy(text, words)]
        if len(tidy) >= FEWEST and tokens < TOKENS:
            yield from [*tidy, ""]
            tokens += sum(len(re.findall(r"\w+|[^\w\s]", text)) for text in tidy)


def is_tidy(text: str, words: Counter[str]) -> bool:
    """Whether the text is whole sentences of frequent words."""
    found = re.findall(r"\w+", text)
    return bool(
        len(found) > 3 and _TIDY.fullmatch(text) and min(map(words.__getitem__, found)) >= TIMES
    ) and not _UNWANTED.search(text)


if __name__ == "__main__":
    page, raw, folder = map(Path, sys.argv[1:])
    for name, lines in (("grimm-en.txt", tales(page.read_text("utf-8"))), ("reviews-ko.txt", reviews(raw))):
        sentences = [it for line in lines for it in (split_sentences(line) if line else [""])]
        tokenized = "\n".join(" ".join(tokenizer("unicode")(it)) for it in sentences)
        (folder / name).write_text(tokenized.strip() + "\n", encoding="utf-8")
