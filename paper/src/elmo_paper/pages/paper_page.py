"""The tables of docs/paper.md, made of the records in paper/records.

A block that begins with one of these lines and ends with `<!-- end -->` is made anew, everything else is left as it is:

    <!-- summary -->          of each table and figure, which of its claims agree
    <!-- gains -->            table 1, all tasks and data sets
    <!-- scores table2 -->    the paper's figures and ours, as the paper prints tables 2 and 3
    <!-- claims table2 -->    of a table or figure: what the paper says, what was found, verdicts, records, pictures
    <!-- layers table5 -->    tables 5 and 6: the systems, the paper's score and ours
    <!-- nearest -->          table 4: the paper's neighbors of "play" and ours
    <!-- others -->           the claims of every record that no other block shows
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from elmo_paper.pages.paper_rows import (
    ANALYSIS_OF,
    HEADINGS,
    NOT_YET,
    REPOSITORY,
    Folders,
    Row,
    bilm_name,
    other_headings,
    read,
    rows_of,
)
from elmo_paper.pages.plots import draw, draw_finetuned, draw_gains, draw_layers
from elmo_paper.pages.record_page import cautions
from elmo_paper.pages.tables import aligned, data_name, metric_name
from elmo_paper.reproduce import layer_tables, paper
from elmo_paper.reproduce.record import ExperimentRecord
from elmo_paper.reproduce.verdicts import AGREES, DISAGREES, UNDECIDED

_BLOCK = re.compile(
    r"(<!-- (summary|gains|scores|claims|layers|nearest|others)(?: (\w+))? -->\n).*?(<!-- end -->)", flags=re.DOTALL
)
_ENCODERS = {"random biLM": "random weights", "static": "static vectors"}


def filled(page: str, folders: Folders = REPOSITORY) -> str:
    """The page with every block made anew."""

    def made(found: re.Match[str]) -> str:
        begin, kind, table, end = found.groups()
        lines = _BLOCKS[kind](folders) if table is None else _OF_TABLE[kind](table, folders)
        return "\n".join([begin.strip(), *lines, end])

    return _BLOCK.sub(made, page)


def draw_all(pictures: Path, folders: Folders = REPOSITORY) -> None:
    """A picture of each record of an experiment, and one each of tables 1 and 4 to 7."""
    for path in sorted(folders.records.glob("*.*.json")):
        record = read(path)
        if record.get("claims") and record["experiment"] != "table1":
            draw(record, pictures / path.stem, (".svg",))
    draw_gains(list(folders.of("table1").values()), pictures / "table1", (".svg",))
    draw_finetuned([*folders.finetuned().values()], pictures / "table7", (".svg",))
    for table in ANALYSIS_OF:
        draw_layers(table, list(folders.analyzed(table).values()), pictures / table, (".svg",))


def _summary(folders: Folders) -> Iterator[str]:
    table = [["of the paper", "measured on", "agrees", "does not agree", "open"]]
    for name, heading in (HEADINGS | other_headings(folders)).items():
        rows = rows_of(name, folders)
        anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        measured = list(dict.fromkeys(_shorter(row.short) for row in rows if row.verdict != NOT_YET))
        told = {verdict: _told(name, rows, verdict, measured) for verdict in (AGREES, DISAGREES, UNDECIDED, NOT_YET)}
        still = "; ".join(f"*{verdict}*: {told[verdict]}" for verdict in (UNDECIDED, NOT_YET) if told[verdict])
        where = f"{len(measured)} data sets" if name == "table1" else ", ".join(measured)
        table.append([f"[{heading}](#{anchor})", where, told[AGREES], told[DISAGREES], still])
    yield from aligned(table)


def _told(table: str, rows: Sequence[Row], verdict: str, measured: Sequence[str]) -> str:
    """The claims with the verdict, each with its data unless these are all; of table 1 the data and their gains."""
    data: dict[str, list[str]] = {}
    for row in rows:
        is_again = table == "bilms" and re.fullmatch("ELMo of .* beats the baseline", row.claim)  # table 1 has them
        if row.verdict.startswith(verdict) and not is_again:
            gain = "" if table != "table1" or row.difference is None else f" {row.difference:+.1f}"
            data.setdefault("" if table == "table1" else _short_claim(row), []).append(_shorter(row.short) + gain)
    parts = []
    for claim, own in data.items():
        where = ("; " if table == "table1" else ", ").join(dict.fromkeys(own))
        parts.append(f"{claim} ({where})" if claim and {*own} != {*measured} else claim or where)
    return "; ".join(parts)


def _short_claim(row: Row) -> str:
    """Where the paper's tasks differ, ours may agree with those in which the claim doesn't hold."""
    claim = _shorter(row.claim)
    is_turned = row.verdict.startswith(f"{AGREES} with") and row.difference is not None and row.difference < 0
    return claim.replace(" > ", " < ") if is_turned else claim


_SHORTER = (
    (r" \([^)]*\)", ""),
    ("with (.*) of the training data, ", r"with \1: "),
    (r"ELMo's gain is larger with (.*) of the data than with (.*)", r"gain with \1 > gain with \2"),
    (r"ELMo with (.*) of the data is as good as the baseline with", r"ELMo with \1 = baseline with"),
    (r"with 100 % of the data, ELMo reaches the baseline's best dev score in fewer epochs", "fewer epochs"),
    (r"no weight is farther.*", "the weights are balanced"),
    (r"the layers below the top have more weight than the top", "lower layers lead"),
    (r"the first LSTM layer has the largest weight", "LSTM layer 1 leads"),
    (r"layer 2 finds the (.*) more often than chance does", r"nearest has the \1 > chance"),
    (r"an epoch on a task's text lowers its perplexity", "lower perplexity"),
    (r" (?:beats?|is better than) ", " > "),
    (r"\b(?:ELMo at |ELMo of |the |a )", ""),
    (r"^(?:textual|semantic) |, (?:names|two classes)$", ""),
    (r"^named entities$", "names"),
)
"""What a claim or a data set is called at greater length -> in the summary."""


def _shorter(text: str) -> str:
    for long, short in _SHORTER:
        text = re.sub(long, short, text)
    return text


def _gains(folders: Folders) -> Iterator[str]:
    head = ["task, data", "the paper", "here", "gain [95 % interval]", "errors removed (the paper's)", "biLM"]
    table = [[*head, "verdict, record"]]
    for row in rows_of("table1", folders):
        cells = [""] * 5 if row.verdict == NOT_YET else _gain(read(folders.records / Path(row.record).name), row)
        table.append([row.data, *cells, row.shown_verdict])
    yield from aligned(table)
    yield from ("", "![Table 1: scores without and with ELMo, and the gain](reproduction/table1.svg)")


def _gain(record: ExperimentRecord, row: Row) -> list[str]:
    known, (gain,), data = record["paper"]["table1"], record["gains"], row.measured_on
    without, with_elmo = record["systems"]
    scores = f"{without[data]['mean']:.1f} -> {with_elmo[data]['mean']:.1f} {metric_name(record['metric'])}"
    reduction = f"{round(gain[data]['error_reduction'])} % ({known['error_reduction']:.0f} %)"
    theirs = f"{known['baseline']} -> {known['elmo']}, {known['gain']:+g} ({known['data']})"
    return [theirs, scores, row.ours, reduction, bilm_name(with_elmo)]


def _scores(table: str, folders: Folders) -> Iterator[str]:
    """A row for each task of the paper and of ours, a column for each system, as tables 2 and 3 are printed."""
    known, records = paper.TABLES[table], folders.of(table)
    labels = {one["system"]: one["label"] for record in records.values() for one in record["systems"]}
    found = [["", *(labels.get(name, name) for name in known)]]
    for task in next(iter(known.values())):
        found.append([f"the paper: {task}", *(f"{scores[task]:.1f}" for scores in known.values())])
    for record in records.values():
        own = {one["system"]: one[record["decided_on"]]["mean"] for one in record["systems"]}
        found.append([f"here: {data_name(record)}", *(f"{own[name]:.1f}" for name in known)])
    yield from aligned(found)


def _claims(table: str, folders: Folders) -> Iterator[str]:
    if table in paper.SAYS:
        yield from (paper.SAYS[table], "")
    rows = rows_of(table, folders)
    columns = ["the paper"] if any(row.paper for row in rows) else []
    found = [["claim", "data", *columns, "here [95 % interval]", "verdict, record"]]
    for row in rows:
        theirs = [row.paper] if columns else []
        found.append([row.claim or "all claims", row.data, *theirs, row.ours, row.shown_verdict])
    yield from aligned(found)
    cautioned = [caution for record in folders.of(table).values() for caution in cautions(record)]
    yield from ("", *(f"- {caution}" for caution in cautioned)) if cautioned else ()
    pictures = {f"{section}.{table}": data_name(record) for section, record in folders.of(table).items()}
    if table in _WHOLE:
        pictures = {table: _WHOLE[table]}
    for name, data in pictures.items():
        yield from ("", f"![{HEADINGS.get(table, table)}: {data}](reproduction/{name}.svg)")


_WHOLE = dict.fromkeys(ANALYSIS_OF, "all systems") | {"table7": "all texts"}
"""Tables with one picture, and what it shows."""


def _layers(table: str, folders: Folders) -> Iterator[str]:
    """The paper's systems first, in its order; of word senses its own method alone, no votes of neighbors."""
    records = list(folders.analyzed(table).values())
    rows = {record["model"]: {row.name: row for row in layer_tables.rows(table, record)} for record in records}
    theirs = {name: row.paper for own in rows.values() for name, row in own.items()}
    found = [["vectors", "the paper", *rows]]
    for name in [*layer_tables.figures_of_paper(table)["rows"], *(one for one in theirs if theirs[one] is None)]:
        ours = [own[name].ours if name in own else None for own in rows.values()]
        cells = ["" if score is None else f"{score:.1f}" for score in (theirs[name], *ours)]
        if name.startswith("CoVe") and not any(cells[1:]):
            cells[1] = NOT_YET
        encoder, _, layer = name.partition(", ")
        if " k-NN" not in name:
            found.append([", ".join(filter(None, (_ENCODERS.get(encoder, encoder), layer))), *cells])
    yield from aligned(found)


