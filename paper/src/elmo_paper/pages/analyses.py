"""Blocks of docs/analysis.md, docs/explorer.md and docs/paper.md that show what the layers of a model know.

They are made of records of the analyses, and of the bundled models' quality.json.
"""

import json
import re
from collections.abc import Iterator, Sequence

from elmo_paper.analysis.record import Record
from elmo_paper.pages.claims import NOT_YET
from elmo_paper.pages.records import Folders
from elmo_paper.pages.tables import Cells, aligned
from elmo_paper.places import DOCS
from elmo_paper.reproduce import layer_tables, paper

BUNDLED = DOCS.parent / "src" / "elmo" / "bundled"
_ENCODERS = {"random biLM": "random weights", "static": "static vectors"}
# Tokens to each side of a word that are shown.
_AROUND = 9


def table(_: str, names: Sequence[str], folders: Folders) -> Iterator[str]:
    """`<!-- table wsd-small-en -->`: one record of an analysis, and where it comes from."""
    record = folders.analysis(*names)
    lines = {"pos": _pos, "wsd": _wsd, "precision": precision_lines, "geometry": _geometry, "neighbors": _neighbors}
    yield from (*lines[record["analysis"]](record), "", _source(record))


def layers(_: str, tables: Sequence[str], folders: Folders) -> Iterator[str]:
    """`<!-- layers table5 -->`: all records of the table beside the paper's rows."""
    yield from layer_lines(tables[0], list(folders.analyzed(tables[0]).values()))


def layer_lines(table: str, records: Sequence[Record]) -> list[str]:
    """Tables 5 and 6: the paper's systems first, in its order; of word senses its own method alone, no votes of
    neighbors."""
    rows = {record["model"]: {row.name: row for row in layer_tables.rows(table, record)} for record in records}
    theirs = {name: row.paper for own in rows.values() for name, row in own.items()}
    names = layer_tables.figures_of_paper(table)["rows"]
    found: list[Cells] = [["vectors", "the paper", *rows]]
    for name in [*names, *(one for one in theirs if theirs[one] is None)]:
        ours = [own[name].ours if name in own else None for own in rows.values()]
        cells = ["" if score is None else f"{score:.1f}" for score in (theirs[name], *ours)]
        if name.startswith("CoVe") and not any(cells[1:]):
            cells[1] = NOT_YET
        encoder, _, layer = name.partition(", ")
        if " k-NN" not in name:
            found.append([", ".join(filter(None, (_ENCODERS.get(encoder, encoder), layer))), *cells])
    return aligned(found)


def nearest(_: str, __: Sequence[str], folders: Folders) -> Iterator[str]:
    """`<!-- nearest -->`: table 4, the paper's neighbors of "play" and ours."""
    records = [folders.analysis(path.stem) for path in sorted(folders.analyses.glob("neighbors-*.json"))]
    for record in records:
        record["queries"] = [one for one in record["queries"] if one["sentence"][one["place"]] in paper.GLOVE_NEIGHBORS]
    yield from nearest_lines(records)


def nearest_lines(records: Sequence[Record]) -> list[str]:
    """The paper's two queries, then those of the records: what is nearest in static vectors and in the last layer."""
    found: list[Cells] = [["", "the word in its sentence", "nearest"]]
    for word, near in paper.GLOVE_NEIGHBORS.items():
        found.append(["the paper: GloVe", word, ", ".join(near)])
    for sentence, same in paper.BILM_NEIGHBORS.items():
        found.append(["the paper: biLM", *(re.sub(r"\[(\w+)\]", r"**\1**", text) for text in (sentence, same))])
    for record in records:
        words: dict[str, str] = {}
        for query in record["queries"]:
            near = ", ".join(word for word, _ in query["static"] or ())
            words.setdefault(query["sentence"][query["place"]], near)
        for word, near in words.items():
            found.append([f"{record['model']}: static vectors", word, near])
        for query in record["queries"]:
            where = _in_context(query["sentence"], query["place"])
            same = [_in_context(hit["sentence"], hit["position"]) for hit in query["layers"][-1]["same"][:1]]
            found.append([f"{record['model']}: biLM, layer {len(query['layers']) - 1}", where, *(same or [""])])
    return aligned(found)


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
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
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
        cells = [f"{own['pairs']:,}", *figures, *(", ".join(f"{value:.1f}" for value in both) for both in layers)]
        yield f"| {name} | {' | '.join(cells)} |"


