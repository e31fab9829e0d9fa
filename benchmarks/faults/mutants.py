"""Reliability S1: damaged model files are refused; they never crash, hang, or give other vectors without a word.

    python benchmarks/faults/mutants.py --mutants 10000

Small models of every format are written, one byte or a few of one of their files are damaged (a bit flipped, bytes
overwritten, zeroed, cut off, doubled), and the model is read. What may happen: an error that names the file, or the
very same model. Foreign files without a checksum of their own, of which nobody can know what is right, are counted
apart.

Every load happens in a child process with a limit on its memory; 10 seconds without an answer is a hang.
"""

import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import numpy as np
from record import ROOT, Record, Table, parser

from elmo.config import BiLMConfig
from elmo.errors import ElmoError
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap, WordMap
from elmo.weights import formats
from elmo.weights.allennlp.names import LstmNames, name_table
from elmo.weights.allennlp.options import options_of
from elmo.weights.allennlp.write import write as write_allennlp
from elmo.weights.checkpoint import Checkpoint, content_hash
from elmo.weights.fingerprint import fingerprint
from elmo.weights.native.write import write as write_native
from elmo.weights.shapes import network_shapes
from elmo.weights.tensorflow.crc32c import masked_crc32c

SECONDS = 10
OUTCOMES = ("refused", "same model", "crash", "hang", "raw exception", "out of memory", "silently another model")
WORDS = ["<S>", "</S>", "<UNK>", "the", "cat", "sat", "on", "mat"]
SIZES = {"character_dim": 3, "filters": ((1, 4), (2, 4)), "num_highway": 1, "cell_size": 12, "projection_size": 6}


@dataclass(frozen=True)
class Family:
    """Mutants of one kind of files."""

    name: str
    make: Callable[[Path], None]
    files: tuple[str, ...]
    fingerprint: bool = True
    """Whether anything in the files could tell that they changed, and "silently another model" is a fault."""
    share: float = 1.0


def main() -> int:
    """Runs the mutants and writes the record; exit code 1 if anything happened that must not."""
    arguments = parser(__doc__)
    arguments.add_argument("--mutants", type=int, default=10_000, help="of all kinds together")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--only", nargs="*", metavar="WORD", help="kinds whose name has one of these words")
    given = arguments.parse_args()
    families = [one for one in FAMILIES if not given.only or any(word in one.name for word in given.only)]
    shares = sum(one.share for one in families)
    rows, broken, unknowable, longest, largest = [], 0, 0, 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ELMO_CACHE"] = f"{folder}/cache"
        for family in families:
            count = max(1, round(given.mutants * family.share / shares))
            found, seconds, megabytes = run(family, Path(folder) / "work", count, given.seed)
            faults = sum(found[outcome] for outcome in OUTCOMES[2:6])
            silent = found["silently another model"]
            broken += faults + (silent if family.fingerprint else 0)
            unknowable += 0 if family.fingerprint else silent
            longest, largest = max(longest, seconds), max(largest, megabytes)
            rows.append([family.name, count, *(found[outcome] for outcome in OUTCOMES)])
            print(*rows[-1], sep="  ", flush=True)
    total = sum(row[1] for row in rows)
    text = (
        f"{broken} of {total:,} mutants did what must not happen. {unknowable} more were files without a checksum or a "
        "published hash, where nobody can tell a damaged file from a good one. "
        f"The longest load took {longest:.2f} s, memory grew by at most {largest} MB."
    )
    title = "Faults: damaged model files (S1)"
    Record("fault-mutants", title, [Table(["kind", "mutants", *OUTCOMES], rows)], text).write(given.results)
    return int(broken > 0)


def run(family: Family, work: Path, count: int, seed: int) -> tuple[Counter[str], float, int]:
    """The outcomes of `count` mutants, the seconds of the slowest and the growth of memory in MB."""
    chance = random.Random(f"{family.name}{seed}")
    outcomes: Counter[str] = Counter()
    longest, largest, done = 0.0, 0, 0
    good = work / "good"
    shutil.rmtree(work, ignore_errors=True)
    family.make(good)
    expected = facts(formats.read(good))
    while done < count:
        seeds = [chance.getrandbits(64) for _ in range(min(count - done, 100))]
        for outcome, seconds, megabytes in in_child(family, good, work / "mutant", expected, seeds):
            outcomes[outcome] += 1
            longest, largest, done = max(longest, seconds), max(largest, megabytes), done + 1
    return outcomes, longest, largest


