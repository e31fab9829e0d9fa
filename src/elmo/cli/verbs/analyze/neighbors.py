"""`elmo analyze neighbors`: which tokens of a text are nearest to a word in its sentence, layer by layer."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from elmo.analysis.encoders import EncoderChoice
from elmo.analysis.record import Record
from elmo.cli.arguments import DeviceOption
from elmo.cli.inputs import warn_of_tokens
from elmo.cli.verbs.analyze import RecordFlags
from elmo.setting_checks import require_setting

if TYPE_CHECKING:
    from elmo.analysis.neighbors.context_index import Hit

_KEYWORD_COLUMNS = 34


@dataclass(frozen=True)
class Arguments:
    """Find the nearest tokens to a marked word, for each layer: other words, and occurrences of the same word (the
    paper's table 4). 'elmo index' makes the index."""

    index: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="INDEX")]
    """Folder of a context index."""
    sentences: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="SENTENCE [SENTENCE ...]")]
    """Tokens separated by spaces, one of them in brackets."""
    model: Annotated[str | None, tyro.conf.arg(aliases=["-m"], metavar="MODEL")] = None
    """The model that the index was built with (default: the one it names)."""
    static: Annotated[Path | None, tyro.conf.arg(metavar="VECTORS")] = None
    """Static vectors: also show the word's nearest words in them, which don't depend on the sentence."""
    static_errors: Literal["strict", "skip"] = "strict"
    """What to do with a row of the static vectors that can't be used: stop, or leave it out and say how many."""
    mssg: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Sense vectors of MSSG: also show the nearest words of each of the word's senses in them, and which one this
    sentence chooses."""
    noun: Annotated[str | None, tyro.conf.arg(metavar="NOUN")] = None
    """Korean: all words that consist of this noun and particles count as occurrences of the same word."""
    verb: Annotated[str | None, tyro.conf.arg(metavar="VERB")] = None
    """Korean: all forms of this verb or adjective (타다, as in a dictionary) count as occurrences of the same word."""
    center: bool = False
    """Subtract each layer's mean over the index from all vectors first."""
    top: int = 6
    """Number of neighbors to show."""
    device: DeviceOption = "auto"
    results: RecordFlags = field(default_factory=RecordFlags)


def record_of(arguments: Arguments) -> Record:
    """The record of the analysis."""
    from elmo.analysis.encoders import BILM, MSSG, STATIC, Encoder, StaticEncoder, described
    from elmo.analysis.neighbors.context_index import ContextIndex
    from elmo.analysis.neighbors.index_files import FACTS_FILE
    from elmo.analysis.neighbors.query import neighbors, require_forms, require_model, sense_neighbors, static_neighbors
    from elmo.analysis.record import begun
    from elmo.embed.embedder import Embedder
    from elmo.mssg import MSSGEncoder
    from elmo.static.vectors import read_static_vectors
    from elmo.text.reading.as_trained import as_trained, composed
    from elmo.text.tokenizer import marked

    require_setting(arguments.top >= 1, "top", arguments.top, "at least 1")
    queries = [marked(composed(sentence)[0]) for sentence in arguments.sentences]
    index = ContextIndex(arguments.index)
    require_forms(index, arguments.noun, arguments.verb)
    static = None
    if arguments.static is not None:
        static = read_static_vectors(arguments.static, errors=arguments.static_errors)
    mssg = None if arguments.mssg is None else MSSGEncoder.load(arguments.mssg)
    model = arguments.model or index.facts.model or None
    embedder = Embedder.from_pretrained(model, device=arguments.device)
    require_model(index, embedder)
    for sentence in arguments.sentences:
        warn_of_tokens(marked(sentence)[0], embedder.vocabulary)  # as they are written
    marks = embedder.reader.marks()
    queries = [(as_trained(tokens, marks), place) for tokens, place in queries]
    options = {"noun": arguments.noun, "verb": arguments.verb, "center": arguments.center}
    found = []
    for tokens, place in queries:
        layers = neighbors(index, embedder, tokens, place, arguments.top, **options)
        near = static_neighbors(static, tokens[place], arguments.top) if static is not None else None
        senses = sense_neighbors(mssg, tokens, place, arguments.top) if mssg is not None else None
        shown = [{which: [_plain(hit) for hit in hits] for which, hits in layer.items()} for layer in layers]
        found.append({"sentence": tokens, "place": place, "static": near, "mssg": senses, "layers": shown})
    choice = EncoderChoice(model=model, static=arguments.static, mssg=arguments.mssg)
    encoders: dict[str, Encoder] = {BILM: embedder}
    if static is not None:
        encoders[STATIC] = StaticEncoder(static)
    if mssg is not None:
        encoders[MSSG] = mssg
    beginning = begun(
        "neighbors",
        encoders=described(choice, encoders),
        data={"index": arguments.index / FACTS_FILE},
        settings={"text": index.facts.source, "top": arguments.top, **options},
    )
    return beginning | {"queries": found}


def _plain(hit: "Hit") -> dict[str, object]:
    return {
        "word": hit.word,
        "cosine": round(hit.cosine, 4),
        "sentence": hit.tokens,
        "position": hit.position,
        "line": hit.sentence + 1,
    }


def table(record: Record) -> str:
    """The neighbors of every query as text."""
    return "\n\n".join(_page(query) for query in record["queries"])


def _page(query: Record) -> str:
    lines = [" ".join(f"[{token}]" if at == query["place"] else token for at, token in enumerate(query["sentence"]))]
    if query["static"] is not None:
        lines += ["", "static vectors", "  " + "  ".join(f"{word} {cosine:.2f}" for word, cosine in query["static"])]
    for sense in query["mssg"] or ():
        lines += ["", sense["sense"] + (": chosen by this sentence" if sense["chosen"] else "")]
        lines.append("  " + "  ".join(f"{word} {cosine:.2f}" for word, cosine in sense["nearest"]))
    for layer, near in enumerate(query["layers"]):
        lines += ["", f"layer {layer}" + (": the word alone" if layer == 0 else "")]
        lines.append("  " + "  ".join(f"{hit['word']} {hit['cosine']:.2f}" for hit in near["other"]))
        lines += [_in_context(hit) for hit in near["same"]] if layer else []
    return "\n".join(lines)


def _in_context(hit: Record) -> str:
    """The keyword in its context, in the same column in every line."""
    left, right = (
        " ".join(part) for part in (hit["sentence"][: hit["position"]], hit["sentence"][hit["position"] + 1 :])
    )
    shown = f"{left[-_KEYWORD_COLUMNS:]:>{_KEYWORD_COLUMNS}} [{hit['word']}] {right[:_KEYWORD_COLUMNS]}"
    return f"  {hit['cosine']:.2f}  {shown}"
