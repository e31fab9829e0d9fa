"""Saved task models: folders that load anywhere, alone or as an ensemble of models that decide together.

config.json          task, settings, vocabulary (labels, characters), which biLM by name and hash
model.safetensors    what was learned, without the biLM
static.safetensors   static_words.json   the static vectors by name, if there are any
sha256.json          the checksums of the .json files; tensors have their own
bilm/                the biLM, a model folder like any other: if it was trained with the task, or if asked for

What an ensemble averages depends on the task (docs/specification-tasks.md, 2.3): probabilities of labels, of tags and
of an answer's first and last token; a CRF's emissions and transitions; coreference's mention and antecedent scores.
Each model keeps its own encoder; models with the same one share it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic

import torch
from jaxtyping import Float
from torch import Tensor, nn

from elmo.disk.atomic import new_folder
from elmo.disk.json_file import read_json, write_json
from elmo.disk.sums import SUMS_FILE, write_sums
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError, WeightFileError
from elmo.layer.elmo import load_tensors
from elmo.process.device import chosen_device
from elmo.process.torch_settings import usual_torch
from elmo.static.vectors import StaticVectors
from elmo.tasks.registry import AnyTask
from elmo.tasks.saved_config import BILM_FOLDER, CONFIG_FILE, FORMAT_VERSION, SavedConfig, saved_config
from elmo.tasks.settings import to_table
from elmo.tasks.task import E, P, Plain, S, Task, Vocabulary
from elmo.tasks.task_model import TaskModel, mean_of
from elmo.tasks.tokens.frozen_layers import ELMO, NONE, FrozenLayers, find_encoder
from elmo.tasks.tokens.representation import TokenRepresentation, TokenSources
from elmo.weights import hub
from elmo.weights.native.tensor_file import read_tensors, write_tensors

_WEIGHTS, _STATIC, _WORDS = "model.safetensors", "static.safetensors", "static_words.json"
_PARTS = frozenset({CONFIG_FILE, _WEIGHTS, _STATIC, _WORDS, SUMS_FILE, BILM_FOLDER})
_MAX_WORDS_BYTES = 1 << 30
_LIVE = "tokens.live."
_READING = ("text_tokenizer", "question_tokenizer", "split_hyphens", "plain_quotes")
"""Settings that decide what tokens an example has; the first model's are used for all."""


@dataclass(frozen=True)
class SavedTaskModel(Generic[S, E, P]):
    """A task's model and all that is needed to use it."""

    task: Task[S, E, P]
    settings: S
    vocabulary: Vocabulary
    model: TaskModel[E, P]
    metadata: Mapping[str, Plain] = field(default_factory=dict)
    """Facts about its training."""
    has_own_bilm: bool = False
    """Whether the biLM is in the same folder, as it is when it was trained with the task."""


def save(saved: SavedTaskModel[S, E, P], folder: Path, *, include_bilm: bool = False, force: bool = False) -> None:
    """Writes the model folder atomically."""
    tokens = saved.model.tokens
    tensors = {name: tensor.detach().cpu().numpy() for name, tensor in _own_state(saved.model).items()}
    static = {name: table.vectors() for name, table in tokens.static_embeddings().items()}
    num_trained = [len(table.trained) - 1 for table in tokens.static_embeddings().values()]
    config = {
        "format_version": FORMAT_VERSION,
        "task": saved.task.name,
        "settings": to_table(saved.settings),
        "vocabulary": saved.vocabulary,
        "bilm": _bilm_facts(tokens),
        "num_trained_words": max(num_trained, default=0),
        "metadata": saved.metadata,
    }
    size = sum(tensor.nbytes for tensor in tensors.values()) + sum(found.vectors.nbytes for found in static.values())
    with new_folder(folder, size=size, force=force, replaceable=_PARTS) as unfinished:
        write_json(unfinished / CONFIG_FILE, config)
        write_tensors(unfinished / _WEIGHTS, tensors)
        if static:
            write_tensors(unfinished / _STATIC, {name: found.vectors for name, found in static.items()})
            write_json(unfinished / _WORDS, {name: found.words for name, found in static.items()}, indent=None)
        write_sums(unfinished, [CONFIG_FILE, *([_WORDS] if static else [])])
        if tokens.live is not None:
            tokens.live.bilm.save_pretrained(unfinished / BILM_FOLDER)
        elif (include_bilm or saved.has_own_bilm) and tokens.frozen and isinstance(tokens.frozen.encoder, Embedder):
            tokens.frozen.bilm.save_pretrained(unfinished / BILM_FOLDER)


