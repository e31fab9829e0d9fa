"""`elmo analyze neighbors`: which tokens of a text are nearest to a word in its sentence, layer by layer."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from elmo.cli.arguments import parsed
from elmo.process.device import Device

if TYPE_CHECKING:
    from elmo.analysis.neighbors.context_index import ContextIndex, Hit

_KEYWORD_COLUMNS = 34


@dataclass(frozen=True)
class Arguments:
    """Find the nearest tokens to a marked word, for each layer: other words, and occurrences of the same word (the
    paper's table 4). The index is made by 'elmo index'."""

    index: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="INDEX")]
    """Folder of a context index."""
    sentences: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="SENTENCE [SENTENCE ...]")]
    """Tokens separated by spaces, one of them in brackets."""
    model: Annotated[str | None, tyro.conf.arg(aliases=["-m"], metavar="MODEL")] = None
    """The model that the index was built with (default: the one it names)."""
    static: Annotated[Path | None, tyro.conf.arg(metavar="VECTORS")] = None
    """Static vectors: also show the word's nearest words in them, which no sentence changes."""
    noun: Annotated[str | None, tyro.conf.arg(metavar="NOUN")] = None
    """Korean: words that are this noun with particles count as occurrences of the same word."""
    top: int = 6
    """Neighbors to show."""
    device: Device = "auto"
    """Where to compute."""
    json: bool = False
    """Print them as JSON."""


def run(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "analyze neighbors")
    # Here, so that --help does not wait for torch.
    from elmo.analysis.neighbors.context_index import ContextIndex
    from elmo.analysis.neighbors.query import neighbors, require_model, static_neighbors
    from elmo.embed.embedder import Embedder
    from elmo.lm.substitutes import marked
    from elmo.static.vectors import read_static_vectors

    queries = [marked(sentence) for sentence in arguments.sentences]
    index = ContextIndex(arguments.index)
    static = read_static_vectors(arguments.static) if arguments.static is not None else None
    embedder = Embedder.from_pretrained(arguments.model or index.facts.model or None, device=arguments.device)
    require_model(index, embedder)
    found = []
    for tokens, place in queries:
        layers = neighbors(index, embedder, tokens, place, arguments.top, noun=arguments.noun)
        near = static_neighbors(static, tokens[place], arguments.top) if static is not None else None
        found.append({"sentence": tokens, "place": place, "static": near, "layers": layers})
    if arguments.json:
        print(json.dumps(found, indent=2, ensure_ascii=False, default=lambda hit: _plain(index, hit)))
    else:
        print("\n\n".join(_page(one) for one in found))
    return 0


def _plain(index: "ContextIndex", hit: "Hit") -> dict[str, Any]:
    return {
        "word": hit.word,
        "cosine": round(hit.cosine, 4),
        "sentence": hit.tokens,
        "position": hit.position,
        "line": hit.sentence + 1,
    }


def _page(found: dict[str, Any]) -> str:
    tokens, place = found["sentence"], found["place"]
    marked = " ".join(f"[{token}]" if position == place else token for position, token in enumerate(tokens))
    lines = [marked]
    if found["static"] is not None:
        lines += ["", "static vectors", "  " + "  ".join(f"{word} {cosine:.2f}" for word, cosine in found["static"])]
    for layer, near in enumerate(found["layers"]):
        lines += ["", f"layer {layer}" + (": the word alone" if layer == 0 else "")]
        lines.append("  " + "  ".join(f"{hit.word} {hit.cosine:.2f}" for hit in near["other"]))
        lines += [_in_context(hit) for hit in near["same"]] if layer else []
    return "\n".join(lines)


def _in_context(hit: "Hit") -> str:
    """The keyword in its context, in the same column in every line."""
    left, right = " ".join(hit.tokens[: hit.position]), " ".join(hit.tokens[hit.position + 1 :])
    return f"  {hit.cosine:.2f}  {left[-_KEYWORD_COLUMNS:]:>{_KEYWORD_COLUMNS}} [{hit.word}] {right[:_KEYWORD_COLUMNS]}"
