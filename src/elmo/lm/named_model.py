"""A language model by its name: what takes no more than a model's name and sentences."""

from collections.abc import Iterable, Sequence
from typing import Any

from elmo.lm.language_model import EngineLanguageModel, LanguageModel
from elmo.lm.perplexity import EvaluationState, SentenceLogProbability, evaluate, sentence_scores
from elmo.lm.substitutes import Prediction
from elmo.lm.substitutes import substitutes as substitutes_of
from elmo.lm.sums import Perplexity
from elmo.process.device import device_name
from elmo.process.progress.report import Count, Progress, following
from elmo.text.sentence_checks import checked_sentence, checked_sentences
from elmo.weights import formats, hub
from elmo.weights.checkpoint import Checkpoint

Sentences = Iterable[str | Sequence[str]]


def load_language_model(model: hub.Model = None, device: str = "auto") -> LanguageModel:
    """The biLM and its softmax, from one reading of the files. `model`: as in `Embedder.from_pretrained`.

    Only other devices than the CPU need torch. Raises WeightFileError if there is no such model, or it has no softmax.
    """
    place = device_name(device)
    files = hub.resolve(model)
    return language_model(formats.read(files), str(files[1] if isinstance(files, tuple) else files), place)


def language_model(checkpoint: Checkpoint, name: str, place: str) -> LanguageModel:
    """A checkpoint's biLM and softmax on a device; `name`: the model's, in the message of the WeightFileError."""
    if place == "cpu":
        return EngineLanguageModel(checkpoint, name)
    # Here, because they load torch.
    from elmo.lm.in_torch import TorchLanguageModel
    from elmo.model.bilm import BiLM
    from elmo.model.lm_head import LMHead

    head = LMHead.from_checkpoint(checkpoint, name)
    return TorchLanguageModel(BiLM.from_checkpoint(checkpoint).to(place), head.to(place))


def perplexity(
    sentences: Sentences,
    model: hub.Model = None,
    *,
    state: EvaluationState = "zero",
    device: str = "auto",
    progress: Progress | bool = False,
) -> Perplexity:
    """How well a model predicts sentences, in each direction; exact. See `elmo.lm.perplexity`.

    `sentences`: lists of tokens, or strings that are split on whitespace. `model`: as in `Embedder.from_pretrained`.
    `state`: "zero", each sentence by itself, or "carry". `progress`: as for `evaluate` there.
    Of the result, `of("mean")`, `of("forward")` and `of("backward")` are perplexities, and `to_dict()` has all figures.
    Raises TextError if there is no token, WeightFileError for a model without a softmax.
    """
    checked = checked_sentences(sentences)
    return evaluate(load_language_model(model, device), checked, state=state, progress=progress)


def log_probabilities(
    sentences: Sentences, model: hub.Model = None, *, device: str = "auto", progress: Progress | bool = False
) -> list[SentenceLogProbability]:
    """The log-probability of each sentence in each direction, in nats. Arguments as in `perplexity`."""
    checked = checked_sentences(sentences)
    found = sentence_scores(load_language_model(model, device), checked)
    with following(progress) as reported:
        return list(Count(reported, "scoring", len(checked), "sentences").each(found))


def substitutes(
    sentence: str | Sequence[str], place: int, model: hub.Model = None, *, count: int = 10, device: str = "auto"
) -> dict[str, Prediction]:
    """The `count` most probable words for the token `place` (from 0) of a sentence: forward, backward and both.

    See `elmo.lm.substitutes`. Raises ConfigError for a place outside the sentence or a count below 1.
    """
    checked: Any = checked_sentence(sentence, "sentence")
    return substitutes_of(load_language_model(model, device), checked, place, count)
