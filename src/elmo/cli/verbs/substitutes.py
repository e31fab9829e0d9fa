"""`elmo substitutes`: which words each direction would put in a marked place."""

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import tyro

from elmo.cli.arguments import parsed
from elmo.cli.early_checks import As, check_language_model
from elmo.cli.language_model import ModelFlag, load, model_and_input
from elmo.cli.text_input import say_of_tokens, vocabulary_of
from elmo.errors import ConfigError
from elmo.process.device import Device
from elmo.text.reading.as_trained import as_trained, plain_marks
from elmo.text.tokenizer import marked

if TYPE_CHECKING:
    from elmo.lm.substitutes import Prediction


@dataclass(frozen=True)
class Arguments:
    """Show which words each direction of a model, and the product of both, predict in the marked position of a
    sentence."""

    inputs: Annotated[tuple[str, ...], As("unchecked"), tyro.conf.Positional, tyro.conf.arg(metavar="[MODEL] SENTENCE")]
    """A sentence with one word in brackets: "The [bank] was steep."; [] marks a gap. The model may be named before
    it."""
    model: ModelFlag = None
    """A name, a folder or file, or a hub id; it needs a softmax (default: $ELMO_MODEL, or the bundled model)."""
    top: int = 10
    """Number of words to show."""
    device: Device = "auto"
    """Where to compute."""
    json: bool = False
    """Print it as JSON."""


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "substitutes")
    model, text = model_and_input(arguments.inputs, arguments.model, "substitutes", '"SENTENCE"')
    sentence, place = marked(text)
    if arguments.top < 1:
        raise ConfigError(f"--top is {arguments.top}, but at least one word can be shown. Choose 1 or more.")
    check_language_model(model)
    vocabulary = vocabulary_of(model)
    say_of_tokens(sentence, vocabulary)
    sentence = as_trained(sentence, plain_marks(vocabulary))
    # Here, so that --help stays fast.
    from elmo.lm.substitutes import substitutes

    found = substitutes(load(model, arguments.device), sentence, place, arguments.top)
    if arguments.json:
        directions = {name: asdict(prediction) for name, prediction in found.items()}
        print(json.dumps({"sentence": sentence, "place": place, **directions}, indent=2, ensure_ascii=False))
    else:
        print(_table(found, sentence[place]))
    return 0


def _table(found: "dict[str, Prediction]", word: str) -> str:
    columns = [[f"{name:>9}  ", *_cells(prediction, word)] for name, prediction in found.items()]
    width = max(len(cell) for column in columns for cell in column) + 3
    return "\n".join("".join(f"{cell:{width}}" for cell in row).rstrip() for row in zip(*columns, strict=True))


def _cells(prediction: "Prediction", word: str) -> list[str]:
    cells = [f"{probability:9.4f}  {token}" for token, probability in prediction.best]
    if not word:
        return cells
    if prediction.probability is None:
        return [*cells, "", f"{'-':>9}  {word} (not in the vocabulary)"]
    return [*cells, "", f"{prediction.probability:9.4f}  {word} (rank {prediction.rank:,})"]
