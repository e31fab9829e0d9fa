"""What a run starts with: the ids of its word types, its weights, its optimizer, and the learning rate of each step."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor, nn

from elmo.config import NUM_BYTE_CHARACTERS
from elmo.corpus.shards import TrainingData
from elmo.model.bilm import BiLM
from elmo.model.lm_head import LMHead
from elmo.pretrain.settings.config import PretrainConfig
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap, WordMap
from elmo.text.vocabulary import UNKNOWN

_MARKS = ("begin_sentence", "end_sentence", "begin_word", "end_word", "padding", "unknown")
_ROWS_AT_ONCE = 65_536


@dataclass(frozen=True)
class TypeIds:
    """What a model reads of each word type of prepared data, and the map that gives the same ids to any token.

    Prepared data has the bytes of each type. A word model reads the types' words, and a character dictionary is made
    here, from the types and how often they occur in the training text.
    """

    token_map: TokenMap
    characters: Int[np.ndarray, "types characters"] | None = field(repr=False)
    """Memory-mapped if they are bytes."""
    words: Int[np.ndarray, " types"] | None = field(repr=False)

    @classmethod
    def of(cls, config: PretrainConfig, data: TrainingData) -> "TypeIds":
        """As `config` has them read. A character dictionary takes 2 to 4 bytes for each character kept of each type."""
        limit = data.max_characters_per_token
        character_map, characters = CharacterMap.for_bytes(limit), data.type_characters
        if config.characters == "none":
            character_map = characters = None
        elif config.characters == "dictionary":
            types = data.types()
            counted = zip(types[2:], data.type_counts[2:].tolist(), strict=True)  # the first two are the boundaries
            character_map = dictionary_of(counted, config.max_character_dictionary, limit)
            starts = range(0, len(types), _ROWS_AT_ONCE)
            characters = np.concatenate([character_map.ids(types[at : at + _ROWS_AT_ONCE]) for at in starts])
        if not config.word_vector_size:
            return cls(TokenMap(character_map), characters, None)
        # Id 0 means no token, so words count from 1.
        words = np.asarray(data.type_words, dtype=np.int64) + 1
        ids = {word: data.vocabulary.id(word) + 1 for word in data.vocabulary.words}
        return cls(TokenMap(character_map, WordMap(ids, UNKNOWN)), characters, words)

    def of_types(
        self, types: Int[np.ndarray, " types"]
    ) -> tuple[Int[Tensor, "types characters"] | None, Int[Tensor, " types"] | None]:
        """The ids of some types, on the CPU."""
        characters, words = (
            None if ids is None else torch.from_numpy(np.asarray(ids[types])) for ids in (self.characters, self.words)
        )
        return characters, words


def dictionary_of(counted: Iterable[tuple[str, int]], max_size: int, max_characters_per_token: int) -> CharacterMap:
    """The `max_size` most frequent characters of words with their counts, ties in the order of Unicode.

    A character that occurs once has no id of its own: it is what the row of unknown characters learns from.
    """
    counts: Counter[str] = Counter()
    for word, count in counted:
        for character in word:
            counts[character] += count
    order = sorted((-count, character) for character, count in counts.items() if count > 1)
    marks = {name: number for number, name in enumerate(_MARKS, start=1)}
    dictionary = {character: number for number, (_, character) in enumerate(order[:max_size], start=len(_MARKS) + 1)}
    return CharacterMap.for_dictionary(dictionary, marks, max_characters_per_token)


def new_model(
    config: PretrainConfig, data: TrainingData, token_map: TokenMap, device: torch.device
) -> tuple[BiLM, LMHead]:
    """Random weights by `config.seed`, drawn on the CPU: the same on every device.

    With `config.tie_softmax` the head's weights share the memory of the words' vectors: the row of vocabulary id i is
    the vector of word id i + 1, for 0 means no token.
    """
    words = list(data.vocabulary.words)
    num_characters = token_map.characters.num_characters if token_map.characters else NUM_BYTE_CHARACTERS
    architecture = config.architecture(data.max_characters_per_token, num_characters, len(words))
    clusters = config.softmax_clusters(len(words))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        bilm = BiLM(architecture, token_map).to(device)
        head = LMHead(words, config.projection_size, clusters).to(device)
    if config.tie_softmax:
        head.weight = nn.Parameter(bilm.token_encoder.word_embedding.detach()[1:])
    return bilm, head


def learning_rate(config: PretrainConfig, step: int, last_step: int, windows: float) -> float:
    """The rate of step 1, 2, ...: it rises over `warmup_steps`, then stays or falls to 0 after `last_step`.

    `windows`: how many windows of the present size the run reads after the warm-up; as many as there are steps after
    it, unless a run was resumed with other `unroll_steps`. The rate then continues to fall from its current value.
    """
    rate = config.learning_rate
    if step <= config.warmup_steps:
        return rate * step / config.warmup_steps
    if config.decay == "linear":
        return rate * min(1.0, max(0.0, (last_step + 1 - step) / max(1, windows + 1)))
    return rate


def make_optimizer(config: PretrainConfig, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """adagrad as in bilm-tf (TensorFlow's: accumulator starts at 1, no epsilon), sgd without momentum, or adamw."""
    parameters = list(parameters)
    if config.optimizer == "adagrad":
        # torch 2.6 has no fused one for a GPU; without a wish it takes all tensors together there.
        fused = all(parameter.is_cpu for parameter in parameters) or None
        return torch.optim.Adagrad(
            parameters, lr=config.learning_rate, initial_accumulator_value=1.0, eps=0.0, fused=fused
        )
    if config.optimizer == "sgd":
        return torch.optim.SGD(parameters, lr=config.learning_rate)
    return torch.optim.AdamW(
        parameters, lr=config.learning_rate, betas=(0.9, 0.98), eps=1e-8, weight_decay=config.weight_decay, fused=True
    )
