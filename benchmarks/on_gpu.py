"""How fast one GPU trains and embeds, beside torch's own LSTM (cuDNN) and what the GPU's products allow.

    elmo prepare text.txt -o DATA --vocab-size 50000
    python benchmarks/on_gpu.py --data DATA --text text.txt

Training: the published geometry. ours is `elmo.pretrain.Trainer`; "torch LSTM" is the plain loop of
`pretraining/plain_training.py` with torch.nn.LSTM(proj_size), torch.nn.Conv1d and every distinct word of a window once,
under autocast where the products are bfloat16. All include their optimizer's step, and take turns. Embedding: random
weights of the published size, and the bundled model. Tokens of training are predictions of each direction.
"""

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "pretraining"))

import torch
from plain_training import PlainStep
from record import Record, Table, parser
from training import lstm_flops, softmax_flops

from elmo.config import BiLMConfig
from elmo.corpus.shards import TrainingData
from elmo.embed.embedder import Embedder
from elmo.model.bilm import BiLM
from elmo.pretrain.ranks.distributed import Ranks
from elmo.pretrain.settings.config import PretrainConfig
from elmo.pretrain.step.trainer import Trainer
from elmo.process.torch_settings import few_host_threads

DEVICE = torch.device("cuda", 0)


def main() -> int:
    """Measures and writes the record; the exit code."""
    arguments = parser(__doc__)
    arguments.add_argument("--data", type=Path, required=True, help="folder that `elmo prepare` made")
    arguments.add_argument("--text", type=Path, required=True, help="one sentence a line")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--steps", type=int, default=8, help="of each contestant in a round")
    arguments.add_argument("--sentences", type=int, default=12_000)
    given = arguments.parse_args()
    with few_host_threads(DEVICE):
        peaks = {dtype: _peak(dtype) for dtype in (torch.float32, torch.bfloat16)}
        training = [
            row for batch in (128, 512) for row in _training(given.data, batch, given.rounds, given.steps, peaks)
        ]
    with given.text.open(encoding="utf-8") as lines:
        sentences = [line.split() for line, _ in zip(lines, range(given.sentences), strict=False)]
    tables = [
        Table(["", "rows x tokens", "products", "ms a step", "tokens/s", "of the peak", "ours / it"], training),
        Table(["model", "products", "layers", "tokens/s", "ms, one sentence of 20 words"], _embedding(sentences)),
    ]
    settings = {
        "GPU": torch.cuda.get_device_name(DEVICE),
        "peak": ", ".join(f"{str(dtype)[6:]} {speed / 1e12:,.0f} TFLOP/s" for dtype, speed in peaks.items())
        + " (product of 8192 x 8192 x 8192)",
        "rounds": f"{given.rounds}, of {given.steps} steps each",
    }
    sentence = "Medians over the rounds. The share of the peak counts the products of the LSTMs and the softmax alone."
    Record("on-gpu", "One GPU", tables, sentence, settings).write(given.results)
    return 0


def _peak(dtype: torch.dtype) -> float:
    one, other = (torch.randn(8192, 8192, device=DEVICE, dtype=dtype) for _ in range(2))
    times = [_seconds(lambda: one @ other) for _ in range(6)]
    return 2.0 * 8192**3 / statistics.median(times[1:])


def _seconds(work: Callable[[], object]) -> float:
    torch.cuda.synchronize()
    begun = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - begun


def _training(path: Path, batch: int, rounds: int, steps: int, peaks: dict[torch.dtype, float]) -> list[list[object]]:
    data = TrainingData.open(path)
    config, ranks = PretrainConfig(batch_size=batch), Ranks(device=DEVICE)
    stock, narrow_stock = (
        PlainStep(config, data, stock=True, distinct_words=True, device=DEVICE).step for _ in range(2)
    )

    def under_autocast() -> float:
        with torch.autocast("cuda", torch.bfloat16):
            return narrow_stock()

    contestants = {
        ("ours", torch.float32): Trainer(config, data, ranks).step,
        ("ours", torch.bfloat16): Trainer(replace(config, product_dtype="bfloat16"), data, ranks).step,
        ("torch LSTM", torch.float32): stock,
        ("torch LSTM", torch.bfloat16): under_autocast,
    }
    times: dict[tuple[str, torch.dtype], list[float]] = {kind: [] for kind in contestants}
    try:
        for _ in range(2):  # the second time from a state that the first one left
            under_autocast()
    except RuntimeError as error:
        print(f"torch LSTM under autocast: not here: {str(error).splitlines()[0]}", file=sys.stderr)
        del contestants["torch LSTM", torch.bfloat16], times["torch LSTM", torch.bfloat16]
    for number in range(rounds + 1):
        for kind, step in contestants.items():
            count = steps if number else 2
            took = _seconds(lambda step=step, count=count: [step() for _ in range(count)]) / count
            if number:
                times[kind].append(took)
    medians = {kind: statistics.median(found) for kind, found in times.items()}
    tokens = batch * config.unroll_steps
    # Of both directions, forward and back. The convolutions of a window's words come on top.
    flops = 3 * tokens * (lstm_flops(config.architecture(data.max_characters_per_token)) + 2 * softmax_flops(config))
    return [
        [
            name, f"{batch} x {config.unroll_steps}", str(dtype)[6:], f"{took * 1e3:.1f}", f"{tokens / took:,.0f}",
            f"{flops / took / peaks[dtype]:.0%}", f"{took / medians['ours', dtype]:.1f}",
        ]
        for (name, dtype), took in medians.items()
    ]  # fmt: skip


def _embedding(sentences: list[list[str]]) -> list[list[object]]:
    torch.manual_seed(1)
    large = BiLM(BiLMConfig()).to(DEVICE).requires_grad_(False)
    rows = []
    for name, embedder in (
        ("published size", Embedder(large, dtype="float32")),
        ("published size", Embedder(large, dtype="bfloat16")),
        ("small-en", Embedder.from_pretrained("small-en", device="cuda")),
    ):
        for layers in ("average", "all"):
            for _ in range(2):  # the shapes of the batches are recorded when they come again
                _all(embedder, sentences, layers)
            words = sum(map(len, sentences))
            speeds = [words / _seconds(lambda: _all(embedder, sentences, layers)) for _ in range(3)]  # noqa: B023
            short = [["The", "bank", "of", "the", "river"] * 4]
            times = [_seconds(lambda: embedder.embed(short, layers)) for _ in range(20)]  # noqa: B023
            rows.append([
                name, embedder.dtype, layers, f"{statistics.median(speeds):,.0f}",
                f"{statistics.median(times[5:]) * 1e3:.1f}",
            ])  # fmt: skip
    return rows


def _all(embedder: Embedder, sentences: list[list[str]], layers: str) -> None:
    for _ in embedder.embed_iter(sentences, layers):
        pass


if __name__ == "__main__":
    raise SystemExit(main())
