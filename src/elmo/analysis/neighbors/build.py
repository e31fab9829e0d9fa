"""Building a context index: text -> every token's vectors by layer, in a folder that appears whole or not at all."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from elmo.analysis.neighbors import index_files as files
from elmo.analysis.neighbors.index_files import IndexFacts
from elmo.disk.atomic import new_folder
from elmo.disk.bounded import file_hash
from elmo.embed.encoder import token_layers
from elmo.errors import ConfigError, TextError
from elmo.process.progress.report import Count, Progress, following
from elmo.setting_checks import Seed, from_to, require_setting, require_value
from elmo.text.word_list import has_surrogate

if TYPE_CHECKING:
    from elmo.embed.embedder import Embedder

DEFAULT_TOKENS, MOST_TOKENS = 200_000, 1_000_000
_REPLACEABLE = frozenset({files.FACTS_FILE, *files.file_names(64)})


def build_index(
    sentences: Iterable[Sequence[str]],
    embedder: "Embedder",
    folder: Path | str,
    *,
    model: str = "",
    source: str = "",
    max_tokens: int = DEFAULT_TOKENS,
    sample: bool = False,
    seed: int = 0,
    force: bool = False,
    progress: Progress | bool = False,
) -> IndexFacts:
    """Embeds sentences and writes their index to `folder`.

    `max_tokens`: whole sentences are taken up to this many tokens: the first ones of the text, or with `sample` ones
    drawn from all of it (by `seed`, so that the same text always gives the same index). `model`, `source`: names that
    are recorded. `progress`: receives the sentences that are read and embedded; True: bars on stderr. `force` replaces
    an existing index.
    Raises ConfigError for impossible limits and a negative seed, TextError for a text without tokens, OutputError if
    `folder` exists.
    """
    require_value("max_tokens", max_tokens, Annotated[int, from_to(1, MOST_TOKENS)])
    require_value("seed", seed, Seed)
    require_setting(embedder.state != "carry", "state", embedder.state, "'zero': sentences stand alone in an index")
    with following(progress) as reported:
        read = Count(reported, "reading", None, "sentences")
        chosen, in_source = _chosen(_whole(read.each(sentences), source), max_tokens, sample, seed)
        read.finish()
        num_tokens = sum(map(len, chosen))
        size = 2 * embedder.layer_dim * num_tokens * embedder.num_layers
        with new_folder(Path(folder), size=size, force=force, replaceable=_REPLACEABLE) as unfinished:
            words = _write_text(unfinished, chosen)
            _write_layers(unfinished, chosen, words, embedder, reported)
            facts = IndexFacts(
                schema=files.SCHEMA,
                model=model,
                model_hash=embedder.model_hash,
                source=source,
                num_tokens=num_tokens,
                num_sentences=len(chosen),
                num_words=len(words),
                num_layers=embedder.num_layers,
                dim=embedder.layer_dim,
                tokens_in_source=in_source,
                sha256={name: file_hash(unfinished / name) for name in files.file_names(embedder.num_layers)},
            )
            files.write_facts(unfinished, facts)
    return facts


def _whole(sentences: Iterable[Sequence[str]], source: str) -> Iterator[Sequence[str]]:
    """The sentences. TextError, with the text's name and the number of the sentence, for a token with a space in it, or
    with half a character."""
    seen: set[str] = set()
    for number, sentence in enumerate(sentences, start=1):
        for word in sentence:
            if word not in seen and (not word or word.split() != [word] or has_surrogate(word)):
                raise TextError(
                    f"{source or 'the text'}: sentence {number}: the token {word!r} is empty, has a space or half a "
                    "character, so it can't be in an index. Split it, or replace what is wrong."
                )
            seen.add(word)
        yield sentence


def _chosen(
    sentences: Iterable[Sequence[str]], max_tokens: int, sample: bool, seed: int
) -> tuple[list[tuple[str, ...]], int]:
    """The sentences of the index, and the tokens of the whole text. Sentences without tokens are left out."""
    chosen: list[tuple[str, ...]] = []
    taken = in_source = 0
    if sample:
        whole = [tuple(sentence) for sentence in sentences if sentence]
        chosen, in_source = _sampled(whole, max_tokens, seed), sum(map(len, whole))
    else:
        for sentence in sentences:
            in_source += len(sentence)
            if sentence and taken + len(sentence) <= max_tokens and taken == in_source - len(sentence):
                chosen.append(tuple(sentence))
                taken += len(sentence)
    if not chosen:
        what = "has no tokens" if in_source == 0 else f"begins with a sentence of more than {max_tokens:,} tokens"
        raise TextError(f"the text {what}, so there is nothing to index. Name another text or raise the limit.")
    return chosen, in_source


def _sampled(sentences: list[tuple[str, ...]], max_tokens: int, seed: int) -> list[tuple[str, ...]]:
    sentences = [sentence for sentence in sentences if len(sentence) <= max_tokens]
    order = np.random.default_rng(seed).permutation(len(sentences))
    tokens = np.cumsum([len(sentences[place]) for place in order])
    places = np.sort(order[: int(np.searchsorted(tokens, max_tokens, side="right"))])
    return [sentences[place] for place in places]


def _write_text(folder: Path, sentences: Sequence[tuple[str, ...]]) -> dict[str, int]:
    """Writes sentences, distinct words and their places; word -> its row."""
    words: dict[str, int] = {}
    token_words = np.array([words.setdefault(word, len(words)) for one in sentences for word in one], dtype=np.int32)
    starts = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
    lines = "".join(" ".join(sentence) + "\n" for sentence in sentences)
    (folder / files.SENTENCES_FILE).write_text(lines, encoding="utf-8")
    (folder / files.WORDS_FILE).write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    np.save(folder / files.TOKEN_WORDS_FILE, token_words)
    np.save(folder / files.STARTS_FILE, starts)
    return words


def _write_layers(
    folder: Path,
    sentences: Sequence[tuple[str, ...]],
    words: dict[str, int],
    embedder: "Embedder",
    progress: Progress,
) -> None:
    num_tokens = sum(map(len, sentences))
    rows = [len(words), *[num_tokens] * (embedder.num_layers - 1)]
    arrays = [
        np.lib.format.open_memmap(folder / files.layer_file(layer), "w+", np.float16, (count, embedder.layer_dim))
        for layer, count in enumerate(rows)
    ]
    lengths = np.empty((embedder.num_layers, num_tokens), dtype=np.float32)
    start = 0
    embedded = Count(progress, "embedding", len(sentences), "sentences")
    for sentence, layers in embedded.each(zip(sentences, token_layers(embedder, sentences), strict=True)):
        norms = np.linalg.norm(layers, axis=-1)
        if not np.isfinite(norms).all():
            raise ConfigError(
                f"the model's vectors of {' '.join(sentence)[:60]!r} are not finite numbers: it is damaged, or its "
                "training diverged. Use another one."
            )
        units = layers / np.maximum(norms[..., None], np.finfo(np.float32).tiny)
        lengths[:, start : start + len(sentence)] = norms
        arrays[0][[words[word] for word in sentence]] = units[0]
        for array, unit in zip(arrays[1:], units[1:], strict=True):
            array[start : start + len(sentence)] = unit
        start += len(sentence)
    np.save(folder / files.LENGTHS_FILE, lengths)
    for array in arrays:
        array.flush()
