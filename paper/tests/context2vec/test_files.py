"""context2vec's files: written and read again bit for bit, and refused if they are damaged."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from elmo.errors import WeightFileError
from elmo_paper.context2vec.files import (
    FILES,
    PARAMS_FILE,
    SPECIAL_WORDS,
    Sizes,
    from_torch,
    read,
    shapes,
    to_torch,
    write,
)

WORDS = (*SPECIAL_WORDS, "the", "고양이", "sat")


@pytest.fixture(params=[True, False], ids=["deep", "shallow"])
def sizes(request) -> Sizes:
    return Sizes(len(WORDS), 4, request.param)


@pytest.fixture
def arrays(sizes) -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    return {name: random.standard_normal(shape, dtype=np.float32) for name, shape in shapes(sizes).items()}


@pytest.fixture
def folder(tmp_path, sizes, arrays) -> Path:
    write(tmp_path, WORDS, sizes, to_torch(arrays), ["made for a test"])
    return tmp_path


def test_what_is_written_is_read_again_bit_for_bit(folder, sizes, arrays):
    assert {path.name for path in folder.iterdir()} == FILES
    for model in (read(folder), read(str(folder / PARAMS_FILE))):
        assert (model.words, model.sizes) == (WORDS, sizes)
        for name, array in from_torch(model.tensors, sizes).items():
            assert np.array_equal(array, arrays[name]), name


def test_the_rows_of_gates_are_interleaved_by_cell_in_files_and_in_blocks_in_torch(sizes, arrays):
    ours = to_torch(arrays)["left_lstm.weight_ih_l0"]
    theirs = arrays["l2r_1/upward/W"]
    cell, cells = 5, 2 * sizes.unit
    for block, gate in enumerate((1, 2, 0, 3)):  # input, forget, candidate, output
        assert np.array_equal(ours[block * cells + cell], theirs[4 * cell + gate])


def _params(folder: Path, **changed: str) -> None:
    path = folder / PARAMS_FILE
    pairs = dict(line.split("\t") for line in path.read_text().splitlines() if line[0] != "#")
    path.write_text("".join(f"{key}\t{value}\n" for key, value in (pairs | changed).items()))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"unit": "0"}, "unit"),
        ({"unit": "9" * 5000}, "unit"),
        ({"unit": "5"}, "shape"),
        ({"deep": "perhaps"}, "deep"),
        ({"model_file": "../model"}, "same folder"),
        ({"words_file": "/etc/passwd"}, "same folder"),
        ({"model_file": "a\0b"}, "same folder"),
        ({"model_file": "other"}, "other: there is no such file"),
        ({"words_file": PARAMS_FILE}, "words and vectors"),
        ({"model_file": PARAMS_FILE}, "is not an .npz"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(folder, changed, said):
    _params(folder, **changed)
    with pytest.raises(WeightFileError, match=said) as refused:
        read(folder)
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize(
    "lines", ["", "x y\n", "7 8\n<UNK> 1\n", "3 8\nthe 1\n<BOS> 1\n<EOS> 1\n", "2 8\n<UNK>\n<BOS>\n<EOS>\n"]
)
def test_words_that_do_not_fit_are_refused(folder, lines):
    (folder / "context2vec.targets").write_text(lines)
    with pytest.raises(WeightFileError, match="targets"):
        read(folder)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(WeightFileError, match="context2vec.params: there is no such file"):
        read(tmp_path)


def test_values_that_are_not_finite_are_refused(folder, sizes, arrays):
    arrays["l2r_embed/W"][2, 1] = np.nan
    write(folder, WORDS, sizes, to_torch(arrays))
    with pytest.raises(WeightFileError, match="nan"):
        read(folder)


def test_an_array_that_only_says_it_is_large_is_not_read(folder, sizes, arrays):
    """Its header is compared with the sizes first."""
    with zipfile.ZipFile(folder / "context2vec.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as file:
                shape = (1 << 40, 2) if name == "l2r_embed/W" else array.shape
                header = {"descr": "<f4", "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(file, header)
                file.write(array.tobytes())
    with pytest.raises(WeightFileError, match="shape"):
        read(folder)


def test_a_truncated_file_is_refused(folder):
    path = folder / "context2vec.npz"
    whole = path.read_bytes()
    for size in range(0, len(whole), 97):
        path.write_bytes(whole[:size])
        with pytest.raises(WeightFileError):
            read(folder)