@usual_torch()
def load(
    folder: Path | str,
    *,
    task: AnyTask | None = None,
    encoder: str | None = None,
    model: str | None = None,
    device: str = "auto",
    dtype: str = "float32",
    known_encoders: dict[tuple[str, ...], FrozenLayers] | None = None,
) -> SavedTaskModel[Any, Any, Any]:
    """Reads a model folder, or the best model of a run folder.

    `task`: needed only if the model's task is neither built in nor installed. `encoder`: needed only if the model's
    encoder isn't (a folder's own text never decides which module is imported). `model`: where the biLM is, if not at
    the place noted in the folder; its weights must be the same. `dtype`: what the factors of the biLM's products are
    rounded to, see `Embedder`. `known_encoders`: those loaded before, which models may share; a new one is added.
    Raises WeightFileError for what is missing or damaged, or another biLM than the one the
    model was trained with.
    """
    config = saved_config(folder, task)
    folder, values = config.folder, config.values
    # A biLM that was trained with the task is now one like any other, that isn't trained any more.
    settings = replace(config.settings, tokens=replace(config.settings.tokens, train_bilm=False, new_bilm=False))
    known = {} if known_encoders is None else known_encoders
    frozen = _frozen(config, encoder, model, device, dtype, known)
    static = _static_vectors(folder) if (folder / _WORDS).is_file() else {}
    num_trained = values["num_trained_words"]
    tokens = replace(settings.tokens, train_static=num_trained > 0)
    words = next(iter(static.values())).words[:num_trained] if static else ()
    representation = TokenRepresentation(tokens, TokenSources(frozen, static, words))
    # As its weights were saved, whatever torch's default type is.
    network = config.task.build(settings, values["vocabulary"], representation).float()
    own = {name: tuple(tensor.shape) for name, tensor in _own_state(network).items()}
    tensors = read_tensors(folder / _WEIGHTS, lambda _: own.items(), asked_by=CONFIG_FILE)
    load_tensors(network.state_dict(), tensors)
    network.to(chosen_device(device)).eval()
    has_own_bilm = (folder / BILM_FOLDER).is_dir()
    return SavedTaskModel(config.task, settings, values["vocabulary"], network, values["metadata"], has_own_bilm)


class Ensemble(TaskModel[E, P]):
    """Models of one task as one model, which predicts from the average of their distributions."""

    def __init__(self, models: Sequence[TaskModel[E, P]]) -> None:
        """Raises ConfigError if the models don't decide between the same things, or their task knows no average."""
        super().__init__()
        first, *others = models
        for other in others:
            if first.outcomes is None or (type(other), other.outcomes) != (type(first), first.outcomes):
                raise ConfigError(
                    f"a {type(first).__name__} that decides between {first.outcomes} and a {type(other).__name__} that "
                    f"decides between {other.outcomes} can't be averaged. Use models of one task with the same labels "
                    "and settings, of a type that defines `outcomes`."
                )
        self.members = nn.ModuleList(models)
        self.tokens = first.tokens

    @property
    def models(self) -> list[TaskModel[E, P]]:
        """The single models."""
        return [model for model in self.members if isinstance(model, TaskModel)]

    def forward(self, examples: Sequence[E]) -> list[Any]:
        """The outputs of each model."""
        return [model(examples) for model in self.models]

    def loss_of(self, outputs: list[Any], examples: Sequence[E]) -> Float[Tensor, ""]:
        """The mean of the models' losses."""
        return mean_of([model.loss_of(own, examples) for model, own in zip(self.models, outputs, strict=True)])

    def decide(self, outputs: Sequence[list[Any]], examples: Sequence[E]) -> list[P]:
        """The predictions of all models together."""
        return self.models[0].decide([one for own in outputs for one in own], examples)


