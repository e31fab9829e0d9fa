"""`elmo substitutes`: which words each direction would put in a marked place."""

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import tyro

from elmo.cli.arguments import DeviceOption, LanguageModelOption, parsed
from elmo.cli.inputs import model_and_texts, vocabulary_of, warn_of_tokens
from elmo.errors import ConfigError
from elmo.setting_checks import PositiveInt
from elmo.text.reading.as_trained import as_trained, composed, plain_marks
from elmo.text.tokenizer import marked

if TYPE_CHECKING:
    from elmo.lm.substitutes import Prediction


@dataclass(frozen=True)
class Arguments:
    """Show which words each direction of a model, and the product of both, predict in the marked position of a
    sentence."""

    inputs: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[MODEL] SENTENCE")]
    """A sentence with one word in brackets: "The [bank] was steep."; [] marks a gap. The model may be named before
    it."""
    model: LanguageModelOption = None
    top: PositiveInt = 10
    """Number of words to show."""
    device: DeviceOption = "auto"
    json: bool = False
    """Print it as JSON."""


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "substitutes")
    model, sentences = model_and_texts(arguments.inputs, arguments.model)
    if len(sentences) > 1:
        raise ConfigError(
            f"{len(sentences)} sentences were given ({', '.join(map(repr, sentences))}), but one is taken. Put "
            'quotation marks around it: elmo substitutes [MODEL] "SENTENCE"'
        )
    sentence, place = marked(composed(sentences[0])[0])
    vocabulary = vocabulary_of(model)
    warn_of_tokens(marked(sentences[0])[0], vocabulary)  # as they are written
    sentence = as_trained(sentence, plain_marks(vocabulary))
    from elmo.lm.named_model import load_language_model
    from elmo.lm.substitutes import substitutes

    found = substitutes(load_language_model(model, arguments.device), sentence, place, arguments.top)
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
