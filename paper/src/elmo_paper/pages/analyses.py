"""Blocks of docs/analysis.md, docs/explorer.md and docs/paper.md that show what the layers of a model know.

They are made of records of the analyses, and of the bundled models' quality.json.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence

from elmo_paper.analysis.record import Record, row_name
from elmo_paper.pages.claims import NOT_YET, claims_table
from elmo_paper.pages.records import ANALYSIS_OF, Folders, layer_rows
from elmo_paper.pages.tables import Cells, aligned
from elmo_paper.places import DOCS
from elmo_paper.reproduce import paper

BUNDLED = DOCS.parent / "src" / "elmo" / "bundled"
_ENCODERS = {"random biLM": "random weights", "static": "static vectors"}
# Tokens to each side of a word that are shown.
_AROUND = 9


def table(_: str, names: Sequence[str], folders: Folders) -> Iterator[str]:
    """`<!-- table wsd-small-en -->`: one record of an analysis, and where it comes from."""
    record = folders.analysis(*names)
    for cells in _TABLES[record["analysis"]](record):
        yield from (*_joined(cells), "")
    yield _source(record)


def as_text(record: Record) -> str:
    """The record's tables as Markdown that reads well in a terminal; below them what the paper has, and its claims."""
    parts = [aligned(cells) for cells in _TABLES[record["analysis"]](record)]
    table = next((name for name, analysis in ANALYSIS_OF.items() if analysis == record["analysis"]), None)
    if table is not None:
        parts += [layer_lines(table, [record])] if table != "table4" else []
        claims = list(layer_rows(table, record))
        parts += [claims_table(claims, name_data=False), [f"The paper: {paper.SOURCE}."]] if claims else []
    return "\n\n".join("\n".join(lines) for lines in parts)


def _joined(table: Sequence[Cells]) -> Iterator[str]:
    """A Markdown table, the first row its head."""
    head, *rows = (f"| {' | '.join(row)} |" for row in table)
    yield from (head, "|---" * len(table[0]) + "|", *rows)


def layers(_: str, tables: Sequence[str], folders: Folders) -> Iterator[str]:
    """`<!-- layers table5 -->`: all records of the table beside the paper's rows."""
    yield from layer_lines(tables[0], list(folders.analyzed(tables[0]).values()))


def layer_lines(table: str, records: Sequence[Record]) -> list[str]:
    """Tables 5 and 6: the paper's systems first, in its order; of word senses its own method alone, no votes of
    neighbors."""
    theirs = paper.TABLE_5 if table == "table5" else paper.TABLE_6
    rows = {record["model"]: _scores(record) for record in records}
    found: list[Cells] = [["vectors", "the paper", *rows]]
    for name in dict.fromkeys([*theirs, *(name for own in rows.values() for name in own)]):
        scores = (own.get(name) for own in (theirs, *rows.values()))
        cells = ["" if score is None else f"{score:.1f}" for score in scores]
        if name.startswith("CoVe") and not any(cells[1:]):
            cells[1] = NOT_YET
        encoder, _, layer = name.partition(", ")
        if " k-NN" not in name:
            found.append([", ".join(filter(None, (_ENCODERS.get(encoder, encoder), layer))), *cells])
    return aligned(found)


def _scores(record: Record) -> dict[str, float]:
    if record["analysis"] == "wsd":
        return {row_name(one): one["sets"]["all"]["f1"] for one in record["systems"]}
    return {row_name(one): one["accuracy"] for one in record["rows"]}


