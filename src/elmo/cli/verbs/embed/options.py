"""The options of `elmo embed`, and the model that they choose."""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from elmo.cli.arguments import BilmDtype, DeviceOption, ModelOption, OutputFile
from elmo.cli.inputs import ReadingFlags
from elmo.text.files.text_file import format_of_name, is_packed
from elmo.text.reading.settings import Reading

if TYPE_CHECKING:
    from elmo.embed.embedder import Embedder

# Of what must be meant to be the name of a file, beside those that tell a format.
_FILE_ENDINGS = (".txt", ".text", ".md", ".fa")


@dataclass(frozen=True)
class Arguments:
    """Turn text into a vector for every token. With -o, the vectors of a text go into a file, together with the tokens
    and their positions in the text. Without it, the vectors of a quoted text are shown as a table, and - reads standard
    input and prints one JSON object per sentence."""

    inputs: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="TEXT [TEXT ...]")]
    """With -o: files or patterns like 'data/*.txt' (.gz, .xz, .bz2 and .zst are unpacked), a pipe, or - for standard
    input. Without -o: a text, or -."""
    output: OutputFile[Path | None] = None
    """File to write: .h5 or .hdf5 (AllenNLP's layout), .parquet or .npy."""
    model: ModelOption = None
    layers: str = "all"
    """all, average, top, an index (0 is the token layer, -1 the top), or weights like 0.2,0.3,0.5, which are used as
    they are (no softmax)."""
    reading: ReadingFlags = field(default_factory=Reading)
    to: Literal["hdf5", "parquet", "npy"] | None = None
    """Format of the file of vectors (default: by the ending of the file)."""
    dtype: BilmDtype = "float32"
    store: Literal["float32", "float16"] = "float32"
    """Type of the stored vectors."""
    compress: bool = False
    """Compress HDF5 with gzip: somewhat smaller, slower to write."""
    pool: Literal["mean", "max", "first", "last", "first_last"] | None = None
    """One vector for each sentence or protein instead of one for each token. first_last: the forward half of the last
    token's and the backward half of the first one's."""
    state: Literal["zero", "warm", "carry"] = "zero"
    """State that every sentence starts from. zero: zeros; warm: the model's warm state; carry: as in the originals, the
    state after the sentence in the same row of the previous batch."""
    batch_rows: int | None = None
    """With --state carry: number of rows in a batch (default: 64). Sentence k continues sentence k - batch_rows."""
    keep_boundaries: bool = False
    """Keep the vectors of <S> and </S> around each sentence."""
    forget_sentences: bool = False
    """Leave all words out of the file, and store only their positions in the text."""
    max_tokens: int | None = None
    """Maximum number of tokens in a batch (default: 8192 on a CPU, 16384 on a GPU)."""
    workers: int = 1
    """Number of processes that embed, each with its share of the cores (or OMP_NUM_THREADS). The file is the same."""
    device: DeviceOption = "auto"
    resume: bool = False
    """Continue a killed or interrupted run, whose parts are checked first. A finished file is taken as it is."""
    force: bool = False
    """Replace an existing file and discard an unfinished one. With --resume: discard it only if it is damaged."""
    json: bool = False
    """Print the report, or the vectors of a text, as JSON."""
    quiet: bool = False
    """Show no progress and no report; warnings are still shown."""


def is_meant_as_file(text: str) -> bool:
    """Whether it looks like the name of a file."""
    has_ending = Path(text).suffix.lower() in _FILE_ENDINGS or is_packed(text) or format_of_name(text) is not None
    return not any(map(str.isspace, text)) and ("/" in text or has_ending)


def load_embedder(arguments: Arguments) -> "Embedder":
    """The model with its settings; prints which type "auto" chose."""
    from elmo.embed.embedder import Embedder

    embedder = Embedder.from_pretrained(
        arguments.model,
        device=arguments.device,
        dtype=arguments.dtype,
        state=arguments.state,
        keep_boundaries=arguments.keep_boundaries,
        max_tokens=arguments.max_tokens,
    )
    if arguments.dtype == "auto" and not arguments.quiet:
        print(f"--dtype auto: {embedder.dtype}", file=sys.stderr)
    return embedder
