"""ElmoModule in a SentenceTransformer."""

import json

import numpy as np
import pytest

library = pytest.importorskip("sentence_transformers")

import torch  # noqa: E402
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer  # noqa: E402
from sentence_transformers.sentence_transformer import losses  # noqa: E402
from sentence_transformers.sentence_transformer.modules import Pooling  # noqa: E402
from sentence_transformers.sentence_transformer.training_args import SentenceTransformerTrainingArguments  # noqa: E402

from elmo import Embedder  # noqa: E402
from elmo.errors import ConfigError, WeightFileError  # noqa: E402
from elmo.integrations.sentence_transformers import ElmoModule, elmo_modules, load  # noqa: E402

TEXTS = ["the cat sat", "a dog", "", "the bank was steep .", "밥을 먹었다"]


def made(model: str, **settings) -> SentenceTransformer:
    return SentenceTransformer(modules=elmo_modules(model, **settings), device="cpu")


@pytest.mark.parametrize("layers", ["average", "top", 0, [0.5, 0.25, 0.25], "all"])
def test_vectors_of_tokens_are_those_of_the_embedder_bit_for_bit(tiny_model, layers):
    found = made(tiny_model, layers=layers).encode(TEXTS, output_value="token_embeddings")
    embedder = Embedder.from_pretrained(tiny_model)
    for text, tensor in zip(TEXTS, found, strict=True):
        (expected,) = embedder.embed([text.split()], layers)
        if layers == "all":
            expected = np.concatenate(list(expected), axis=1)
        if not text:  # the library keeps at least one row
            expected = np.zeros_like(expected, shape=(1, expected.shape[1]))
        np.testing.assert_array_equal(tensor.numpy(), expected)


def test_sentence_vectors_are_the_mean_and_an_empty_text_is_zeros(tiny_model):
    found = made(tiny_model, normalize=False).encode(TEXTS)
    expected = Embedder.from_pretrained(tiny_model).embed([text.split() for text in TEXTS], "average", pool="mean")
    np.testing.assert_allclose(found, expected, atol=1e-7)
    assert not found[2].any()
    unit = made(tiny_model).encode(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(unit[[0, 1, 3, 4]], axis=1), 1, atol=1e-6)
    assert not unit[2].any()


def test_only_empty_texts_and_none_at_all(tiny_model):
    model = made(tiny_model)
    assert not model.encode(["", " "]).any()
    assert len(model.encode([])) == 0


@pytest.mark.parametrize("pool", ["cls", "lasttoken", "max", "mean", "mean_sqrt_len_tokens", "weightedmean"])
@pytest.mark.parametrize("normalize", [False, True])
def test_an_empty_text_is_zeros_in_every_pooling(tiny_model, pool, normalize):
    found = made(tiny_model, pool=pool, normalize=normalize).encode(["", "a b c"])
    assert not found[0].any() and np.isfinite(found).all() and found[1].any()


def test_a_pooling_leaves_out_the_prompt_if_it_is_told_to(tiny_model):
    first = ElmoModule(tiny_model)
    model = SentenceTransformer(modules=[first, Pooling(first.dim, "mean", include_prompt=False)], device="cpu")
    (rows,) = Embedder.from_pretrained(tiny_model).embed([["the", "a", "b"]], "average")
    np.testing.assert_allclose(model.encode(["a b"], prompt="the ")[0], rows[1:].mean(axis=0), atol=1e-6)


@pytest.mark.parametrize("text", ["He said , it was steep .", ["He", "said", ",", "it", "was", "steep", "."]])
def test_a_prompt_has_the_same_tokens_alone_and_before_a_text(tiny_model, text):
    found = ElmoModule(tiny_model).preprocess([text], prompt="query: ")
    assert found["tokens"] == [["query", ":", "He", "said", ",", "it", "was", "steep", "."]]
    assert found["prompt_length"] == 2


@pytest.mark.parametrize("text", [None, float("nan")])
def test_a_prompt_hides_no_missing_value_and_no_list_of_tokens(tiny_model, text):
    model = made(tiny_model)
    np.testing.assert_array_equal(model.encode([["the", "cat"]], prompt="a "), model.encode(["a the cat"]))
    with pytest.raises(ConfigError, match=r"sentences\[\d\] must be a list of tokens or a string"):
        model.encode(["the cat", text], prompt="a ")