def in_child(
    family: Family, good: Path, mutant: Path, expected: dict[str, object], seeds: list[int]
) -> Iterator[tuple[str, float, int]]:
    """The outcome of each seed's mutant; a child that dies costs the mutant it was at, and the rest are left."""
    near, far = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_work, args=(family, good, mutant, expected, seeds, far))
    child.start()
    far.close()
    for _ in seeds:
        if not near.poll(60 * SECONDS):
            child.kill()
            yield "hang", 60.0 * SECONDS, 0
            break
        try:
            yield near.recv()
        except EOFError:
            yield "crash", 0.0, 0
            break
    child.join()


def _work(family, good, mutant, expected, seeds, answers) -> None:
    signal.signal(signal.SIGALRM, _too_long)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + (1 << 30),) * 2)
    for seed in seeds:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        damage(family, good, mutant, random.Random(seed))
        begin = time.monotonic()
        outcome = _outcome(mutant, expected, seed)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
        answers.send((outcome, time.monotonic() - begin, grown))


class _TooLong(BaseException):
    pass


def _too_long(*_: object) -> None:
    raise _TooLong


def _outcome(mutant: Path, expected: dict[str, object], seed: int) -> str:
    signal.alarm(SECONDS)
    try:
        found = facts(formats.read(mutant))
    except ElmoError:
        return "refused"
    except _TooLong:
        return "hang"
    except MemoryError:
        return "out of memory"
    except Exception as error:
        print(f"{mutant.parent.name} seed {seed}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
        return "raw exception"
    finally:
        signal.alarm(0)
    return "same model" if found == expected else "silently another model"


def facts(checkpoint: Checkpoint) -> dict[str, object]:
    """All of a model that decides about vectors and perplexities."""
    return {
        "tensors": content_hash(checkpoint),
        "softmax": checkpoint.softmax and fingerprint(checkpoint.softmax),
        "warm state": checkpoint.warm_state and fingerprint(checkpoint.warm_state),
        "config": asdict(checkpoint.config),
        "tokens": checkpoint.token_map.to_dict(),
        "words": checkpoint.vocabulary,
    }


def damage(family: Family, good: Path, mutant: Path, chance: random.Random) -> None:
    """A copy of the good model with one file damaged."""
    shutil.rmtree(mutant, ignore_errors=True)
    shutil.copytree(good, mutant)
    path = mutant / chance.choice(family.files)
    content = bytearray(path.read_bytes())
    begin = chance.randrange(len(content))
    length = min(len(content) - begin, chance.choice((1, 2, 4, 16)))
    kind = chance.choice(("bit", "bit", "byte", "bytes", "zeros", "cut", "doubled"))
    if kind == "bit":
        content[begin] ^= 1 << chance.randrange(8)
    elif kind == "byte":
        content[begin] = chance.randrange(256)
    elif kind == "bytes":
        content[begin : begin + length] = chance.randbytes(length)
    elif kind == "zeros":
        content[begin : begin + length] = bytes(length)
    elif kind == "cut":
        del content[begin:]
    else:
        content[begin:begin] = content[begin : begin + length]
    path.write_bytes(bytes(content))


def small_model() -> Checkpoint:
    """A tiny model with a vocabulary and a softmax."""
    config = BiLMConfig(**SIZES)
    values = np.random.default_rng(7)
    tensors = {name: values.normal(size=shape).astype(np.float32) for name, shape in network_shapes(config)}
    tensors["token_encoder.character_embedding"][0] = 0
    softmax = {"weight": values.normal(size=(len(WORDS), 6)), "bias": values.normal(size=len(WORDS))}
    return Checkpoint(
        config,
        tensors,
        TokenMap(CharacterMap.for_bytes(config.max_characters_per_token)),
        vocabulary=WORDS,
        softmax={name: array.astype(np.float32) for name, array in softmax.items()},
    )


def word_model() -> Checkpoint:
    """A tiny model that reads words."""
    unread = ("character_dim", "filters", "num_highway")
    sizes = {name: value for name, value in SIZES.items() if name not in unread}
    config = BiLMConfig(characters="none", num_words=len(WORDS) + 1, word_dim=6, token_projection=False, **sizes)
    values = np.random.default_rng(8)
    tensors = {name: values.normal(size=shape).astype(np.float32) for name, shape in network_shapes(config)}
    tensors["token_encoder.word_embedding"][0] = 0
    return Checkpoint(config, tensors, TokenMap(None, WordMap({word: row for row, word in enumerate(WORDS, start=1)})))


def published(folder: Path) -> None:
    """Options and weights as others write them: without a fingerprint in the HDF5 file."""
    write_allennlp(small_model(), folder)
    for name in ("weights.hdf5", "softmax.hdf5"):
        (folder / name).write_bytes((folder / name).read_bytes().replace(b"elmo_sha256", b"some_sha256"))


def training_checkpoint(folder: Path) -> None:
    """A checkpoint as bilm-tf's training leaves it."""
    model = replace(small_model(), softmax=None)
    arrays = {}
    for entry in name_table(model.config, LstmNames()):
        name = entry.dataset.replace("RNN/MultiRNNCell/Cell", "rnn/multi_rnn_cell/cell_").replace("LSTM", "lstm_")
        for theirs, ours in (("W_P_0", "projection/kernel"), ("W_0", "kernel"), ("B", "bias")):
            name = name.removesuffix(f"/{theirs}") + f"/{ours}" if name.endswith(f"/{theirs}") else name
        name = name.replace("lstm_Cell", "lstm_cell")
        array = entry.layout.to_array(*(model.tensors[tensor] for tensor in entry.tensors))
        arrays[f"lm/{name}"] = np.ascontiguousarray(array, dtype="<f4")
    folder.mkdir(parents=True)
    pairs, data = {b"": b"\x08\x01"}, b""
    for name in sorted(arrays):
        content = arrays[name].tobytes()
        shape = b"".join(message(2, b"\x08" + _varint(size)) for size in arrays[name].shape)
        numbers = b"".join(
            _varint(key << 3) + _varint(value) for key, value in ((1, 1), (4, len(data)), (5, len(content)))
        )
        checksum = _varint(6 << 3 | 5) + masked_crc32c(content).to_bytes(4, "little")
        pairs[name.encode()] = numbers + message(2, shape) + checksum
        data += content
    (folder / "model.ckpt-7.index").write_bytes(sorted_table(b"".join(map(table_entry, pairs, pairs.values()))))
    (folder / "model.ckpt-7.data-00000-of-00001").write_bytes(data)
    (folder / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-7"\n')
    (folder / "options.json").write_text(json.dumps(options_of(model.config)))
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in WORDS))


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def message(key: int, content: bytes) -> bytes:
    """A field of bytes of a protocol buffer."""
    return _varint(key << 3 | 2) + _varint(len(content)) + content