def _nearest(folders: Folders) -> Iterator[str]:
    table = [["", "the word in its sentence", "nearest"]]
    for word, near in paper.GLOVE_NEIGHBORS.items():
        table.append(["the paper: GloVe", word, ", ".join(near)])
    for sentence, near in paper.BILM_NEIGHBORS.items():
        table.append(["the paper: biLM", *(re.sub(r"\[(\w+)\]", r"**\1**", text) for text in (sentence, near))])
    for path in sorted(folders.analyses.glob("neighbors-*.json")):
        record = read(path)
        own = [one for one in record["queries"] if one["sentence"][one["place"]] in paper.GLOVE_NEIGHBORS]
        for query in own[:1]:
            near = ", ".join(word for word, _ in query["static"] or ())
            table.append([f"{record['model']}: static vectors", query["sentence"][query["place"]], near])
        for query in own:
            hit = query["layers"][-1]["same"][0]
            where = _marked(query["sentence"], query["place"]), _marked(hit["sentence"], hit["position"])
            table.append([f"{record['model']}: biLM, layer {len(query['layers']) - 1}", *where])
    yield from aligned(table)


def _marked(tokens: Sequence[str], place: int) -> str:
    """The token with nine to each side."""
    left, right = " ".join(tokens[max(0, place - 9) : place]), " ".join(tokens[place + 1 : place + 10])
    return f"{left} **{tokens[place]}** {right}".replace("|", r"\|").strip()


def _others(folders: Folders) -> Iterator[str]:
    for name, heading in other_headings(folders).items():
        yield from (f"## {heading}", "", *_claims(name, folders), "")


_BLOCKS: Mapping[str, Callable[[Folders], Iterator[str]]] = {
    "summary": _summary,
    "gains": _gains,
    "nearest": _nearest,
    "others": _others,
}
_OF_TABLE: Mapping[str, Callable[[str, Folders], Iterator[str]]] = {
    "scores": _scores,
    "claims": _claims,
    "layers": _layers,
}
