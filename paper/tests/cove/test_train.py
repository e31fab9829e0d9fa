"""Training: it learns to translate, goes on where it was stopped, and refuses what can't be learned from."""

import json
import math
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from elmo import Progress
from elmo.errors import ConfigError, Interrupted, OutputError, TextError, WeightFileError
from elmo.process.stop_flag import StopFlag
from elmo.static.vectors import StaticVectors, read_static_vectors, write_static_vectors
from elmo_paper.cove.encoder import CoVeEncoder
from elmo_paper.cove.network import SPECIAL_WORDS, Translator
from elmo_paper.cove.pairs import NumberedPairs, Pairs, read_pairs, target_words
from elmo_paper.cove.settings import CoVeSettings
from elmo_paper.cove.train import ParallelText, perplexity, train_cove, translations

NOUNS = {"고양이": "die katze", "개": "ein hund", "말": "das pferd"}
DICTIONARY = {**NOUNS, "본다": "sieht", "먹는다": "frisst", "빵": "brot"}
SETTINGS = CoVeSettings(cells=12, dropout=0.0, batch_pairs=6, epochs=2)


def sentences() -> tuple[list[str], list[str]]:
    """30 sentences of three words, and word for word what they mean."""
    objects, verbs = [*NOUNS, "빵", "빵 개"], ("본다", "먹는다")
    korean = [f"{one} {other} {verb}" for one in NOUNS for other in objects for verb in verbs]
    return korean, [" ".join(DICTIONARY[word] for word in sentence.split()) for sentence in korean]


@pytest.fixture
def text(tmp_path) -> ParallelText:
    korean, german = sentences()
    files = {"train.ko": korean, "train.de": german, "dev.ko": korean[::4], "dev.de": german[::4]}
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    vectors = np.random.default_rng(0).standard_normal((len(DICTIONARY), 8), dtype=np.float32)
    write_static_vectors(tmp_path / "vectors.txt", StaticVectors(tuple(DICTIONARY), vectors))
    train, dev = ((tmp_path / f"{part}.ko", tmp_path / f"{part}.de") for part in ("train", "dev"))
    return ParallelText([train], dev, tmp_path / "vectors.txt")


def weights(folder: Path) -> list[bytes]:
    """The files that two equal trainings have in common, and the perplexities."""
    names = ("cove.pth", "training/best.safetensors", "training/last/weights.safetensors")
    log = json.loads((folder / "training" / "last" / "log.json").read_text())
    shown = [(epoch["epoch"], epoch["learning_rate"], epoch["dev_perplexity"], epoch["perplexity"]) for epoch in log]
    return [*((folder / name).read_bytes() for name in names), json.dumps(shown).encode()]


@pytest.mark.slow
def test_it_learns_to_translate(text, tmp_path, recorded_progress):
    korean, german = sentences()
    known = replace(text, train=text.train * 6, test=text.train[0])
    settings = replace(SETTINGS, cells=24, batch_pairs=10, learning_rate=2.0, epochs=20)
    trained = train_cove(known, settings, tmp_path / "run", progress=recorded_progress)
    recorded_progress.require_stages(training="words")
    assert (trained.num_pairs, trained.num_left_out, trained.known_share) == (180, 0, 1.0)
    best = trained.log[trained.best_epoch - 1]["dev_perplexity"]
    assert best < 1.05
    network = Translator(trained.sizes)
    network.load_state_dict(load_file(tmp_path / "run" / "training" / "best.safetensors"))
    pairs, dev = read_pairs(text.train), read_pairs([text.dev])
    words, vectors = target_words(pairs.targets, 1, 100), read_static_vectors(text.vectors)
    found = translations(network, NumberedPairs(pairs, vectors, words), words, StopFlag())
    written = [" ".join(sentence) for sentence in found]
    # How the last sentences come out depends on how a processor rounds.
    assert sum(map(str.__ne__, written, german)) <= len(german) // 10
    assert perplexity(network, NumberedPairs(dev, vectors, words), StopFlag()) == pytest.approx(best)
    if known.test:
        assert trained.bleu > 80 and "tok:none" in trained.bleu_signature
        kept = tmp_path / "run" / "training" / "translations.txt"
        assert kept.read_text("utf-8").splitlines() == written


