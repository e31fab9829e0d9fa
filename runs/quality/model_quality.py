"""How often a model is right in what the explorer page lists: writes `quality.json` into a model's folder.

    python runs/quality/model_quality.py MODEL HELD_OUT [SEMCOR]

`HELD_OUT`: tokenized sentences that the model has not seen, for words in gaps: 400 of them, drawn by a seed.
`SEMCOR`: `semcor.data.xml[.xz]` with its keys beside it, for senses. Every word (lemma and part of speech) with 20 to
200 occurrences in which no sense has more than 80 % is taken. Each of its occurrences, a query, finds the nearest one
of the same word in another document; it is right if both have the same sense. Chance is an occurrence drawn at random
from the other documents, the most frequent sense is counted there too.
"""

import json
import lzma
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from elmo import Embedder
from elmo.analysis.neighbors.context_index import unit
from elmo.embed.encoder import token_layers
from elmo.model.bilm import BiLM
from elmo.model.lm_head import LMHead
from elmo.text.vocabulary import SPECIAL_WORDS
from elmo.weights import formats, hub
from elmo_paper.analysis.senses.raganato import AnnotatedSentence, Instance, read_keys, read_sentences

SENTENCES, SHORTEST, LONGEST = 400, 5, 40
Word = tuple[str, str]
"""Lemma and part of speech."""
FEWEST, MOST, MOST_OF_A_SENSE = 20, 200, 0.8


def gap_words(model: str, text: Path) -> dict[str, object]:
    """First and first ten, by direction, over all places whose word is in the vocabulary."""
    checkpoint = formats.read(hub.resolve(model))
    bilm, head = BiLM.from_checkpoint(checkpoint).eval(), LMHead.from_checkpoint(checkpoint, model)
    with lzma.open(text, "rt", encoding="utf-8") if text.suffix == ".xz" else text.open(encoding="utf-8") as file:
        sentences = [tokens for line in file if SHORTEST <= len(tokens := line.split()) <= LONGEST]
    ranks: dict[str, list[int]] = defaultdict(list)
    for tokens in random.Random(14).sample(sentences, SENTENCES):
        for name, found in _ranks(bilm, head, tokens).items():
            ranks[name] += found
    share = {name: np.array(found) for name, found in ranks.items()}
    return {
        "first": {name: round(100 * float((found <= 1).mean()), 1) for name, found in share.items()},
        "first_ten": {name: round(100 * float((found <= 10).mean()), 1) for name, found in share.items()},
        "places": len(share["both"]),
        "data": text.parent.name,
    }


@torch.inference_mode()
def _ranks(bilm: BiLM, head: LMHead, tokens: list[str]) -> dict[str, list[int]]:
    """As `elmo.lm.substitutes.substitutes` for every place, but the network reads the sentence once."""
    characters = torch.from_numpy(bilm.token_map.ids(tokens).characters)[None]
    forward, backward = bilm(characters, None).layers[-1, 0].chunk(2, dim=1)
    chances = {
        "forward": torch.log_softmax(head.logits(forward[: len(tokens)]).double(), dim=1),
        "backward": torch.log_softmax(head.logits(backward[2 : len(tokens) + 2]).double(), dim=1),
    }
    ids = head.target_ids
    for values in chances.values():
        values[:, [ids.begin, ids.end, ids.unknown]] = -torch.inf
    chances["both"] = chances["forward"] + chances["backward"]
    known = [place for place, word in enumerate(tokens) if word in ids and word not in SPECIAL_WORDS]
    return {
        name: [int((values[place] >= values[place, ids.id(tokens[place])]).sum()) for place in known]
        for name, values in chances.items()
    }


@dataclass(frozen=True)
class Use:
    """One occurrence of an ambiguous word."""

    document: str
    sense: str
    vectors: np.ndarray
    """(layers and their mean, dim), unit vectors."""


