"""The tables of docs/analysis.md and docs/explorer.md, made of the records in paper/records/analysis.

A block of a page that begins with `<!-- table NAME -->` and ends with `<!-- end -->` is made of NAME.json, as `elmo
analyze` wrote it; everything else is left as it is. `<!-- cove -->` compares the trainings of CoVe in cove/: NAME.json
is the report of `elmo cove --json`, NAME.wsd.json and NAME.pos.json are records of `elmo analyze --cove`.
`<!-- quality senses -->` and `<!-- quality gap -->` are made of the bundled models' quality.json.
"""

import json
import re
from collections.abc import Iterator

from elmo.analysis.record import Record
from elmo_paper.places import ANALYSES, DOCS

BUNDLED = DOCS.parent / "src" / "elmo" / "bundled"

_BLOCK = re.compile(r"(<!-- table ([\w.-]+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
_OWN_BLOCK = re.compile(r"(<!-- (cove|quality senses|quality gap) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
_FIGURE = re.compile(r"\d\.\d|\d %|\d points")
# Tokens to each side of a word that are shown.
_AROUND = 9


def read_record(name: str) -> Record:
    """One record of the page."""
    return json.loads((ANALYSES / f"{name}.json").read_text(encoding="utf-8"))


def filled(page: str) -> str:
    """The page with every block made anew."""
    lines = {"cove": _cove, "quality senses": _senses, "quality gap": _gap}
    page = _OWN_BLOCK.sub(lambda found: "\n".join([found[1].strip(), *lines[found[2]](), found[3]]), page)
    return _BLOCK.sub(lambda found: f"{found[1]}{_table(read_record(found[2]))}\n{found[3]}", page)


def read_quality(model: str) -> Record:
    """What `runs/quality/model_quality.py` measured of a bundled model."""
    return json.loads((BUNDLED / model / "quality.json").read_text(encoding="utf-8"))


def stale(page: str) -> Iterator[str]:
    """Lines of text, outside tables and blocks, that hold figures."""
    text = _OWN_BLOCK.sub("", _BLOCK.sub("", re.sub(r"```.*?```", "", page, flags=re.DOTALL)))
    return (line for line in text.splitlines() if _FIGURE.search(line) and not line.startswith("|"))


def _cove() -> Iterator[str]:
    """A row for each training, the smallest first."""
    heads = ("trained on", "pairs", "epochs", "dev perplexity", "test BLEU", "word senses", "parts of speech")
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    names = [path.stem for path in (ANALYSES / "cove").glob("*.json") if "." not in path.stem]
    for own, name in sorted(((read_record(f"cove/{name}"), name) for name in names), key=lambda one: one[0]["pairs"]):
        senses, tags = (read_record(f"cove/{name}.{analysis}") for analysis in ("wsd", "pos"))
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


def _table(record: Record) -> str:
    lines = {"pos": _pos, "wsd": _wsd, "precision": _precision, "geometry": _geometry, "neighbors": _neighbors}
    return "\n".join([*lines[record["analysis"]](record), "", _source(record)])


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


def _precision(record: Record) -> Iterator[str]:
    questions = list(record["words"])
    heads = [f"same {question}, nearest {k}" for question in questions for k in ("1", "10")]
    yield f"| vectors | {' | '.join(heads)} |"
    yield "|---" * (len(heads) + 1) + "|"
    for row in record["rows"]:
        measured = [row["precision"][question][k] for question in questions for k in ("1", "10")]
        cells = [f"{mean:.1f} ({low:.1f} to {high:.1f})" for mean, (low, high) in measured]
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
