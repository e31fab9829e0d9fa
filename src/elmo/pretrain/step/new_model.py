"""A run's model before its first step."""

import torch
from torch import nn

from elmo.config import NUM_BYTE_CHARACTERS
from elmo.corpus.shards import TrainingData
from elmo.model.bilm import BiLM
from elmo.model.lm_head import LMHead
from elmo.pretrain.settings.config import PretrainConfig
from elmo.text.token_map import TokenMap


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
