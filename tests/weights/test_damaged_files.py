"""Files that are damaged, cut off or made to do harm: a clear error, or the very model; nothing else."""

import json
import random
import struct
from collections import Counter

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elmo.errors import ConfigError, ElmoError, WeightFileError
from elmo.weights.allennlp.read import read as read_allennlp
from elmo.weights.native.read import read as read_checkpoint

LAYER = "RNN_0/RNN/MultiRNNCell/Cell0/LSTMCell"


def read_published(folder):
    return read_allennlp(folder / "options.json", folder / "weights.hdf5")


def mutants(original, count, seed):
    """Changed bytes, bits, words; cuts; insertions; half of them within the first 2 kB and the last 512 bytes."""
    chance = random.Random(seed)
    borders = [*range(min(2048, len(original) - 8)), *range(max(0, len(original) - 512), len(original) - 8)]
    for number in range(count):
        content = bytearray(original)
        place = chance.choice(borders) if number % 2 else chance.randrange(len(content) - 8)
        match number % 5:
            case 0:
                content[place] = (content[place] + chance.randrange(1, 256)) % 256
            case 1:
                content[place] ^= 1 << chance.randrange(8)
            case 2:
                content[place : place + 8] = chance.choice([bytes(8), b"\xff" * 8, b"\xff\xff\xff\x7f" + bytes(4)])
            case 3:
                del content[place:]
            case 4:
                content[place:place] = chance.randbytes(chance.choice([1, 8, 100]))
        yield bytes(content)


def outcomes(path, contents, read, require_equal, original):
    """How often a damaged file was an error or the very model; any other outcome fails."""
    counts = Counter()
    for content in contents:
        path.write_bytes(content)
        try:
            found = read()
        except ElmoError as error:
            assert path.name in str(error)
            counts["error"] += 1
        else:
            require_equal(found, original)
            counts["equal"] += 1
    return counts


@pytest.mark.slow
def test_hdf5_mutants_are_errors_or_the_very_model(published, require_equal):
    path = published / "weights.hdf5"
    original = read_published(published)
    contents = mutants(path.read_bytes(), 600, seed=1)
    counts = outcomes(path, contents, lambda: read_published(published), require_equal, original)
    assert counts["error"] > 300


def test_safetensors_mutants_are_errors_or_the_very_model(native, require_equal):
    path = native / "model.safetensors"
    original = read_checkpoint(native)
    contents = mutants(path.read_bytes(), 600, seed=2)
    counts = outcomes(path, contents, lambda: read_checkpoint(native), require_equal, original)
    assert counts["error"] > 500


@pytest.mark.parametrize("name", ["options.json", "config.json"])
def test_json_mutants_never_raise_anything_raw(published, native, name):
    folder, read = (published, read_published) if name == "options.json" else (native, read_checkpoint)
    path = folder / name
    errors = 0
    for content in mutants(path.read_bytes(), 300, seed=3):
        path.write_bytes(content)
        try:
            read(folder)
        except (WeightFileError, ConfigError) as error:
            assert name in str(error)
            errors += 1
    assert errors > 200


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    header=st.dictionaries(
        st.sampled_from(["token_encoder.projection.bias", "__metadata__", "x"]),
        st.recursive(
            st.none() | st.integers(-(2**70), 2**70) | st.sampled_from(["F32", "I8", "BF16", "sha256"]),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["dtype", "shape", "data_offsets", "sha256"]), inner, max_size=3)
            ),
            max_leaves=6,
        ),
        max_size=3,
    ),
    length=st.none() | st.integers(0, 2**64 - 1),
    tail=st.binary(max_size=40),
)
def test_made_up_safetensors_headers_are_refused(native, header, length, tail):
    text = json.dumps(header).encode()
    size = struct.pack("<Q", len(text) if length is None else length)
    (native / "model.safetensors").write_bytes(size + text + tail)
    with pytest.raises(WeightFileError, match="model.safetensors"):
        read_checkpoint(native)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not an HDF5 file, but begins with b''"),
        (b"version https://git-lfs.github.com/spec/v1\n", "begins with b'version https://git-lfs"),
        (b"\x89HDF\r\n\x1a\n", "can't be used"),
    ],
)
def test_files_that_are_not_hdf5_are_named_by_their_beginning(published, content, message):
    (published / "weights.hdf5").write_bytes(content)
    with pytest.raises(WeightFileError, match=f"weights.hdf5: .*{message}"):
        read_published(published)


