"""A trained model as it is shipped."""

import numpy as np
import pytest

from elmo import Embedder
from elmo.weights import formats
from elmo.weights.native.write import write

TEXT = "a b c\nc b\n"


@pytest.fixture
def trained(tmp_path, tiny_bilm):
    """A model's folder and its training text."""
    write(tiny_bilm.to_checkpoint(), tmp_path / "trained")
    (tmp_path / "text.txt").write_text(TEXT)
    return str(tmp_path / "trained"), str(tmp_path / "text.txt")


def test_a_shipped_model_is_int8_and_begins_warm_where_its_text_left_it(script, trained, tmp_path):
    model, text = trained
    out = str(tmp_path / "shipped")
    assert script.main([model, out, text, "--metadata", "tokens_read=5", "note=a = b"]) == 0
    shipped = formats.read(tmp_path / "shipped")
    assert shipped.metadata == {"tokens_read": "5", "note": "a = b"}
    expected = Embedder.from_pretrained(out, dtype="int8").warm_up([line.split() for line in TEXT.splitlines()])
    for name, array in expected.items():
        np.testing.assert_array_equal(shipped.warm_state[name], array)
    size = (tmp_path / "trained" / "model.safetensors").stat().st_size
    assert (tmp_path / "shipped" / "model.safetensors").stat().st_size < size


def test_metadata_without_a_value_is_refused_before_anything_is_written(script, trained, tmp_path, capsys):
    model, text = trained
    assert script.main([model, str(tmp_path / "shipped"), text, "--metadata", "tokens_read"]) == 2
    assert "Write NAME=VALUE" in capsys.readouterr().err
    assert not (tmp_path / "shipped").exists()
