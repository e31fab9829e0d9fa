"""The files of table 5, read and checked: whatever can't give figures is refused here, before anything is embedded."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from elmo.errors import ConfigError, TextError
from elmo.process.progress.report import Count, Progress
from elmo_paper.analysis.senses.inventory import Inventory, SeenSenses, Word, count_senses, read_inventory
from elmo_paper.analysis.senses.raganato import AnnotatedSentence, read_keys, read_sentences
from elmo_paper.analysis.senses.score import Judged

ALL_SETS = "all"
"""What tables call all test sets together."""

_ENDING = ".data.xml"


@dataclass(frozen=True)
class SenseFiles:
    """What is trained and tested on. The keys of X.data.xml are in X.gold.key.txt beside it, packed or not."""

    train: Path
    tests: tuple[Path, ...]
    inventory: Path
    dev: Path | None = None
    """With it, the k nearest training instances vote too; k is what is best on this set, for each layer."""

    def by_name(self) -> dict[str, Path | tuple[Path, ...]]:
        """All files, by what a record calls them; "keys" are those of the corpora, in their order."""
        given = {name: file for name, file in vars(self).items() if file is not None}
        corpora = (self.train, *self.tests, *filter(None, [self.dev]))
        return {**given, "keys": tuple(map(key_file, corpora))}


@dataclass(frozen=True)
class TestSet:
    """A test set in memory: its words and their keys."""

    name: str
    sentences: tuple[AnnotatedSentence, ...]
    words: tuple[Word, ...]
    judged: tuple[Judged, ...]


@dataclass(frozen=True)
class SenseData:
    """What the files hold; the training corpus itself is read again for each encoder."""

    inventory: Inventory
    keys: Mapping[str, tuple[str, ...]]
    """Of the training corpus."""
    seen: SeenSenses
    num_sentences: int
    """In the training corpus."""
    sets: tuple[TestSet, ...]
    dev: TestSet | None


def read_files(files: SenseFiles, progress: Progress) -> SenseData:
    """Reads everything once. Raises ConfigError for test sets of the same name; TextError for a corpus
    without instances or with some that have no key, and for an inventory that lists no word of the test sets."""
    _require_own_names(files.tests)
    inventory = read_inventory(files.inventory)
    keys = read_keys(key_file(files.train))
    read = Count(progress, f"reading {files.train.name}", None, "sentences")
    seen = count_senses(keyed(read.each(read_sentences(files.train)), files.train, keys), keys)
    read.finish()
    sets = tuple(map(_test_set, files.tests))
    _require_listed(files.inventory, inventory, sets)
    dev = _test_set(files.dev) if files.dev else None
    return SenseData(inventory, keys, seen, read.done, sets, dev)


def key_file(data: Path) -> Path:
    """Where the keys of a corpus are. Raises TextError if there is no such file."""
    candidates = [data.with_name(f"{_name(data)}.gold.key.txt{packed}") for packed in ("", ".xz", ".gz", ".bz2")]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise TextError(f"{candidates[0]}: there is no such file, which should hold the keys of {data}. Put it there.")


def _name(data: Path) -> str:
    return data.name.partition(_ENDING)[0]


def _require_own_names(tests: Iterable[Path]) -> None:
    """ConfigError unless every test set has a column of its own."""
    found: dict[str, Path] = {}
    for path in tests:
        name = _name(path)
        if name == ALL_SETS:
            raise ConfigError(
                f"{path}: a test set can't be called {ALL_SETS!r}, since that is the column of all test sets together. "
                f"Rename it and its keys, for instance to my-{path.name}."
            )
        if name in found:
            raise ConfigError(
                f"{found[name]} and {path}: both test sets are called {name!r}, so their figures can't be told apart. "
                "Rename one of them and its keys."
            )
        found[name] = path
    if not found:
        raise ConfigError("there is no test set, so there is nothing to score. Name at least one with --test.")


def keyed(
    sentences: Iterable[AnnotatedSentence], path: Path, keys: Mapping[str, tuple[str, ...]]
) -> Iterator[AnnotatedSentence]:
    """The same sentences; after the last one, TextError if there was no instance, or one without a key."""
    count, first, missing = 0, "", 0
    for sentence in sentences:
        for instance in sentence.instances:
            count += 1
            if instance.id not in keys:
                first, missing = first or instance.id, missing + 1
        yield sentence
    if not count:
        raise TextError(
            f"{path}: has no <instance>, so none of its words has a sense. Name a sense-annotated corpus in the format "
            "of Raganato et al. 2017."
        )
    if missing:
        raise TextError(
            f"{key_file(path)}: has no keys for {first!r} of {path} (instances without keys: {missing:,} of "
            f"{count:,}), whose sense can't be known. Name matching files."
        )


def _test_set(path: Path) -> TestSet:
    keys = read_keys(key_file(path))
    sentences = tuple(keyed(read_sentences(path), path, keys))
    pairs = [(sentence, instance) for sentence in sentences for instance in sentence.instances]
    words = tuple((instance.lemma, instance.pos) for _, instance in pairs)
    judged = tuple(Judged(f"{_name(path)} {sentence.document}", keys[one.id]) for sentence, one in pairs)
    return TestSet(_name(path), sentences, words, judged)


def _require_listed(path: Path, inventory: Inventory, sets: Iterable[TestSet]) -> None:
    """TextError if no word of the test sets is in the inventory: it is of another language, or cut off."""
    words = list(dict.fromkeys(word for one in sets for word in one.words))
    if not any(word in inventory.senses for word in words):
        lemma, pos = words[0]
        raise TextError(
            f"{path}: lists {len(inventory.senses):,} words, but none of the {len(words):,} of the test sets, such as "
            f"{lemma!r} ({pos}), so there would be no first sense. Name the inventory that the keys were made with."
        )
