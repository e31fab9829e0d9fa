"""ELMo: the layer a downstream model stacks on its inputs. Source: paper section 3.2 and 3.3; AllenNLP `Elmo`.

sentences -> BiLM (frozen) -> layers -> ScalarMix, one or more -> boundaries removed -> dropout -> mixes
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn
from torch.nn import functional

from elmo.errors import ConfigError
from elmo.layer import on_engine
from elmo.layer_choice import Layers
from elmo.model.bilm import BiLM, BiLMOutput
from elmo.model.scalar_mix import LayerNorm, ScalarMix
from elmo.ops.dropout import Dropout
from elmo.setting_checks import Chance, from_to, require_value
from elmo.text.sentence_checks import checked_sentences
from elmo.weights import hub

Sentences = Sequence[Sequence[str]]
"""Lists of tokens; a string stands for its parts between white space."""

_MOST_MIXES = 1000
_trainable_in_the_last: "WeakKeyDictionary[BiLM, bool]" = WeakKeyDictionary()
"""Whether the last ELMo that was built on a biLM trains it."""


class ELMoOutput(NamedTuple):
    """The vectors of a batch; `batch` has two axes if the character ids had two."""

    mixes: tuple[Float[Tensor, "*batch tokens dim"], ...]
    """One for each scalar mix; zero where `mask` is false."""
    mask: Bool[Tensor, "*batch tokens"]
    """True at a token (with `keep_boundaries`: or a boundary)."""


class ELMo(nn.Module):
    """A biLM and scalar mixes over its layers, to be trained with the model around it.

    It keeps no state between calls: before dropout, and without a layer norm over the batch, a sentence always has the
    same vectors.

    Where no gradient is needed, a biLM on a CPU is computed by the engine, from the weights as they are at each call,
    however they were changed.
    """

    if TYPE_CHECKING:  # nn.Module types __call__ as Any
        __call__: Callable[..., ELMoOutput]

    def __init__(
        self,
        bilm: BiLM,
        *,
        num_mixes: int = 1,
        dropout: float = 0.5,
        layer_norm: LayerNorm = False,
        keep_boundaries: bool = False,
        trainable: bool = False,
        layers: Layers = "mix",
        train_gamma: bool = True,
    ) -> None:
        """Builds the mixes on a biLM.

        num_mixes: scalar mixes, each with its own weights; the biLM runs once for all of them.
        dropout: probability that a value of the result is set to 0 in training.
        layer_norm: False, "boundaries" (or True: AllenNLP's), "words" (bilm-tf's) or "token"; see `ScalarMix`.
        keep_boundaries: whether the results include the vectors of the sentence boundaries.
        trainable: whether the biLM's weights are trained with the rest; this switches their `requires_grad`.
        layers: "mix", a weighted sum with learned weights; or what `Embedder.embed` takes, fixed: "average", "top", an
            index (0 is the token layer, -1 the top one), or one weight per layer.
        train_gamma: whether the factor gamma is learned, for each choice of `layers`.
        """
        super().__init__()
        hub.refuse_name(bilm, "ELMo", "a BiLM")
        require_value("num_mixes", num_mixes, Annotated[int, from_to(1, _MOST_MIXES)])
        require_value("dropout", dropout, Chance)
        require_value("trainable", trainable, bool)
        num_layers = bilm.config.num_layers + 1
        self.bilm = bilm.requires_grad_(trainable)
        with bilm.device:  # whatever torch's default device is
            self.mixes = nn.ModuleList(
                ScalarMix.of_layers(layers, num_layers, layer_norm=layer_norm, train_gamma=train_gamma)
                for _ in range(num_mixes)
            )
        self.dropout = Dropout(dropout)
        self.keep_boundaries = keep_boundaries
        self.trainable = _trainable_in_the_last[bilm] = trainable
        self.train(self.training)

    @classmethod
    def from_pretrained(
        cls,
        model: hub.Model = None,
        *,
        num_mixes: int = 1,
        dropout: float = 0.5,
        layer_norm: LayerNorm = False,
        keep_boundaries: bool = False,
        trainable: bool = False,
        layers: Layers = "mix",
        train_gamma: bool = True,
    ) -> "ELMo":
        """ELMo on a pretrained model; `model` is as in `BiLM.from_pretrained`, the keywords are as in `ELMo(...)`."""
        return cls(
            BiLM.from_pretrained(model),
            num_mixes=num_mixes,
            dropout=dropout,
            layer_norm=layer_norm,
            keep_boundaries=keep_boundaries,
            trainable=trainable,
            layers=layers,
            train_gamma=train_gamma,
        )

    def extra_repr(self) -> str:
        """Its own settings, for `repr`."""
        return f"num_mixes={len(self.mixes)}, keep_boundaries={self.keep_boundaries}, trainable={self.trainable}"

    @property
    def output_dim(self) -> int:
        """Width of each mix."""
        return self.bilm.config.output_dim

    def train(self, mode: bool = True) -> "ELMo":
        """As in any torch module, but a frozen biLM stays in evaluation mode."""
        super().train(mode)
        self.bilm.train(mode and self.trainable)
        return self

    def forward(self, sentences: Sentences | Int[Tensor, "*batch tokens characters"]) -> ELMoOutput:
        """Sentences, or their character ids -> mixed vectors and mask.

        Character ids are (batch, tokens, characters), 0 after each sentence, or (batch, groups, tokens, characters),
        in which every row of tokens is a sentence; they may be on any device. Raises ConfigError if they don't fit this
        model, or if weights that need a gradient would get none. Sentences are lists of tokens or
        strings; a flat list of words is refused, as by `Embedder.embed`.
        """
        if not isinstance(sentences, Tensor):
            sentences = checked_sentences(sentences)
        shape = sentences.shape[:-2] if isinstance(sentences, Tensor) else (len(sentences),)
        self._require_own_gradients()
        with torch.set_grad_enabled(self.trainable and torch.is_grad_enabled()):
            # torch.compile leaves the biLM out: it has compiled passes of its own, and text is not a tensor. Disabled
            # only here, because to do it at import costs every program the seconds that torch's compiler takes to load.
            leaves_out = torch.compiler.is_compiling() and not _is_exporting()
            read: Any = torch.compiler.disable(self._read) if leaves_out else self._read
            result_of_bilm: BiLMOutput = read(sentences)
        result = self.mix(result_of_bilm)
        return ELMoOutput(tuple(mixed.unflatten(0, shape) for mixed in result.mixes), result.mask.unflatten(0, shape))

    def mix(self, output: BiLMOutput) -> ELMoOutput:
        """Mixes layers that were computed elsewhere, for instance with a state carried from call to call."""
        # A token is a position followed by another one, at least by the boundary.
        words = output.mask[:, 2:]
        mask = output.mask if self.keep_boundaries else words
        counted = output.mask
        if self.mixes[0].layer_norm == "words":
            counted = functional.pad(words, (1, 1))[:, : counted.shape[1]]  # without sentences there may be no position
        mixes = []
        for mix in self.mixes:
            mixed = mix(output.layers, counted)
            mixed = mixed if self.keep_boundaries else mixed[:, 1:-1]
            mixes.append(self.dropout(torch.where(mask[:, :, None], mixed, 0)))
        return ELMoOutput(tuple(mixes), mask)

    def character_ids(self, sentences: Sentences) -> Int[Tensor, "batch tokens characters"]:
        """The character ids of sentences, int64, 0 after each sentence (AllenNLP's `batch_to_ids`)."""
        characters = self.bilm.token_map.characters
        if characters is None:
            raise ConfigError("this model reads words, not characters, so it has no character ids. Pass it sentences.")
        rows = map(characters.ids, checked_sentences(sentences))
        return on_engine.padded(rows, characters.max_characters_per_token)

    def mix_penalty(self, strength: float) -> Float[Tensor, ""]:
        """`strength` times the sum of the squared raw weights of all trained mixes: a term of the task's loss.

        0.001 is usual; 1 keeps the mixes close to the plain average. Source: paper section 3.3; no factor of 1/2.
        """
        return strength * torch.stack([mix.penalty() for mix in self._scalar_mixes()]).sum()

    def mix_weights(self) -> list[dict[str, Any]]:
        """For each mix its normalized "weights", token layer first, and its "gamma"."""
        return [{"weights": mix.weights.tolist(), "gamma": mix.gamma.item()} for mix in self._scalar_mixes()]

    def _scalar_mixes(self) -> list[ScalarMix]:
        return cast(list[ScalarMix], list(self.mixes))

    def learned_state_dict(self) -> dict[str, Float[Tensor, "..."]]:
        """The part of `state_dict` that isn't the pretrained model: the mixes, and the biLM if it is trainable."""
        tensors = self.state_dict().items()
        return {name: tensor for name, tensor in tensors if self.trainable or not name.startswith("bilm.")}

    def load_learned_state_dict(self, tensors: Mapping[str, Float[Tensor, "..."] | Float[np.ndarray, "..."]]) -> None:
        """The reverse of `learned_state_dict`. Raises ConfigError if the names or shapes are of another ELMo."""
        load_tensors(self.learned_state_dict(), tensors, "Build it with the same num_mixes, trainable and model.")

    def _require_own_gradients(self) -> None:
        """ConfigError if a biLM would silently not be trained: a frozen one whose gradients somebody switched on, or
        one to be trained that another ELMo has frozen since."""
        if not self.training or not torch.is_grad_enabled():
            return
        has_gradients = any(parameter.requires_grad for parameter in self.bilm.parameters())
        was_frozen = self.trainable and not has_gradients and not _trainable_in_the_last.get(self.bilm, True)
        if was_frozen or (has_gradients and not self.trainable):
            raise ConfigError(
                f"this ELMo was built with trainable={self.trainable}, but the biLM's weights were "
                f"{'frozen' if was_frozen else 'unfrozen'} since. Give each ELMo a biLM of its own "
                "(copy.deepcopy(bilm)), built with the right trainable."
            )

    def _read(self, sentences: Sentences | Shaped[Tensor, "*batch tokens characters"]) -> BiLMOutput:
        given = self._rows_of_ids(sentences) if isinstance(sentences, Tensor) else sentences
        device = self.bilm.device.type
        # The biLM computes in the type of its weights, also where the model around it is under autocast.
        with torch.autocast(device, enabled=False) if device != "meta" else nullcontext():
            return on_engine.read(self.bilm, given)

    def _rows_of_ids(self, ids: Shaped[Tensor, "*batch tokens characters"]) -> Int[Tensor, "rows tokens characters"]:
        is_whole = not (ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool)
        if self.bilm.config.has_words or ids.dim() not in (3, 4) or not is_whole:
            raise ConfigError(
                "character ids must be integers (batch, tokens, characters) or (batch, groups, tokens, characters), of "
                f"a model without words (got {ids.dtype}, {tuple(ids.shape)}). Make them with character_ids()."
            )
        return ids.flatten(0, -3)


# torch 2.6 has no such function.
_is_exporting: Callable[[], bool] = getattr(torch.compiler, "is_exporting", lambda: False)


def load_tensors(
    own: Mapping[str, Shaped[Tensor, "..."]],
    tensors: Mapping[str, Shaped[Tensor, "..."] | Shaped[np.ndarray, "..."]],
    step: str = "Build it with the same settings.",
) -> None:
    """Copies saved tensors into a module's `own` ones.

    Raises ConfigError, whose next step is `step`, if names or shapes are of another module.
    """
    shapes, found = ({name: tuple(it.shape) for name, it in some.items()} for some in (own, tensors))
    if found != shapes:
        name = min(name for name in {**shapes, **found} if shapes.get(name) != found.get(name))
        raise ConfigError(
            f"{name!r} has shape {found.get(name)} among the saved tensors, but {shapes.get(name)} here (None: it "
            f"is not there), so they are of a module with other settings. {step}"
        )
    with torch.no_grad():
        for name, tensor in tensors.items():
            own[name].copy_(torch.as_tensor(tensor))