def nearest(_: str, __: Sequence[str], folders: Folders) -> Iterator[str]:
    """`<!-- nearest -->`: table 4, the paper's neighbors of "play", then ours: what is nearest in static vectors and in
    the last layer."""
    records = [folders.analysis(path.stem) for path in sorted(folders.analyses.glob("neighbors-*.json"))]
    found: list[Cells] = [["", "the word in its sentence", "nearest"]]
    for word, near in paper.GLOVE_NEIGHBORS.items():
        found.append(["the paper: GloVe", word, ", ".join(near)])
    for sentence, same in paper.BILM_NEIGHBORS.items():
        found.append(["the paper: biLM", *(re.sub(r"\[(\w+)\]", r"**\1**", text) for text in (sentence, same))])
    for record in records:
        queries = [one for one in record["queries"] if one["sentence"][one["place"]] in paper.GLOVE_NEIGHBORS]
        static = {one["sentence"][one["place"]]: one["static"] or () for one in queries}
        for word, near in static.items():
            found.append([f"{record['model']}: static vectors", word, ", ".join(name for name, _ in near)])
        for query in queries:
            where = _in_context(query["sentence"], query["place"])
            same = [_in_context(hit["sentence"], hit["position"]) for hit in query["layers"][-1]["same"][:1]]
            found.append([f"{record['model']}: biLM, layer {len(query['layers']) - 1}", where, *(same or [""])])
    yield from aligned(found)


def read_quality(model: str) -> Record:
    """What `runs/quality/model_quality.py` measured of a bundled model."""
    return json.loads((BUNDLED / model / "quality.json").read_text(encoding="utf-8"))


def quality(_: str, names: Sequence[str], __: Folders) -> Iterator[str]:
    """`<!-- quality senses -->` and `<!-- quality gap -->`: what the explorer says of the bundled models."""
    yield from {"senses": _senses, "gap": _gap}[names[0]]()


def cove(_: str, __: Sequence[str], folders: Folders) -> Iterator[str]:
    """`<!-- cove -->`: a row for each training of CoVe, the smallest first. NAME.json in cove/ is the report of its
    training; NAME.wsd.json and NAME.pos.json are records of analyses."""
    heads = ("trained on", "pairs", "epochs", "dev perplexity", "test BLEU", "word senses", "parts of speech")
    found: list[Cells] = [heads]
    names = [path.stem for path in (folders.analyses / "cove").glob("*.json") if "." not in path.stem]
    reports = ((folders.analysis(f"cove/{name}"), name) for name in names)
    for own, name in sorted(reports, key=lambda one: one[0]["pairs"]):
        senses, tags = (folders.analysis(f"cove/{name}.{analysis}") for analysis in ("wsd", "pos"))
        layers = (
            [row["sets"]["all"]["f1"] for row in senses["systems"] if row["encoder"] == "CoVe"],
            [row["accuracy"] for row in tags["rows"] if row["encoder"] == "CoVe"],
        )
        perplexities = own["dev_perplexity"]
        figures = (str(len(perplexities)), f"{perplexities[own['best_epoch'] - 1]:.2f}", f"{own['bleu']:.1f}")
        scores = (", ".join(f"{value:.1f}" for value in both) for both in layers)
        found.append([name, f"{own['pairs']:,}", *figures, *scores])
    yield from _joined(found)


def _senses() -> Iterator[str]:
    found = read_quality("small-en")["senses"]
    layers = [f"layer {layer}" for layer in range(len(found["layers"]))]
    figures = (f"{value:.1f}" for value in (*found["layers"], found["chance"], found["most_frequent"]))
    question = "the nearest use of the same word, in another document, has the same sense (%)"
    yield from _joined([["", *layers, "chance", "most frequent sense"], [question, *figures]])
    yield ""
    yield f"*{found['words']:,} ambiguous words of {found['data']}.*"


def _gap() -> Iterator[str]:
    rows: list[Cells] = [["the actual word of a place", "left side", "right side", "both sides"]]
    places = []
    for model in ("small-en", "small-ko"):
        found = read_quality(model)["gap"]
        places.append(f"{found['places']:,} of {model}")
        for name, key in (("comes first", "first"), ("is among the first ten", "first_ten")):
            cells = (f"{found[key][side]:.1f}" for side in ("forward", "backward", "both"))
            rows.append([f"{model}: {name} (%)", *cells])
    yield from (*_joined(rows), "")
    yield f"*Places of held-out text: {', '.join(places)}.*"


def _pos(record: Record) -> list[list[Cells]]:
    rows: list[Cells] = [["vectors", "all words (95 % interval)", "unseen", "ambiguous", "selectivity", "compression"]]
    for row in record["rows"]:
        measured = (_cell(row[key], 1) for key in ("unseen", "ambiguous", "selectivity"))
        rows.append(
            [_name(row, record), _between(row["accuracy"], row["interval"]), *measured, _cell(row["compression"], 2)]
        )
    return [rows]


