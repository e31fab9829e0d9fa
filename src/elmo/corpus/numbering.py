"""Parts -> one table of words with their counts -> shards, numbered by frequency; and the report on them.

Two walks over the parts: the first counts, the second writes. Both hold one part at a time, and the words.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from elmo.corpus.block_reader import BAD_LINES_LISTED
from elmo.corpus.parts import TRAIN, VALID, Part, Piece, PlacedPart, TextFile, WordNumbers
from elmo.corpus.shards import BEGIN_SENTENCE_TYPE, END_SENTENCE_TYPE, offsets_path, tokens_path
from elmo.shapes import Int, UInt32
from elmo.text.characters import BEGIN_SENTENCE, END_SENTENCE, CharacterMap
from elmo.text.vocabulary import SPECIAL_WORDS, Vocabulary

_MOST_CUT = 0.01
_MOST_UNKNOWN = 0.5

FileReports = list[dict[str, Any]]
"""path, sha256 and tokens of each"""


@dataclass
class NumberedSplit:
    """The counts of one split."""

    name: str
    shards: int = 0
    sentences: int = 0
    tokens: int = 0
    documents: int = 0
    blank_lines: int = 0
    bad_lines: int = 0
    file_tokens: Counter[int] = field(default_factory=Counter)
    """Tokens by number of the file"""
    _counts: Int[np.ndarray, " types"] = field(default_factory=lambda: np.zeros(2, np.int64))

    def counts(self, num_types: int) -> Int[np.ndarray, " types"]:
        """Occurrences by type number, int64."""
        return np.pad(self._counts, (0, max(0, num_types - len(self._counts))))[:num_types]

    def count(self, file: TextFile, piece: Piece, numbers: Int[np.ndarray, " words"], num_types: int) -> None:
        """Counts a piece; `numbers`: of its part's words in the corpus, which has `num_types` so far."""
        if len(self._counts) < num_types:
            # Room for more, so that it isn't copied for every part.
            self._counts = self.counts(num_types + num_types // 4)
        self._counts[numbers] += np.bincount(piece.tokens, minlength=len(numbers))
        self.sentences += len(piece.lengths)
        self.tokens += len(piece.tokens)
        self.documents += piece.num_documents
        self.file_tokens[file.number] += len(piece.tokens)


@dataclass(frozen=True)
class NumberedCorpus:
    """All splits, and the words with their numbers, which count from 0; the boundaries have the first two."""

    splits: dict[str, NumberedSplit]
    numbers: dict[str, int] = field(repr=False)
    bad_lines: list[str] = field(repr=False)
    """Messages of the first `BAD_LINES_LISTED` lines that couldn't be read."""

    def frequency_order(self, split: str) -> Int[np.ndarray, " types"]:
        """Numbers by descending count in `split`, ties by the words, the boundaries first; int64."""
        words = list(self.numbers)
        counts = self.splits[split].counts(len(words))
        boundaries = [BEGIN_SENTENCE_TYPE, END_SENTENCE_TYPE]
        rest = np.array(sorted(range(len(boundaries), len(words)), key=words.__getitem__), dtype=np.int64)
        return np.concatenate([np.array(boundaries), rest[np.argsort(-counts[rest], kind="stable")]])


def count_corpus(text: Iterable[PlacedPart], names: Sequence[str], check: Callable[[], None]) -> NumberedCorpus:
    """Numbers and counts all words of a text's parts; its splits are called `names`. `check` may raise to stop."""
    numbers = WordNumbers({BEGIN_SENTENCE: BEGIN_SENTENCE_TYPE, END_SENTENCE: END_SENTENCE_TYPE})
    corpus = NumberedCorpus({name: NumberedSplit(name) for name in names}, numbers, [])
    for file, part, pieces in text:
        check()
        own_split = corpus.splits[file.split]
        own_split.blank_lines += part.blank_lines
        own_split.bad_lines += part.num_bad_lines
        corpus.bad_lines.extend(part.bad_lines[: BAD_LINES_LISTED - len(corpus.bad_lines)])
        of_words = _of_words(part, numbers)
        for piece in pieces:
            corpus.splits[piece.split].count(file, piece, of_words, len(numbers))
    return corpus


def write_shards(
    text: Iterable[PlacedPart],
    corpus: NumberedCorpus,
    order: Int[np.ndarray, " types"],
    folder: Path,
    tokens_per_shard: int,
    check: Callable[[], None],
) -> None:
    """Writes the shards of all splits to `folder`, in the order of the text; words are numbered by `order`.

    A shard is closed at the end of the sentence that fills it.
    """
    place = np.empty(len(order), dtype=np.uint32)
    place[order] = np.arange(len(order), dtype=np.uint32)
    writers = {name: _ShardWriter(folder, split, tokens_per_shard) for name, split in corpus.splits.items()}
    for _, part, pieces in text:
        check()
        of_words = place[_of_words(part, corpus.numbers)]
        for piece in pieces:
            writers[piece.split].add(of_words[piece.tokens], piece.lengths)
    for writer in writers.values():
        writer.close()


def _of_words(part: Part, numbers: dict[str, int]) -> Int[np.ndarray, " words"]:
    """The numbers of the part's words in the corpus, int64."""
    return np.fromiter(map(numbers.__getitem__, part.words), np.int64, len(part.words))


class _ShardWriter:
    """Cuts one split's sentences into shards."""

    def __init__(self, folder: Path, split: NumberedSplit, tokens_per_shard: int) -> None:
        self._folder = folder
        self._split = split
        self._limit = tokens_per_shard
        self._tokens: list[UInt32[np.ndarray, " tokens"]] = []
        self._lengths: list[Int[np.ndarray, " sentences"]] = []
        self._held = 0

    def add(self, tokens: UInt32[np.ndarray, " tokens"], lengths: Int[np.ndarray, " sentences"]) -> None:
        ends = np.cumsum(lengths, dtype=np.int64)
        first = first_token = 0
        # The sentence that fills the shard is the last of it.
        while (last := int(np.searchsorted(ends, self._limit - self._held + first_token))) < len(ends):
            end = int(ends[last])
            self._hold(tokens[first_token:end], lengths[first : last + 1])
            self._write()
            first, first_token = last + 1, end
        self._hold(tokens[first_token:], lengths[first:])

    def close(self) -> None:
        if self._held:
            self._write()

    def _hold(self, tokens: UInt32[np.ndarray, " tokens"], lengths: Int[np.ndarray, " sentences"]) -> None:
        self._tokens.append(tokens)
        self._lengths.append(lengths)
        self._held += len(tokens)

    def _write(self) -> None:
        name, index = self._split.name, self._split.shards
        np.save(tokens_path(self._folder, name, index), np.concatenate(self._tokens))
        offsets = np.cumsum(np.concatenate([[0], *self._lengths]), dtype=np.int64)
        np.save(offsets_path(self._folder, name, index), offsets)
        self._split.shards += 1
        self._tokens, self._lengths, self._held = [], [], 0


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
        for boundary, number in ((BEGIN_SENTENCE, BEGIN_SENTENCE_TYPE), (END_SENTENCE, END_SENTENCE_TYPE)):
            if count := split.counts(2)[number]:
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


def cut_warnings(reports: Mapping[str, Mapping[str, Any]], characters: int) -> list[str]:
    """Splits of which more than 1% of the tokens are cut. `characters`: those that are kept, in bytes."""
    return [
        f"{report['truncated_share']:.1%} of the tokens of the {name} text are longer than {characters} bytes, and all "
        "behind that is cut off. Thai, Khmer, Japanese and other text without spaces must be split into words first: "
        "write it so, or name a function with --tokenizer module:function."
        for name, report in reports.items()
        if report["truncated_share"] > _MOST_CUT
    ]


def vocabulary_warnings(
    vocabulary: Vocabulary, counts: Mapping[str, int], least_size: int | None, is_given: bool
) -> list[str]:
    """A vocabulary smaller than wanted; a given one that has a word twice or what is none, that lacks most words of the
    training text, or has another order than its `counts`.

    `least_size`: the size wanted without its beginnings, of which there may be fewer.
    """
    if not is_given:
        if least_size is None or len(vocabulary) >= least_size:
            return []
        return [f"the vocabulary has {len(vocabulary)} words, not {least_size}: the training text has no more."]
    ordered = vocabulary.words[len(SPECIAL_WORDS) :]
    found = []
    if idle := [word for word, times in Counter(vocabulary.words).items() if times > 1 or word.split() != [word]]:
        found.append(
            f"{len(idle):,} words of the vocabulary stand twice, are empty or have a space in them, such as "
            f"{idle[0]!r}: a row of each is never trained. Write each word once, one per line and without counts, "
            "unless the vocabulary is that of a model."
        )
    unknown = Counter({word: count for word, count in counts.items() if vocabulary.id(word) == vocabulary.unknown_id})
    if unknown.total() > _MOST_UNKNOWN * sum(counts.values()):
        found.append(
            f"{unknown.total() / sum(counts.values()):.0%} of the training text's tokens, such as "
            f"{unknown.most_common(1)[0][0]!r}, are not in the vocabulary, and the model learns <UNK> for them. "
            "Use a vocabulary in the text's language and case, or leave it out, and one is made of the text."
        )
    pairs = enumerate(zip(ordered, ordered[1:], strict=False), start=len(SPECIAL_WORDS) + 1)
    counts = _target_counts(vocabulary, counts)
    wrong = [(place, pair) for place, pair in pairs if counts[pair[0]] < counts[pair[1]]]
    if not wrong:
        return found
    place, (word, following) = wrong[0]
    return [
        *found,
        f"the vocabulary's order doesn't follow the training text, {len(wrong):,} times in {len(ordered):,} words: "
        f"{word!r} (its word {place}) occurs {counts[word]} times, {following!r} (word {place + 1}) "
        f"{counts[following]} times. To fine-tune the vocabulary's own model, that is as it should be. To pretrain a "
        "new one, whose sampled softmax assumes the order of frequency, use the full softmax, or a vocabulary of this "
        "text.",
    ]


def _target_counts(vocabulary: Vocabulary, counts: Mapping[str, int]) -> dict[str, int]:
    occurrences = np.fromiter(counts.values(), dtype=np.int64, count=len(counts))
    found = np.zeros(len(vocabulary), dtype=np.int64)
    np.add.at(found, vocabulary.ids(list(counts)), occurrences)
    return dict(zip(vocabulary.words, found.tolist(), strict=True))
