"""The published format, options.json + weights.hdf5, as AllenNLP and bilm-tf read it -> Checkpoint."""

from contextlib import closing
from pathlib import Path

import numpy as np

from elmo.config import BiLMConfig
from elmo.disk.json_file import read_json
from elmo.errors import TextError, WeightFileError
from elmo.shapes import Float
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap, WordMap
from elmo.text.word_list import read_word_list
from elmo.weights.allennlp.hdf5 import Hdf5File
from elmo.weights.allennlp.names import (
    OPTIONS_FILE,
    SOFTMAX_DATASETS,
    LstmNames,
    dataset_shapes,
    read_tensors,
    with_padding_row,
)
from elmo.weights.allennlp.options import config_of
from elmo.weights.checkpoint import Checkpoint, read_hashed
from elmo.weights.shapes import require_agreement

_UNKNOWN_WORD = "<UNK>"


def read(
    options: Path,
    weights: Path,
    *,
    vocabulary: Path | None = None,
    token_embeddings: Path | None = None,
    softmax: Path | None = None,
) -> Checkpoint:
    """A model from its options and weights.

    `vocabulary`: one word a line; the words of the softmax's rows, and of the vectors' if the model reads words.
    A model without `char_cnn` in its options reads words and needs it. `token_embeddings`: an HDF5 file with dataset
    `embedding` (lines of the vocabulary, projection_size), token vectors made beforehand: they replace the char CNN.
    `softmax`: an HDF5 file with `softmax/W` (vocabulary, projection_size) and `softmax/b` (vocabulary,).

    Raises WeightFileError (a file is missing, damaged, or from another model), TextError (the vocabulary).
    """
    options, weights = Path(options), Path(weights)
    settings = read_json(options)

    def read_all() -> Checkpoint:
        words = None if vocabulary is None else read_word_list(Path(vocabulary))
        with closing(Hdf5File(weights)) as file:
            config = config_of(settings, file.shapes, path=options)
            tensors = _read_tensors(file, config, options)
            if token_embeddings is not None:  # in the place of the char CNN, or of the word vectors that it has
                vectors = _read_word_vectors(Path(token_embeddings), config.projection_size)
                words_alone = file.shapes | {"embedding": vectors.shape}
                config = config_of(settings | {"char_cnn": None}, words_alone, path=options)
                tensors = {name: tensor for name, tensor in tensors.items() if not name.startswith("token_encoder.")}
                tensors["token_encoder.word_embedding"] = with_padding_row(vectors)
        token_map = token_map_of(config, words, vocabulary, token_embeddings or weights)
        rows = None if softmax is None else _read_softmax(Path(softmax), config, words)
        return Checkpoint(config, tensors, token_map, vocabulary=words, softmax=rows, source_format="allennlp")

    extras = [Path(path) for path in (vocabulary, token_embeddings, softmax) if path is not None]
    return read_hashed([options, weights, *extras], read_all)


def _read_tensors(file: Hdf5File, config: BiLMConfig, options: Path) -> dict[str, np.ndarray]:
    names = LstmNames.found_in(file.shapes, config)
    require_agreement(
        file.shapes, dataset_shapes(config, names), file=str(file.path), asked_by=options.name, kind="dataset"
    )
    tensors = read_tensors(file.array, config, names)
    file.require_fingerprint()
    return tensors


def _read_word_vectors(path: Path, dim: int) -> Float[np.ndarray, "words dim"]:
    with closing(Hdf5File(path)) as file:
        found = {name: shape for name, shape in file.shapes.items() if name == "embedding"}
        expected = [("embedding", ((found.get("embedding") or (1,))[0], dim))]
        require_agreement(found, expected, file=str(path), asked_by=OPTIONS_FILE, kind="dataset")
        vectors = file.array("embedding")
        file.require_fingerprint()
    return vectors


def token_map_of(config: BiLMConfig, words: list[str] | None, vocabulary: Path | None, vectors: Path) -> TokenMap:
    """How the model reads tokens: by bytes, or in the words of its vocabulary, which word models can't do without."""
    if config.has_characters:
        return TokenMap(CharacterMap.for_bytes(config.max_characters_per_token))
    if words is None:
        raise WeightFileError(
            f"{vectors}: this model reads words, not characters. Pass vocabulary=, the file that it was trained with."
        )
    if len(words) != config.num_words - 1:
        raise WeightFileError(
            f"{vectors}: dataset 'embedding' has {config.num_words - 1} rows, but {vocabulary} has {len(words)} "
            "words. Pass the vocabulary the vectors were made with."
        )
    try:
        # A word that occurs twice has its later row.
        ids = {word: row for row, word in enumerate(words, start=1)}
        return TokenMap(None, WordMap(ids, unknown=_UNKNOWN_WORD if _UNKNOWN_WORD in ids else None))
    except TextError as error:
        raise TextError(f"{vocabulary}: {error}") from None


def _read_softmax(path: Path, config: BiLMConfig, words: list[str] | None) -> dict[str, np.ndarray]:
    with closing(Hdf5File(path)) as file:
        rows = (file.shapes.get("softmax/W") or (1,))[0] if words is None else len(words)
        asked_by = OPTIONS_FILE if words is None else "the vocabulary"
        expected = [("softmax/W", (rows, config.projection_size)), ("softmax/b", (rows,))]
        require_agreement(file.shapes, expected, file=str(path), asked_by=asked_by, kind="dataset")
        softmax = {name: file.array(dataset) for name, dataset in SOFTMAX_DATASETS.items()}
        file.require_fingerprint()
    return softmax