def table_entry(key: bytes, value: bytes) -> bytes:
    """An entry of a sorted table, whose key shares no beginning with the key before."""
    return b"".join(map(_varint, (0, len(key), len(value)))) + key + value


def sorted_table(entries: bytes) -> bytes:
    """A sorted table of one block of entries."""

    def stored(block: bytes) -> bytes:
        block += (0).to_bytes(4, "little") + (1).to_bytes(4, "little") + b"\0"
        return block + masked_crc32c(block).to_bytes(4, "little")

    data = stored(entries)
    index = stored(table_entry(b"lm/z", b"\0" + _varint(len(data) - 5)))
    footer = _varint(0) + _varint(0) + _varint(len(data)) + _varint(len(index) - 5)
    return data + index + footer.ljust(40, b"\0") + (0xDB4775248B80FB57).to_bytes(8, "little")


def many_langs(folder: Path) -> None:
    """The small model of ELMoForManyLangs that the tests have."""
    shutil.copytree(ROOT / "tests" / "golden" / "efml_word_and_char", folder)


def native_of(model: Checkpoint) -> Callable[[Path], None]:
    """What writes the model in our own format."""
    return lambda folder: write_native(model, folder)


_PUBLISHED = ("weights.hdf5", "softmax.hdf5")
_TEXTS = ("options.json", "vocab.txt")
_BUNDLE = ("model.ckpt-7.index", "model.ckpt-7.data-00000-of-00001", "checkpoint")
_DICTIONARIES = ("char.dic", "word.dic", "config.json")
_PICKLES = ("token_embedder.pkl", "encoder.pkl")
FAMILIES = (
    Family("native: tensors", native_of(small_model()), ("model.safetensors", "softmax.safetensors")),
    Family("native: config and words", native_of(small_model()), ("config.json", "vocab.txt")),
    Family("native: tokens of a word model", native_of(word_model()), ("tokens.json",), share=0.5),
    Family("AllenNLP: HDF5 with our fingerprint", lambda folder: write_allennlp(small_model(), folder), _PUBLISHED),
    Family("bilm-tf: index and data", training_checkpoint, _BUNDLE),
    Family("AllenNLP: HDF5 of others", published, _PUBLISHED, fingerprint=False),
    Family("AllenNLP: options and words", published, _TEXTS, fingerprint=False, share=0.5),
    Family("bilm-tf: options and words", training_checkpoint, _TEXTS, fingerprint=False, share=0.5),
    Family("ManyLangs: dictionaries", many_langs, _DICTIONARIES, fingerprint=False, share=0.5),
    Family("ManyLangs: pickles", many_langs, _PICKLES, fingerprint=False),
)


if __name__ == "__main__":
    sys.exit(main())