def test_the_folder_holds_the_translation_systems_encoder(text, tmp_path):
    train_cove(text, SETTINGS, tmp_path / "run")
    encoder = CoVeEncoder.load(tmp_path / "run")
    assert (encoder.num_layers, encoder.layer_dim) == (2, 24)
    tensors = load_file(tmp_path / "run" / "training" / "best.safetensors")
    network = torch.nn.LSTM(8, 12, num_layers=2, bidirectional=True, batch_first=True)
    network.load_state_dict({name[8:]: tensor for name, tensor in tensors.items() if name.startswith("encoder.")})
    (found,) = encoder.embed_iter([["개", "모르는", "본다"]])
    vectors = torch.from_numpy(encoder.static.lookup(["개", "모르는", "본다"]))
    assert (vectors[1] == 0).all()
    assert np.abs(network(vectors[None])[0][0].detach().numpy() - found[1]).max() < 1e-6


class _Until(Progress):
    """Ends the training, by a signal or an error, after so many reports."""

    def __init__(self, count: int, *, gently: bool) -> None:
        self.left, self.gently = count, gently

    def show(self, what, done, total, unit, note="") -> None:
        self.left -= 1
        if self.left == 0 and self.gently:
            os.kill(os.getpid(), signal.SIGTERM)
        elif self.left == 0:
            raise RuntimeError("killed")

    def say(self, line) -> None:
        pass


@pytest.mark.parametrize("gently", [True, False])
def test_a_training_that_was_ended_goes_on_to_the_same_model_bit_for_bit(text, tmp_path, gently):
    settings = replace(SETTINGS, epochs=4, dropout=0.3)
    train_cove(text, settings, tmp_path / "whole")
    broken = tmp_path / "broken"
    # Five steps an epoch: in the first epoch, before anything is saved, and in the third.
    for resume, steps in ((False, 4), (True, 13)):
        with pytest.raises(Interrupted if gently else RuntimeError, match="--resume" if gently else "killed"):
            train_cove(text, settings, broken, resume=resume, progress=_Until(steps, gently=gently))
    trained = train_cove(text, settings, broken, resume=True)
    assert [epoch["epoch"] for epoch in trained.log] == [1, 2, 3, 4]
    assert weights(broken) == weights(tmp_path / "whole")


def test_a_training_that_ended_goes_on_with_more_epochs(text, tmp_path):
    train_cove(text, SETTINGS, tmp_path / "run")
    (tmp_path / "run" / "vectors.txt").unlink()  # as if it had been killed before they were copied
    text = replace(text, vectors=text.vectors.rename(tmp_path / "vectors.vec"))
    train_cove(text, replace(SETTINGS, epochs=3), tmp_path / "run", resume=True)
    assert CoVeEncoder.load(tmp_path / "run").static.words == tuple(DICTIONARY)
    train_cove(text, replace(SETTINGS, epochs=3), tmp_path / "whole")
    assert weights(tmp_path / "run") == weights(tmp_path / "whole")


@pytest.fixture
def contrary(text) -> ParallelText:
    """Dev pairs that say something else than the training's: they get worse the more is learned."""
    german = text.dev[1].read_text("utf-8").splitlines()
    text.dev[1].write_text("\n".join(german[1:] + german[:1]) + "\n", encoding="utf-8")
    return text


def test_the_learning_rate_halves_after_worse_epochs_and_the_best_epoch_is_kept(contrary, tmp_path):
    settings = replace(SETTINGS, epochs=60, least_learning_rate=0.2)
    trained = train_cove(contrary, settings, tmp_path / "run")
    log, rate, expected = trained.log, 1.0, []
    for number in range(len(log)):
        if number > 1 and log[number - 1]["dev_perplexity"] >= log[number - 2]["dev_perplexity"]:
            rate /= 2
        expected.append(rate)
    assert [epoch["learning_rate"] for epoch in log] == expected
    assert expected[-1] == 0.25 and log[-1]["dev_perplexity"] >= log[-2]["dev_perplexity"] and len(log) < 60
    found = [epoch["dev_perplexity"] for epoch in log]
    assert found[trained.best_epoch - 1] == min(found) and trained.best_epoch < len(found)
    whole = train_cove(contrary, replace(settings, epochs=trained.best_epoch), tmp_path / "whole")
    assert whole.best_epoch == trained.best_epoch
    assert weights(tmp_path / "run")[:2] == weights(tmp_path / "whole")[:2]


