"""A model by its name: loaded once, held to its weights, small when pickled."""

import pickle
import shutil
import threading
from dataclasses import asdict
from functools import lru_cache

import pytest

from elmo import Embedder
from elmo.errors import ConfigError, WeightFileError
from elmo.integrations import model_reference
from elmo.integrations.model_reference import ModelReference


def test_a_model_is_loaded_once_for_all_objects_and_threads(tiny_model, monkeypatch):
    loads = []
    original = Embedder.from_pretrained
    monkeypatch.setattr(Embedder, "from_pretrained", lambda *a, **k: loads.append(a) or original(*a, **k))
    found = []
    threads = [threading.Thread(target=lambda: found.append(ModelReference(tiny_model).embedder)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1
    assert len(set(map(id, found))) == 1
    assert ModelReference(tiny_model, dtype="bfloat16").embedder is not found[0]


def test_a_pickled_reference_holds_no_weights(tiny_model):
    reference = ModelReference(tiny_model)
    assert reference.embedder.embed(["a b"])
    content = pickle.dumps(reference)
    assert len(content) < 1000
    assert pickle.loads(content).embedder is reference.embedder


def test_other_weights_under_the_same_name_are_an_error(tiny_model, other_model):
    reference = ModelReference(tiny_model)
    assert reference.model_hash is None
    assert reference.embedder.model_hash == reference.model_hash
    moved = ModelReference(**asdict(reference) | {"model": other_model})
    with pytest.raises(WeightFileError, match="has the weights .*, but this was made with"):
        _ = moved.embedder


def test_another_warm_state_of_the_same_weights_is_an_error(tiny_model, tmp_path):
    models = [shutil.copytree(tiny_model, tmp_path / name) for name in ("one", "other")]
    for model, text in zip(models, (["a", "b"], ["c", "d", "e"]), strict=True):
        embedder = Embedder.from_pretrained(model)
        embedder.warm_up([text])
        embedder.save_warm_state(model)
    reference = ModelReference(str(models[0]), state="warm")
    assert reference.embedder.model_hash != reference.model_hash
    assert ModelReference(**asdict(reference)).embedder is reference.embedder
    with pytest.raises(WeightFileError, match="has the weights and the warm state .*, but this was made"):
        _ = ModelReference(**asdict(reference) | {"model": str(models[1])}).embedder
    # Of an object that was saved before warm states were noted, the weights alone are known.
    old = asdict(reference) | {"model_hash": reference.embedder.model_hash}
    assert ModelReference(**old).embedder is reference.embedder


def test_no_name_is_the_default_of_the_moment_it_was_made(monkeypatch):
    monkeypatch.setenv("ELMO_MODEL", "small-ko")
    reference = ModelReference()
    monkeypatch.setenv("ELMO_MODEL", "small-en")
    assert reference.model == "small-ko"


def test_a_state_that_depends_on_the_order_of_calls_is_refused():
    with pytest.raises(ConfigError, match="state must be"):
        ModelReference(state="carry")


def test_only_a_few_models_stay_in_memory(tiny_model, monkeypatch):
    assert model_reference._loaded.cache_info().maxsize == 4
    monkeypatch.setattr(model_reference, "_loaded", lru_cache(1)(model_reference._loaded.__wrapped__))
    first = ModelReference(tiny_model).embedder
    _ = ModelReference(tiny_model, dtype="bfloat16").embedder
    assert ModelReference(tiny_model).embedder is not first
