"""CoVe's files: the published layout is read, and what has another is refused."""

from pathlib import Path

import numpy as np
import pytest

from elmo.errors import WeightFileError
from elmo_paper.cove.files import files_of, read, shapes

torch = pytest.importorskip("torch")


def tensors(word_dim: int = 3, cells: int = 2) -> dict:
    random = np.random.default_rng(1)
    return {
        name: torch.tensor(random.standard_normal(shape), dtype=torch.float32)
        for name, shape in shapes(word_dim, cells).items()
    }


@pytest.fixture
def file(tmp_path) -> Path:
    return tmp_path / "weights.pth"


def test_the_published_sizes_are_16_tensors_and_3_609_600_numbers():
    found = shapes(300, 300)
    assert len(found) == 16
    assert sum(int(np.prod(shape)) for shape in found.values()) == 3_609_600
    lstm = torch.nn.LSTM(300, 300, num_layers=2, bidirectional=True)
    assert {name: tuple(tensor.shape) for name, tensor in lstm.state_dict().items()} == found


def test_a_state_dict_is_read(file):
    torch.save(tensors(), file)
    model = read(file)
    assert (model.word_dim, model.cells) == (3, 2)
    for name, tensor in tensors().items():
        assert np.array_equal(model.tensors[name], tensor.numpy()), name


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"weight_hh_l1_reverse": None}, "tensor 'weight_hh_l1_reverse' has shape none"),
        ({"weight_ih_l0": None}, "weight_ih_l0"),
        ({"weight_ih_l0": torch.zeros(0, 3)}, "weight_ih_l0"),
        ({"weight_ih_l0": torch.zeros(8)}, "weight_ih_l0"),
        ({"bias_ih_l0": torch.zeros(9)}, r"'bias_ih_l0' has shape \(9,\), but CoVe's LSTM .* asks for \(8,\)"),
        ({"weight_ih_l2": torch.zeros(8, 4)}, r"'weight_ih_l2' has shape \(8, 4\), .* asks for none"),
        ({"bias_hh_l1": torch.full((8,), torch.nan)}, "bias_hh_l1.*nan"),
        ({"bias_hh_l1": torch.full((8,), 1e300, dtype=torch.float64)}, "bias_hh_l1.*inf"),
    ],
)
def test_another_layout_is_refused(file, changed, said):
    torch.save({name: tensor for name, tensor in {**tensors(), **changed}.items() if tensor is not None}, file)
    with pytest.raises(WeightFileError, match=said):
        read(file)


def test_a_folder_holds_the_weights_and_the_vectors(tmp_path):
    for name in ("glove.txt", "mt.pth", ".hidden"):
        (tmp_path / name).touch()
    (tmp_path / "training").mkdir()
    assert files_of(tmp_path) == (tmp_path / "mt.pth", tmp_path / "glove.txt")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], "holds nothing, but a folder with two files"),
        (["mt.pth"], "holds mt.pth, but"),
        (["glove.txt"], "holds glove.txt, but"),
        (["a.txt", "b.txt", "c.pth", "d.pth", "e", "f"], "holds a.txt, b.txt, c.pth, d.pth, e, ..., but"),
    ],
)
def test_another_folder_is_refused(tmp_path, names, said):
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(WeightFileError, match=said):
        files_of(tmp_path)


def test_no_folder_is_told(tmp_path):
    with pytest.raises(WeightFileError, match="none: can't be listed"):
        files_of(tmp_path / "none")