def test_pairs_are_plain_lower_cased_words_and_unfit_ones_are_left_out(tmp_path):
    source, target = tmp_path / "a.txt", tmp_path / "b.txt"
    source.write_text("The &quot; Cat &apos;s\n\n집 집 집\na b c d\n&#32; R&amp;D\n", encoding="utf-8")
    target.write_text("Die Katze\nx\n\ne\nÜ\n", encoding="utf-8")
    found = read_pairs([(source, target)], longest=4)
    assert found == Pairs(
        [["the", '"', "cat", "'s"], ["a", "b", "c", "d"], ["&#32;", "r&d"]], [["die", "katze"], ["e"], ["ü"]], 2
    )
    assert read_pairs([(source, target)] * 2, longest=3).num_left_out == 8


def test_groups_hold_every_pair_once_and_lengths_are_close():
    random = np.random.default_rng(1)
    sources = [["w"] * size for size in random.integers(1, 9, 50)]
    pairs = NumberedPairs(
        Pairs(sources, [["x"]] * 50, 0), StaticVectors(("w",), np.ones((1, 2), np.float32)), (*SPECIAL_WORDS, "x")
    )
    once, again, other = (pairs.groups(8, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert sorted(np.concatenate(once)) == list(range(50)) and max(map(len, once)) == 8
    assert [list(one) for one in once] == [list(one) for one in again] != [list(one) for one in other]
    by_length = sorted(once, key=lambda group: sorted(len(sources[place]) for place in group))
    ranges = [(min(len(sources[p]) for p in group), max(len(sources[p]) for p in group)) for group in by_length]
    assert all(before[1] <= after[0] for before, after in zip(ranges, ranges[1:], strict=False))
    vectors, lengths, words = pairs.batch(once[0])
    assert (vectors.sum(dim=(1, 2)) == 2 * lengths).all() and words.tolist() == [[2, 4, 3]] * 8


def test_the_target_vocabulary_is_what_occurs_often():
    found = target_words([["b", "a", "<s>", "<s>"], ["c", "b", "a", "b"], ["d"]], 2, 100)
    assert found == (*SPECIAL_WORDS, "b", "a")
    assert target_words([["b", "a", "c"]], 1, 2) == (*SPECIAL_WORDS, "a", "b")


def test_a_word_that_is_written_like_a_special_one_is_unknown():
    vectors = StaticVectors(("w",), np.ones((1, 2), np.float32))
    pairs = NumberedPairs(Pairs([["w"]], [["</s>", "x", "y"]], 0), vectors, (*SPECIAL_WORDS, "x"))
    assert pairs.batch(np.array([0]))[2].tolist() == [[2, 1, 4, 1, 3]]


def test_what_can_not_be_learned_from_is_refused_before_anything_is_made(text, tmp_path):
    with pytest.raises(TextError, match=r"train\.de: no word occurs at least 99 times .* lower --min-count"):
        train_cove(text, replace(SETTINGS, min_count=99), tmp_path / "run")
    write_static_vectors(text.vectors, StaticVectors(("le", "chat"), np.ones((2, 8), np.float32)))
    with pytest.raises(TextError, match="none of the 6 distinct words"):
        train_cove(text, SETTINGS, tmp_path / "run")
    with text.train[0][1].open("a", encoding="utf-8") as file:
        file.write("zu viel\n")
    with pytest.raises(TextError, match=r"train\.ko: ends after line 30, but .*train\.de goes on"):
        train_cove(text, SETTINGS, tmp_path / "run")
    with pytest.raises(TextError, match="8 were left out because one side is empty or has more than 2 tokens"):
        read_pairs([text.dev], longest=2)
    assert not (tmp_path / "run").exists()


def test_a_folder_is_not_overwritten_and_another_training_not_continued(text, tmp_path):
    with pytest.raises(ConfigError, match="no training to resume"):
        train_cove(text, SETTINGS, tmp_path / "run", resume=True)
    train_cove(text, SETTINGS, tmp_path / "run")
    before = weights(tmp_path / "run")
    with pytest.raises(OutputError, match="exists already"):
        train_cove(text, SETTINGS, tmp_path / "run")
    with pytest.raises(ConfigError, match="batch_pairs differs"):
        train_cove(text, replace(SETTINGS, batch_pairs=5), tmp_path / "run", resume=True)
    with pytest.raises(ConfigError, match="text differs"):
        train_cove(replace(text, train=[text.dev]), SETTINGS, tmp_path / "run", resume=True)
    assert weights(tmp_path / "run") == before
    damaged = tmp_path / "run" / "training" / "last" / "weights.safetensors"
    content = bytearray(damaged.read_bytes())
    content[-1] ^= 1
    damaged.write_bytes(content)
    with pytest.raises(WeightFileError, match="weights.safetensors was changed"):
        train_cove(text, SETTINGS, tmp_path / "run", resume=True)


def test_vectors_of_other_words_are_not_kept_and_change_nothing(text, tmp_path, monkeypatch):
    kept = []

    class Noted(NumberedPairs):
        def __init__(self, pairs, vectors, words):
            kept.append(vectors.words)
            super().__init__(pairs, vectors, words)

    train_cove(text, SETTINGS, tmp_path / "few")
    few = read_static_vectors(text.vectors)
    more = np.concatenate([np.full((40, 8), 9, np.float32), few.vectors])
    words = (*(f"word{number}" for number in range(40)), *few.words)
    write_static_vectors(text.vectors, StaticVectors(words, more))
    monkeypatch.setattr("elmo_paper.cove.train.NumberedPairs", Noted)
    train_cove(text, SETTINGS, tmp_path / "many")
    assert kept == [few.words] * 2
    assert weights(tmp_path / "many") == weights(tmp_path / "few")


def test_a_training_that_diverges_says_so(text, tmp_path):
    with pytest.raises(ConfigError, match="diverged after 0 epochs"):
        train_cove(text, replace(SETTINGS, learning_rate=1e38, clip_norm=1e38), tmp_path / "run")


def test_a_training_whose_last_step_diverges_says_so_and_keeps_nothing(text, tmp_path):
    """The step's loss is sound, and the bias of a word that is there five times is infinite after it."""
    text.train[0][1].write_text("brot brot brot brot brot\n" * 30, encoding="utf-8")
    settings = replace(SETTINGS, learning_rate=3e38, clip_norm=3e38, batch_pairs=30, epochs=1)
    with pytest.raises(ConfigError, match="perplexity of the dev pairs is nan: the training diverged after 0 epochs"):
        train_cove(text, settings, tmp_path / "run")
    assert not (tmp_path / "run" / "cove.pth").exists()


def test_a_loss_beyond_what_exp_can_hold_is_a_large_perplexity(text, tmp_path):
    log = train_cove(text, replace(SETTINGS, learning_rate=1e5, clip_norm=1e38), tmp_path / "run").log
    assert max(epoch["perplexity"] for epoch in log) == pytest.approx(math.exp(700))


def test_words_that_a_fasttext_model_has_not_seen_have_no_vector_in_training_either(text, tmp_path):
    fasttext = pytest.importorskip("gensim.models.fasttext")
    seen = [word for word in DICTIONARY if word != "개"]
    model = fasttext.FastText([seen] * 5, vector_size=8, min_count=1, epochs=1, bucket=50)
    fasttext.save_facebook_model(model, str(tmp_path / "m.bin"))
    result = train_cove(replace(text, vectors=tmp_path / "m.bin"), replace(SETTINGS, epochs=1), tmp_path / "run")
    korean = [word for sentence in sentences()[0] for word in sentence.split()]
    assert result.known_share == pytest.approx(1 - korean.count("개") / len(korean))
    assert CoVeEncoder.load(tmp_path / "run").static.row("개") is None


def test_dev_pairs_that_are_left_out_are_counted(text, tmp_path, recorded_progress):
    source, target = text.dev
    target.write_text("\n" + "".join(target.read_text("utf-8").splitlines(keepends=True)[1:]), encoding="utf-8")
    train_cove(text, replace(SETTINGS, epochs=1), tmp_path / "run", progress=recorded_progress)
    assert recorded_progress.lines[0] == "dev pairs that are left out, because a side is empty: 1"