def _senses() -> Iterator[str]:
    found = read_quality("small-en")["senses"]
    layers = [f"layer {layer}" for layer in range(len(found["layers"]))]
    figures = [*found["layers"], found["chance"], found["most_frequent"]]
    yield f"| | {' | '.join(layers)} | chance | most frequent sense |"
    yield "|---" * (len(figures) + 1) + "|"
    question = "the nearest use of the same word, in another document, has the same sense (%)"
    yield f"| {question} | {' | '.join(f'{value:.1f}' for value in figures)} |"
    yield ""
    yield f"*{found['words']:,} ambiguous words of {found['data']}.*"


def _gap() -> Iterator[str]:
    yield "| the actual word of a place | left side | right side | both sides |"
    yield "|---|---|---|---|"
    places = []
    for model in ("small-en", "small-ko"):
        found = read_quality(model)["gap"]
        places.append(f"{found['places']:,} of {model}")
        for name, key in (("comes first", "first"), ("is among the first ten", "first_ten")):
            cells = (f"{found[key][side]:.1f}" for side in ("forward", "backward", "both"))
            yield f"| {model}: {name} (%) | {' | '.join(cells)} |"
    yield ""
    yield f"*Places of held-out text: {', '.join(places)}.*"


def _pos(record: Record) -> Iterator[str]:
    yield "| vectors | all words (95 % interval) | unseen | ambiguous | selectivity | compression |"
    yield "|---|---|---|---|---|---|"
    for row in record["rows"]:
        low, high = row["interval"]
        measured = (_cell(row[key], 1) for key in ("unseen", "ambiguous", "selectivity"))
        cells = (f"{row['accuracy']:.1f} ({low:.1f} to {high:.1f})", *measured, _cell(row["compression"], 2))
        yield f"| {_name(row, record)} | {' | '.join(cells)} |"


def _wsd(record: Record) -> Iterator[str]:
    names = list(record["systems"][0]["sets"])
    yield f"| system | {' | '.join(names)} | over first sense |"
    yield "|---" * (len(names) + 2) + "|"
    for system in record["systems"]:
        difference, low, high = system["minus_first_sense"]
        over = f"{difference:+.1f} ({low:+.1f} to {high:+.1f})" if system["layer"] != "first sense" else ""
        scores = " | ".join(f"{system['sets'][name]['f1']:.1f}" for name in names)
        yield f"| {_name(system, record)} | {scores} | {over} |"


def precision_lines(record: Record) -> Iterator[str]:
    """How often the nearest occurrences are right, by system."""
    questions = list(record["words"])
    heads = [f"same {question}, nearest {k}" for question in questions for k in ("1", "10")]
    yield f"| vectors | {' | '.join(heads)} |"
    yield "|---" * (len(heads) + 1) + "|"
    for row in record["rows"]:
        measured = [row["precision"].get(question, {}).get(k) for question in questions for k in ("1", "10")]
        cells = [f"{one[0]:.1f} ({one[1][0]:.1f} to {one[1][1]:.1f})" if one else "" for one in measured]
        yield f"| {_name(row, record)} | {' | '.join(cells)} |"


def _geometry(record: Record) -> Iterator[str]:
    keys = ("anisotropy", "self_similarity", "intra_sentence", "explained")
    yield "| vectors | anisotropy | self-similarity | intra-sentence | explained variance | norm |"
    yield "|---|---|---|---|---|---|"
    for row in record["layers"]:
        cells = [_cell(row[key] and row[key][0], 3) for key in keys]
        yield f"| {_name(row, record)} | {' | '.join(cells)} | {_cell(row['norm'], 1)} |"
    names = [_name(row, record) for row in record["layers"]]
    yield from ("", f"| CKA | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|")
    for name, alike in zip(names, record["cka"], strict=True):
        yield f"| {name} | {' | '.join(f'{value:.2f}' for value in alike)} |"


def _neighbors(record: Record) -> Iterator[str]:
    yield "| query | layer | nearest other words | nearest occurrence of the word |"
    yield "|---|---|---|---|"
    for query in record["queries"]:
        shown = _in_context(query["sentence"], query["place"])
        for layer, near in enumerate(query["layers"]):
            words = ", ".join(hit["word"] for hit in near["other"][:5])
            best = near["same"][0] if layer and near["same"] else None
            same = _in_context(best["sentence"], best["position"]) if best else ""
            yield f"| {'' if layer else shown} | {layer} | {_plain(words)} | {same} |"


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


def _cell(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _source(record: Record) -> str:
    changed = " with changes" if (record["commit"] or "").endswith("+") else ""
    commit = f"commit {record['commit'].rstrip('+')}{changed}" if record["commit"] else "commit not recorded"
    return f"*{record['date'][:10]}, elmo {record['elmo']}, {commit}: `{record['command']}`*"
