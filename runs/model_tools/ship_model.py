"""A trained model as it is shipped: stored in int8, with a warm state and with what its metadata should say.

    python runs/model_tools/ship_model.py MODEL OUT TEXT [--metadata NAME=VALUE ...]

TEXT is the training text, one tokenized sentence a line: the warm state is the one after its first 200 sentences, read
in int8. Card, quality.json and the other files of a bundled model are not written here.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from elmo import Embedder
from elmo.errors import ConfigError, ElmoError
from elmo.text.files.text_file import opened
from elmo.weights import formats, hub
from elmo.weights.native.write import write

SENTENCES = 200


def first_sentences(text: Path) -> list[list[str]]:
    """The tokens of the first lines of a text."""
    with opened(text) as (_, content):
        return [line.decode("utf-8").split() for line in islice(content, SENTENCES)]


def metadata_of(given: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE as a dict. Raises ConfigError for what has no `=`."""
    if wrong := [item for item in given if "=" not in item]:
        raise ConfigError(f"--metadata {wrong[0]!r} has no value. Write NAME=VALUE.")
    return dict(item.split("=", 1) for item in given)


def main(arguments: Sequence[str] | None = None) -> int:
    """0: written; 2: something can't be read, or doesn't fit together."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    for name in ("model", "output", "text"):
        parser.add_argument(name)
    parser.add_argument("--metadata", nargs="*", default=[])
    options = parser.parse_args(arguments)
    try:
        metadata = metadata_of(options.metadata)
        sentences = first_sentences(Path(options.text))
        model = replace(formats.read(hub.resolve(options.model)), warm_state=None, metadata=metadata)
        write(model, Path(options.output), dtype="int8")
        embedder = Embedder.from_pretrained(options.output, dtype="int8")
        embedder.warm_up(sentences)
        embedder.save_warm_state(options.output)
    except (ElmoError, OSError) as error:
        print(f"ship_model: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