def test_missing_files_are_named(published, native):
    with pytest.raises(WeightFileError, match="nowhere.hdf5: there is no such file"):
        read_allennlp(published / "options.json", published / "nowhere.hdf5")
    with pytest.raises(WeightFileError, match="nowhere.json: there is no such file"):
        read_allennlp(published / "nowhere.json", published / "weights.hdf5")
    (native / "model.safetensors").unlink()
    with pytest.raises(WeightFileError, match="model.safetensors: there is no such file"):
        read_checkpoint(native)


def replaced(make):
    """A change of a file that puts something else in the place of one dataset."""

    def change(file):
        values = file[f"{LAYER}/B"][()]
        del file[f"{LAYER}/B"]
        make(file, f"{LAYER}/B", values)

    return change


def external_storage(file, name, values):
    place = file.filename + ".raw"
    values.tofile(place)
    file.create_dataset(name, values.shape, "<f4", external=[(place, 0, values.nbytes)])


def virtual(file, name, values):
    layout = h5py.VirtualLayout(values.shape, "<f4")
    layout[:] = h5py.VirtualSource(file.filename, "elsewhere", shape=values.shape)
    file.create_virtual_dataset(name, layout)


def huge(file, name, values):
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_alloc_time(h5py.h5d.ALLOC_TIME_LATE)
    h5py.h5d.create(file.id, name.encode(), h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((10**12,)), properties)


HOSTILE = {
    "soft link": (replaced(lambda f, n, v: f.__setitem__(n, h5py.SoftLink("/char_embed"))), "asks for"),
    "soft link loop": (replaced(lambda f, n, v: f.__setitem__(n, h5py.SoftLink(f"/{n}"))), "asks for"),
    "external link": (replaced(lambda f, n, v: f.__setitem__(n, h5py.ExternalLink("/etc/passwd", "x"))), "asks for"),
    "external storage": (replaced(external_storage), "keeps its values in other files"),
    "virtual": (replaced(virtual), "keeps its values in other files"),
    "huge": (replaced(huge), r"has shape \(1000000000000,\): with it the datasets have more than .* bytes"),
    "huge gzip": (
        replaced(lambda f, n, v: f.create_dataset(n, (10**9,), "<f4", compression="gzip", chunks=(1000,))),
        "the datasets have more than .* bytes, the most that are read from a file of",
    ),
    "unwritten chunks": (
        replaced(lambda f, n, v: f.create_dataset(n, v.shape, "<f4", compression="gzip", chunks=(6,))),
        "does not hold all of its values",
    ),
    "never written": (replaced(lambda f, n, v: f.create_dataset(n, v.shape, "<f4")), "does not hold all of its values"),
    "text of any length": (replaced(lambda f, n, v: f.create_dataset(n, data=["a", "b"])), "has type object"),
    "whole numbers": (replaced(lambda f, n, v: f.create_dataset(n, data=v.astype("<i4"))), "has type int32"),
    "half precision": (replaced(lambda f, n, v: f.create_dataset(n, data=v.astype("<f2"))), "has type float16"),
    "big-endian": (replaced(lambda f, n, v: f.create_dataset(n, data=v.astype(">f4"))), "has type >f4"),
    "one number": (replaced(lambda f, n, v: f.create_dataset(n, data=np.float32(1))), r"has shape \(\)"),
    "nothing at all": (replaced(lambda f, n, v: f.create_dataset(n, data=h5py.Empty("f4"))), "can't be used"),
    "a named type": (replaced(lambda f, n, v: f.__setitem__(n, np.dtype("f4"))), "asks for"),
    "missing": (replaced(lambda f, n, v: None), f"dataset '{LAYER}/B' has shape none"),
    "an extra one": (
        lambda f: f.__setitem__("CNN/extra", np.ones(3, "f4")),
        r"'CNN/extra' has shape \(3,\).* asks for none",
    ),
    "NaN": (lambda f: f[f"{LAYER}/B"].__setitem__(3, np.nan), rf"dataset '{LAYER}/B' has the value nan at \(3,\)"),
    "too large for float32": (
        replaced(lambda f, n, v: f.create_dataset(n, data=np.full(v.shape, 1e300))),
        "has the value inf",
    ),
    "a changed value": (lambda f: f[f"{LAYER}/B"].__setitem__(3, 0.5), "don't have the SHA-256"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_hdf5_is_refused_with_file_and_reason(published, what):
    change, message = HOSTILE[what]
    with h5py.File(published / "weights.hdf5", "a") as file:
        change(file)
    with pytest.raises(WeightFileError, match=f"weights.hdf5: .*{message}"):
        read_published(published)
