"""Where a file of vectors comes from and goes to, and whether it fits: asked before a model computes."""

from collections.abc import Sequence
from pathlib import Path

from elmo.disk.output import free_bytes, require_free
from elmo.embed.corpus.vectors_folder import VectorsFolder
from elmo.embed.storage.layout import FileFormat, VectorLayout, files_of, format_of, require_pyarrow
from elmo.errors import OutputError
from elmo.text.files.text_file import check_is_text_file, require_other_file


def check_places(
    texts: Sequence[Path | str], output: Path, format: str | None, *, resume: bool, force: bool
) -> FileFormat:
    """The format of the file that would be made.

    Raises TextError (no such text), ConfigError (no such format; text and output are one file), OutputError (something
    is in the way), MissingExtraError (a library for the format is not installed).
    """
    file_format = format_of(output, format)
    for text in texts:
        check_is_text_file(text)
        for target in (*files_of(output, file_format), VectorsFolder(output).path):
            require_other_file(text, target)
    if file_format == "parquet":
        require_pyarrow("writing Parquet")
    # What is there may be a resumed run's own: that takes a look at the text.
    require_free_files(output, file_format, force=force or resume)
    if not (force or resume):
        VectorsFolder(output).require_absent()
    return file_format


def require_free_files(output: Path, file_format: FileFormat, *, force: bool = False) -> None:
    """OutputError if something bears the name of one of the output's files and may not be replaced."""
    for target in reversed(files_of(output, file_format)):  # the file that was named comes first
        require_free(target, force=force)


def require_space(folder: Path, layout: VectorLayout, *, overhead: int, done: int = 0) -> None:
    """OutputError unless the disk of `folder` has room for a file of vectors.

    `overhead`: bytes beside its numbers; `done`: bytes there already.
    """
    free, needed = free_bytes(folder), layout.num_bytes + overhead - done
    if needed > free:
        layers = "1 layer" if layout.num_layers is None else f"{layout.num_layers} layers"
        raise OutputError(
            f"{folder}: not enough disk: {needed / 1e6:,.1f} MB needed for {layout.num_tokens:,} tokens ({layers}, "
            f"{layout.store}), {free / 1e6:,.1f} MB free. Free some, or use --layers average and --store float16."
        )
