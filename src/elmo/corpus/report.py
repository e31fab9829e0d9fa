"""The report on prepared data: the counts, and warnings about what is allowed but seldom intended."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from elmo.corpus.numbering import NumberedSplit
from elmo.corpus.splitting import TRAIN, VALID
from elmo.shapes import Int
from elmo.text.characters import BEGIN_SENTENCE, END_SENTENCE, CharacterMap
from elmo.text.vocabulary import SPECIAL_WORDS, Vocabulary

FileReports = list[dict[str, Any]]
"""path, sha256 and tokens of each"""


def split_report(
    split: NumberedSplit,
    files: FileReports,
    counts: Int[np.ndarray, " types"],
    words: Sequence[str],
    vocabulary: Vocabulary,
    character_map: CharacterMap,
) -> dict[str, Any]:
    """A split's figures; shares are of its tokens, from 0 to 1. `counts`: how often it has each of `words`."""
    num_types = len(words)
    num_bytes = np.fromiter((len(word.encode("utf-8", "ignore")) for word in words), np.int64, num_types)
    is_unknown = vocabulary.ids(words) == vocabulary.unknown_id  # also where the text itself says <UNK>
    is_listed = np.fromiter((word in vocabulary for word in words), bool, num_types)
    unknown, listed = int(counts[is_unknown].sum()), int(counts[is_listed & ~is_unknown].sum())
    truncated = int(counts[np.fromiter(map(character_map.is_cut, words), bool, num_types)].sum())
    return {
        "shards": split.shards,
        "sentences": split.sentences,
        "tokens": split.tokens,
        "types": int(np.count_nonzero(counts)),
        "oov_tokens": unknown,
        "oov_share": unknown / split.tokens,
        "beginning_share": (split.tokens - listed - unknown) / split.tokens,
        "truncated_tokens": truncated,
        "truncated_share": truncated / split.tokens,
        "mean_bytes_per_token": float(counts @ num_bytes) / split.tokens,
        "mean_tokens_per_sentence": split.tokens / split.sentences,
        "blank_lines": split.blank_lines,
        "bad_lines": split.bad_lines,
        **({"documents": split.documents} if split.documents else {}),
        "files": files,
    }


def text_warnings(
    splits: Mapping[str, NumberedSplit], files: Mapping[str, FileReports], *, is_shared: bool
) -> list[str]:
    """Files without a token, boundaries as words, the same file in two splits (unless it `is_shared` among them)."""
    found = []
    training = {file["sha256"]: file["path"] for file in files[TRAIN] if file["sha256"]}
    for name, split in splits.items():
        found += [f"{file['path']} ({name}) has no token." for file in files[name] if file["tokens"] == 0]
        for boundary, count in zip((BEGIN_SENTENCE, END_SENTENCE), split.boundary_counts, strict=True):
            if count:
                found.append(
                    f"the {name} text holds {boundary} as a word, {count} times: boundaries are added later, so "
                    "the model would see them twice. Remove them from the text."
                )
        if name != TRAIN and not (name == VALID and is_shared):
            found += [
                f"{file['path']} ({name}) is the same as {training[file['sha256']]} (train): a perplexity "
                "measured on it says nothing about new text."
                for file in files[name]
                if file["sha256"] in training
            ]
    return found


def vocabulary_warnings(
    vocabulary: Vocabulary, counts: Mapping[str, int], least_size: int | None, is_given: bool
) -> list[str]:
    """A vocabulary smaller than wanted, or a given one in another order than that of the training text's `counts`.

    `least_size`: the size wanted without its beginnings, of which there may be fewer.
    """
    if not is_given:
        if least_size is None or len(vocabulary) >= least_size:
            return []
        return [f"the vocabulary has {len(vocabulary)} words, not {least_size}: the training text has no more."]
    ordered = vocabulary.words[len(SPECIAL_WORDS) :]
    pairs = enumerate(zip(ordered, ordered[1:], strict=False), start=len(SPECIAL_WORDS) + 1)
    counts = _target_counts(vocabulary, counts)
    wrong = [(place, pair) for place, pair in pairs if counts[pair[0]] < counts[pair[1]]]
    if not wrong:
        return []
    place, (word, following) = wrong[0]
    return [
        f"the vocabulary's order doesn't follow the training text, {len(wrong):,} times in {len(ordered):,} words: "
        f"{word!r} (its word {place}) occurs {counts[word]} times, {following!r} (word {place + 1}) "
        f"{counts[following]} times. The sampled softmax assumes the order of frequency: use the full softmax, or a "
        "vocabulary of this text."
    ]


def _target_counts(vocabulary: Vocabulary, counts: Mapping[str, int]) -> dict[str, int]:
    """How many tokens each entry of the vocabulary is the target of."""
    occurrences = np.fromiter(counts.values(), dtype=np.int64, count=len(counts))
    found = np.zeros(len(vocabulary), dtype=np.int64)
    np.add.at(found, vocabulary.ids(list(counts)), occurrences)
    return dict(zip(vocabulary.words, found.tolist(), strict=True))
