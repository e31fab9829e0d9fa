"""Questions whose answer is the word after "in", in SQuAD's JSON."""

import json
import random
from pathlib import Path

import pytest

CITIES = ["Rome", "Oslo", "Bern", "New York"]
WORDS = ["she", "sleeps", "often", "he", "was", "seen"]


def squad_json(count: int, seed: int) -> dict:
    """`count` paragraphs with a question each, in articles of four."""
    chance = random.Random(seed)
    paragraphs = []
    for number in range(count):
        city = chance.choice(CITIES)
        before = " ".join(chance.choices(WORDS, k=chance.randrange(5)))
        context = f"{before} lives in {city} {chance.choice(WORDS)} .".strip()
        answers = [{"text": city, "answer_start": context.index(city)}]
        answers += [{"text": f"in {city}", "answer_start": context.index(f"in {city}")}] if number % 3 == 0 else []
        qas = [{"id": f"{seed}-{number}", "question": "Where does she live?", "answers": answers}]
        paragraphs.append({"context": context, "qas": qas})
    data = [{"title": f"A{start}", "paragraphs": paragraphs[start : start + 4]} for start in range(0, count, 4)]
    return {"version": "1.1", "data": data}


@pytest.fixture
def squad_files(tmp_path) -> Path:
    """A folder with train.json (48 questions), dev.json (16) and small.toml."""
    for name, count, seed in (("train", 48, 1), ("dev", 16, 2)):
        (tmp_path / f"{name}.json").write_text(json.dumps(squad_json(count, seed)), encoding="utf-8")
    (tmp_path / "small.toml").write_text(
        "hidden_size = 6\ncharacter_filters = 8\ncharacter_vector = 6\nepochs = 6\nbatch_size = 8\n"
        "learning_rate = 0.02\ndropout = 0.0\nmin_character_count = 1\n"
    )
    return tmp_path