def sense_neighbors(model: str, semcor: Path) -> dict[str, object]:
    """Share of occurrences whose nearest one in another document has the same sense, by layer."""
    embedder = Embedder.from_pretrained(model, dtype="auto")
    right: dict[str, list[float]] = defaultdict(list)
    uses = _uses(embedder, semcor)
    for of_word in uses.values():
        for name, scores in _scores(of_word).items():
            right[name] += scores
    percent = {name: round(100 * float(np.mean(scores)), 1) for name, scores in right.items()}
    return {
        "layers": [percent[f"layer {layer}"] for layer in range(embedder.num_layers)],
        "mean": percent[f"layer {embedder.num_layers}"],
        "chance": percent["chance"],
        "most_frequent": percent["most frequent"],
        "words": len(uses),
        "occurrences": len(right["chance"]),
        "data": "SemCor",
    }


def _uses(embedder: Embedder, semcor: Path) -> dict[Word, list[Use]]:
    senses = read_keys(semcor.with_name(semcor.name.replace(".data.xml", ".gold.key.txt")))
    sentences = list(read_sentences(semcor))
    counts: dict[Word, Counter[str]] = defaultdict(Counter)
    for _, one in _single(sentences, senses):
        counts[one.lemma, one.pos][min(senses[one.id])] += 1
    wanted = {
        word
        for word, found in counts.items()
        if FEWEST <= found.total() <= MOST and max(found.values()) <= MOST_OF_A_SENSE * found.total()
    }
    chosen = [one for one in sentences if any((it.lemma, it.pos) in wanted for _, it in _single([one], senses))]
    print(f"{len(wanted)} words, {len(chosen)} sentences", file=sys.stderr)
    uses: dict[Word, list[Use]] = defaultdict(list)
    for sentence, layers in zip(chosen, token_layers(embedder, [one.tokens for one in chosen]), strict=True):
        for _, one in _single([sentence], senses):
            if (one.lemma, one.pos) in wanted:
                vectors = np.concatenate([layers[:, one.start], layers[:, one.start].mean(axis=0, keepdims=True)])
                uses[one.lemma, one.pos].append(Use(sentence.document, min(senses[one.id]), unit(vectors)))
    return uses


def _single(
    sentences: list[AnnotatedSentence], senses: dict[str, tuple[str, ...]]
) -> Iterator[tuple[AnnotatedSentence, Instance]]:
    """Instances of one token."""
    for sentence in sentences:
        for one in sentence.instances:
            if one.end == one.start + 1 and one.id in senses:
                yield sentence, one


def _scores(uses: list[Use]) -> dict[str, list[float]]:
    documents, sense = np.array([one.document for one in uses]), np.array([one.sense for one in uses])
    other = documents[:, None] != documents[None]
    queries: list[int] = np.flatnonzero(other.any(axis=1)).tolist()
    same = sense[:, None] == sense[None]
    found: dict[str, list[float]] = {
        "chance": [float(same[query, other[query]].mean()) for query in queries],
        "most frequent": [float(_most_frequent(sense[other[query]]) == sense[query]) for query in queries],
    }
    for layer in range(len(uses[0].vectors)):
        vectors = np.stack([one.vectors[layer] for one in uses])
        nearest = np.where(other, vectors @ vectors.T, -np.inf).argmax(axis=1)
        # Equal cosines (layer 0: the same word form has the same vector) count as an occurrence drawn among them.
        found[f"layer {layer}"] = [_share(vectors, nearest, same, other, query) for query in queries]
    return found


def _share(vectors: np.ndarray, nearest: np.ndarray, same: np.ndarray, other: np.ndarray, query: int) -> float:
    cosines = np.where(other[query], vectors @ vectors[query], -np.inf)
    return float(same[query, cosines >= cosines[nearest[query]] - 1e-6].mean())


def _most_frequent(senses: np.ndarray) -> str:
    return Counter(senses.tolist()).most_common(1)[0][0]


def main(model: str, held_out: Path, semcor: Path | None = None) -> None:
    """Writes the file."""
    quality: dict[str, object] = {"model_hash": Embedder.from_pretrained(model).model_hash}
    quality["gap"] = gap_words(model, held_out)
    if semcor is not None:
        quality["senses"] = sense_neighbors(model, semcor)
    path = Path(str(hub.resolve(model))) / "quality.json"
    if path.is_file() and (note := json.loads(path.read_text(encoding="utf-8")).get("note")):
        quality["note"] = note  # written by hand
    path.write_text(json.dumps(quality, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:]))