def load_ensemble(
    folders: Sequence[Path | str],
    *,
    task: AnyTask | None = None,
    encoder: str | None = None,
    model: str | None = None,
    device: str = "auto",
    dtype: str = "float32",
) -> SavedTaskModel[Any, Any, Any]:
    """Saved models, or the best models of runs, as one; of a single folder, what `load` gives.

    The other arguments are those of `load`, for all of them. Raises what it raises, and ConfigError for models of
    different tasks or that can't be averaged.
    """
    known: dict[tuple[str, ...], FrozenLayers] = {}
    found = [
        load(folder, task=task, encoder=encoder, model=model, device=device, dtype=dtype, known_encoders=known)
        for folder in folders
    ]
    first = found[0]
    if len(found) == 1:
        return first
    together = Ensemble([one.model for one in found]).eval()
    for folder, other in zip(folders, found, strict=True):
        one, two = to_table(first.settings), to_table(other.settings)
        for name in _READING:
            if one.get(name) != two.get(name):
                raise ConfigError(
                    f"{folder}: was trained with {name} {two[name]!r}, {folders[0]} with {one[name]!r}, so they don't "
                    "read the same text as the same tokens. Name models that were trained on the same reading."
                )
    return SavedTaskModel(first.task, first.settings, first.vocabulary, together, first.metadata)


def _own_state(model: TaskModel[E, P]) -> dict[str, torch.Tensor]:
    return {name: tensor for name, tensor in model.state_dict().items() if not name.startswith(_LIVE)}


def _bilm_facts(tokens: TokenRepresentation) -> dict[str, str] | None:
    """Where the encoder was found, and the hash of its weights as they are now."""
    if tokens.frozen is None:
        return None
    is_bilm = tokens.settings.encoder == ELMO
    name = hub.lasting_name(tokens.settings.model) if is_bilm else tokens.settings.model
    if not is_bilm and name and Path(name).expanduser().exists():
        name = str(Path(name).expanduser().resolve())  # the task model may be used from another folder
    trained = None if tokens.live is None else Embedder(tokens.live.bilm, cache_bytes=0).model_hash
    return {"model": name, "hash": trained or tokens.frozen.model_hash}


def _frozen(
    config: SavedConfig,
    encoder: str | None,
    model: str | None,
    device: str,
    dtype: str,
    known: dict[tuple[str, ...], FrozenLayers],
) -> FrozenLayers | None:
    folder, settings, facts, place = config.folder, config.settings.tokens, config.values["bilm"], config.bilm(model)
    if place is None or settings.encoder == NONE:
        return None
    if ":" in settings.encoder and encoder is None:
        raise ConfigError(
            f"{folder}: the module of its encoder, {settings.encoder!r}, is not imported just because the folder says "
            "so. If you trust it, name it with --encoder (in Python: load(folder, encoder=...))."
        )
    key = (encoder or settings.encoder, place, device, dtype)
    if key not in known:
        try:
            known[key] = FrozenLayers(find_encoder(key[0], place, device=device, dtype=dtype))
        except WeightFileError as error:
            raise WeightFileError(
                f"{error} The task model in {folder} needs this biLM; say where it is with --model."
            ) from None
    found = known[key]
    if found.model_hash != facts["hash"]:
        raise WeightFileError(
            f"{place}: is not the biLM of the task model in {folder}, but {found.model_hash[:16]}. That is "
            f"{facts['model']!r}, of hash {facts['hash'][:16]}; say where it is with --model."
        )
    return found


def _static_vectors(folder: Path) -> dict[str, StaticVectors]:
    words = read_json(folder / _WORDS, limit=_MAX_WORDS_BYTES)
    vectors = read_tensors(folder / _STATIC, lambda found: found.items(), asked_by=_WORDS)
    return {name: StaticVectors(tuple(own), vectors[name]) for name, own in words.items()}
