"""`elmo neighbors`: which tokens of a text are nearest to a word in its sentence, layer by layer."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from elmo.analysis.record import Record
from elmo.cli.arguments import DeviceOption, Force, NoProgress, OutputFile, parsed
from elmo.cli.inputs import warn_of_tokens
from elmo.cli.output import result_file
from elmo.setting_checks import PositiveInt

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
    noun: Annotated[str | None, tyro.conf.arg(metavar="NOUN")] = None
    """Korean: all words that consist of this noun and particles count as occurrences of the same word."""
    verb: Annotated[str | None, tyro.conf.arg(metavar="VERB")] = None
    """Korean: all forms of this verb or adjective (타다, as in a dictionary) count as occurrences of the same word."""
    center: bool = False
    """Subtract each layer's mean over the index from all vectors first."""
    top: PositiveInt = 6
    """Number of neighbors to show."""
    device: DeviceOption = "auto"
    output: Annotated[OutputFile[Path | None], tyro.conf.arg(metavar="OUT.json")] = None
    """Also write the record here: the neighbors, and what they depend on."""
    force: Force = False
    json: bool = False
    """Print the record instead of the neighbors."""
    quiet: NoProgress = False


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "neighbors")
    # The name of the output is refused before the work, not after it.
    with result_file(arguments.output, force=arguments.force) as file:
        record = _record_of(arguments)
        text = json.dumps(record, indent=1, ensure_ascii=False)
        if file is not None:
            file.write(text + "\n")
    print(text if arguments.json else "\n\n".join(map(_page, record["queries"])))
    return 0


def _record_of(arguments: Arguments) -> Record:
    from elmo.analysis.neighbors.context_index import ContextIndex
    from elmo.analysis.neighbors.index_files import FACTS_FILE
    from elmo.analysis.neighbors.query import neighbors, require_forms, require_model, static_neighbors
    from elmo.analysis.record import begun
    from elmo.embed.embedder import Embedder
    from elmo.static.vectors import read_static_vectors
    from elmo.text.reading.as_trained import as_trained, composed
    from elmo.text.tokenizer import marked
    from elmo.weights.fingerprint import fingerprint
    from elmo.weights.hub import DEFAULT_MODEL

    queries = [marked(composed(sentence)[0]) for sentence in arguments.sentences]
    index = ContextIndex(arguments.index)
    require_forms(index, arguments.noun, arguments.verb)
    static = None
    if arguments.static is not None:
        static = read_static_vectors(arguments.static, errors=arguments.static_errors)
    embedder = Embedder.from_pretrained(arguments.model or index.facts.model or None, device=arguments.device)
    require_model(index, embedder)
    for sentence in arguments.sentences:
        warn_of_tokens(marked(sentence)[0], embedder.vocabulary)  # as they are written
    marks = embedder.reader.marks()
    options = {"noun": arguments.noun, "verb": arguments.verb, "center": arguments.center}
    found = []
    for tokens, place in ((as_trained(tokens, marks), place) for tokens, place in queries):
        layers = neighbors(index, embedder, tokens, place, arguments.top, **options)
        near = static_neighbors(static, tokens[place], arguments.top) if static is not None else None
        shown = [{which: [_plain(hit) for hit in hits] for which, hits in layer.items()} for layer in layers]
        found.append({"sentence": tokens, "place": place, "static": near, "layers": shown})
    encoders = {"biLM": {"hash": embedder.model_hash, "num_layers": embedder.num_layers, "dim": embedder.layer_dim}}
    if static is not None:
        found_hash = fingerprint({"vectors": static.vectors}, static.words)
        encoders["static"] = {"hash": found_hash, "num_layers": 1, "dim": static.dim}
    beginning = begun(
        "neighbors",
        encoders={
            "model": Path(arguments.model or index.facts.model or DEFAULT_MODEL).name,
            "model_hash": embedder.model_hash,
            "dtype": embedder.dtype,
            "static": arguments.static and arguments.static.name,
            "encoders": encoders,
        },
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


def _page(query: Record) -> str:
    lines = [" ".join(f"[{token}]" if at == query["place"] else token for at, token in enumerate(query["sentence"]))]
    if query["static"] is not None:
        lines += ["", "static vectors", "  " + "  ".join(f"{word} {cosine:.2f}" for word, cosine in query["static"])]
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