def _wsd(record: Record) -> list[list[Cells]]:
    names = list(record["systems"][0]["sets"])
    rows: list[Cells] = [["system", *names, "over first sense"]]
    for system in record["systems"]:
        difference, low, high = system["minus_first_sense"]
        over = f"{difference:+.1f} ({low:+.1f} to {high:+.1f})" if system["layer"] != "first sense" else ""
        rows.append([_name(system, record), *(f"{system['sets'][name]['f1']:.1f}" for name in names), over])
    return [rows]


def _precision(record: Record) -> list[list[Cells]]:
    shown = [(question, k) for question in record["words"] for k in ("1", "10")]
    rows: list[Cells] = [["vectors", *(f"same {question}, nearest {k}" for question, k in shown)]]
    for row in record["rows"]:
        measured = [row["precision"].get(question, {}).get(k) for question, k in shown]
        rows.append([_name(row, record), *(_between(*one) if one else "" for one in measured)])
    return [rows]


def _geometry(record: Record) -> list[list[Cells]]:
    keys = ("anisotropy", "self_similarity", "intra_sentence", "explained")
    names = [_name(row, record) for row in record["layers"]]
    rows: list[Cells] = [["vectors", "anisotropy", "self-similarity", "intra-sentence", "explained variance", "norm"]]
    for name, row in zip(names, record["layers"], strict=True):
        rows.append([name, *(_cell(row[key] and row[key][0], 3) for key in keys), _cell(row["norm"], 1)])
    alike = ([f"{value:.2f}" for value in values] for values in record["cka"])
    return [rows, [["CKA", *names], *([name, *values] for name, values in zip(names, alike, strict=True))]]


def _neighbors(record: Record) -> list[list[Cells]]:
    rows: list[Cells] = [["query", "layer", "nearest other words", "nearest occurrence of the word"]]
    for query in record["queries"]:
        shown = _in_context(query["sentence"], query["place"])
        for layer, near in enumerate(query["layers"]):
            words = ", ".join(hit["word"] for hit in near["other"][:5])
            best = near["same"][0] if layer and near["same"] else None
            same = _in_context(best["sentence"], best["position"]) if best else ""
            rows.append(["" if layer else shown, str(layer), _plain(words), same])
    return [rows]


_TABLES: dict[str, Callable[[Record], list[list[Cells]]]] = {
    "pos": _pos,
    "wsd": _wsd,
    "precision": _precision,
    "geometry": _geometry,
    "neighbors": _neighbors,
}


def _in_context(tokens: list[str], place: int) -> str:
    """The token with a few around it."""
    start, end = max(0, place - _AROUND), min(len(tokens), place + _AROUND + 1)
    left, right = (" ".join(map(_plain, part)) for part in (tokens[start:place], tokens[place + 1 : end]))
    before, after = "... " if start else "", " ..." if end < len(tokens) else ""
    return f"{before}{left} **{_plain(tokens[place])}** {right}{after}"


def _plain(text: str) -> str:
    """As a table of Markdown shows it."""
    return re.sub(r"([|*_<\[\]\\`])", r"\\\1", text)


def _name(row: Record, record: Record) -> str:
    names = {"biLM": record["model"], "random biLM": "random weights", "static": "static vectors"}
    encoder, *votes = row["encoder"].split(" k-NN")
    name = names.get(encoder, encoder) + (" k-NN" if votes else "")
    if not row["layer"] or row["layer"].startswith("("):
        return f"{name} {row['layer']}".strip()
    return ", ".join(filter(None, (name, row["layer"])))


def _between(mean: float, interval: Sequence[float]) -> str:
    return f"{mean:.1f} ({interval[0]:.1f} to {interval[1]:.1f})"


def _cell(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _source(record: Record) -> str:
    changed = " with changes" if (record["commit"] or "").endswith("+") else ""
    commit = f"commit {record['commit'].rstrip('+')}{changed}" if record["commit"] else "commit not recorded"
    return f"*{record['date'][:10]}, elmo {record['elmo']}, {commit}: `{record['command']}`*"