def test_the_untrained_mix_is_the_average(tiny_model):
    mixed = made(tiny_model, layers="mix").encode(TEXTS)
    np.testing.assert_allclose(mixed, made(tiny_model).encode(TEXTS), atol=1e-6)


@pytest.mark.parametrize("layers", ["average", "mix", [np.float32(0.5), 0, 1], np.ones(3), torch.ones(3)], ids=str)
def test_saved_and_loaded_gives_the_same_and_holds_no_weights(tiny_model, tmp_path, layers):
    modules = elmo_modules(tiny_model, layers=layers)
    model = SentenceTransformer(modules=modules, prompts={"q": "a "}, truncate_dim=8, device="cpu")
    if isinstance(layers, str) and layers == "mix":
        with torch.no_grad():
            model[0].weights.copy_(torch.tensor([1.0, -2.0, 0.5]))
    before = model.encode(TEXTS)
    model.save(str(tmp_path / "saved"))
    assert sum(path.stat().st_size for path in (tmp_path / "saved" / "0_ElmoModule").iterdir()) < 5000
    again = load(tmp_path / "saved")
    np.testing.assert_array_equal(again.encode(TEXTS), before)
    assert again.prompts["q"] == "a " and before.shape == (5, 8)
    flagged = SentenceTransformer(str(tmp_path / "saved"), trust_remote_code=True, device="cpu")
    np.testing.assert_array_equal(flagged.encode(TEXTS), before)


def test_a_folder_of_another_model_or_code_is_not_loaded(tiny_model, other_model, tmp_path):
    made(tiny_model).save(str(tmp_path / "saved"))
    path = tmp_path / "saved" / "0_ElmoModule" / "config.json"
    path.write_text(path.read_text().replace(tiny_model, other_model))
    with pytest.raises(WeightFileError, match="but this was made with"):
        load(tmp_path / "saved")
    path = tmp_path / "saved" / "modules.json"
    listed = json.loads(path.read_text())
    listed[1]["type"] = "os.system"
    path.write_text(json.dumps(listed))
    with pytest.raises(ConfigError, match=r"has a module os\.system"):
        load(tmp_path / "saved")
    with pytest.raises(ConfigError, match="modules.json: there is no such file"):
        load(tmp_path)


def test_training_moves_the_mix_and_only_the_mix(tiny_model, tmp_path):
    from datasets import Dataset

    model = made(tiny_model, layers="mix")
    assert [name for name, _ in model.named_parameters()] == ["0.weights", "0.gamma"]
    pairs = {"sentence1": ["a cat", "a dog"] * 20, "sentence2": ["the cat", "the bank"] * 20, "score": [1.0, 0.0] * 20}
    data = Dataset.from_dict(pairs)
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path / "run"),
        max_steps=20,
        per_device_train_batch_size=3,
        learning_rate=0.1,
        report_to=[],
        use_cpu=True,
        save_strategy="no",
        disable_tqdm=True,
    )
    loss = losses.CosineSimilarityLoss(model)
    SentenceTransformerTrainer(model=model, args=arguments, train_dataset=data, loss=loss).train()
    assert model[0].weights.abs().max() > 0.05


@pytest.mark.slow  # processes that import everything anew
def test_two_processes_give_the_same_vectors(tiny_model):
    model = made(tiny_model)
    pool = model.start_multi_process_pool(["cpu", "cpu"])
    try:
        found = model.encode(TEXTS * 10, pool=pool, chunk_size=7)
    finally:
        model.stop_multi_process_pool(pool)
    np.testing.assert_array_equal(found, model.encode(TEXTS * 10))


@pytest.mark.filterwarnings("ignore:'pin_memory' argument:UserWarning")
def test_the_guide_runs(run_guide):
    run_guide("sentence-transformers.md")


def test_a_column_of_texts_has_a_vector_for_each_row(tiny_model):
    pandas, model = pytest.importorskip("pandas"), made(tiny_model)
    for column in (pandas.Series(TEXTS, index=range(5, 10)), np.array(TEXTS), iter(TEXTS)):
        np.testing.assert_array_equal(model.encode(column), model.encode(TEXTS))
    assert model.encode(TEXTS[0]).shape == (16,)
    with pytest.raises(ConfigError, match="its rows are texts"):
        model[0].preprocess([pandas.Series(TEXTS)])
