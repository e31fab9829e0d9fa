"""The block of docs/beside-a-transformer.md: small-en and all-MiniLM-L6-v2 on the same examples."""

from collections.abc import Iterator, Sequence

from elmo_paper.analysis.encoders import BILM
from elmo_paper.analysis.record import Record
from elmo_paper.pages.records import LINK, Folders
from elmo_paper.pages.tables import with_interval
from elmo_paper.systems import TITLES

_PROBES = {
    "pos": ("parts of speech, English Web Treebank: accuracy", "accuracy"),
    "names-gum": ("names, GUM: F1 of tokens", "name_f1"),
    "names-wnut17": ("names, WNUT-17: F1 of tokens", "name_f1"),
    "names-btc": ("names, Broad Twitter Corpus: F1 of tokens", "name_f1"),
}
_TAGGERS = {
    "names-gum-tagger": "names, GUM: F1 of a tagger",
    "names-wnut17-tagger": "names, WNUT-17: F1 of a tagger",
    "names-btc-tagger": "names, Broad Twitter Corpus: F1 of a tagger",
}
_NAMES = "small-en", "minilm"
_SEMCOR = "senses of SemCor, nearest sense vector, Senseval and SemEval: F1 (the first sense always: {})"
_SENSES = "nearest use of a two-sense word has its sense, 20 words: %"


def beside(_: str, __: Sequence[str], folders: Folders) -> Iterator[str]:
    """`<!-- beside -->`: a row for each record in analysis/minilm. The layer of a probe is the one best on dev."""
    yield "| measured | training / test examples | small-en | MiniLM | record |"
    yield "|---|---|---|---|---|"
    for name, (what, key) in _PROBES.items():
        if (folders.analyses / "minilm" / f"{name}.json").is_file():
            record = folders.analysis(f"minilm/{name}")
            cells = [_best(record, encoder, key) for encoder in (BILM, TITLES["minilm"])]
            train, _, test = record["tokens"]
            yield f"| {what} | {train:,} / {test:,} words | {' | '.join(cells)} | {_link(name)} |"
    for name, what in _TAGGERS.items():
        if (folders.analyses / "minilm" / f"{name}.json").is_file():
            yield f"| {what} | {_tagger(folders.analysis(f'minilm/{name}'))} | {_link(name)} |"
    if (folders.analyses / "minilm/senses.json").is_file():
        record = folders.analysis("minilm/senses")
        first, *cells = [_sense(record, encoder) for encoder in ("", BILM, TITLES["minilm"])]
        train, words = record["data"]["train"]["file"].split(".")[0], sum(record["sets"].values())
        what = _SEMCOR.format(first.partition(",")[0])
        yield f"| {what} | {train} / {words:,} words | {' | '.join(cells)} | {_link('senses')} |"
    if (folders.analyses / "minilm/search.json").is_file():
        yield from _search(folders.analysis("minilm/search"))
    record = folders.analysis("minilm/two-senses")
    cells = [_most(record, encoder) for encoder in _NAMES]
    yield f"| {_SENSES} | - / {sum(record['sets'].values())} uses | {' | '.join(cells)} | {_link('two-senses')} |"


def _best(record: Record, encoder: str, key: str) -> str:
    rows = [row for row in record["rows"] if row["encoder"] == encoder]
    row = max(rows, key=lambda one: one["dev_accuracy"])
    if key == "accuracy":
        return f"{row[key]:.1f} ({row['interval'][0]:.1f} to {row['interval'][1]:.1f}), {row['layer']}"
    best = max(rows, key=lambda one: one[key])
    return f"{row[key]:.1f}, {row['layer']} (highest on test: {best[key]:.1f}, {best['layer']})"


def _search(record: Record) -> Iterator[str]:
    """Of each way to compare texts, both, with their intervals; BM25 beside them."""
    (read,) = record["sets"]
    found = {row["system"]: "{:.3f} ({:.3f} to {:.3f})".format(*row["MRR@10"]) for row in read["rows"]}
    sizes = f"- / {read['questions']} questions, {read['paragraphs']} paragraphs"
    for way in ("mean", "MaxSim"):
        what = f"the paragraph of a question, XQuAD, {way}: MRR@10 (BM25: {found['BM25']})"
        cells = [f"{found[f'{way} of {name}']}, {record['chosen'][f'{way} of {name}']}" for name in _NAMES]
        yield f"| {what} | {sizes} | {' | '.join(cells)} | {_link('search')} |"


def _sense(record: Record, encoder: str) -> str:
    """Of the best layer on these very words."""
    row = max((row for row in record["systems"] if row["encoder"] == encoder), key=lambda one: one["sets"]["all"]["f1"])
    return f"{row['sets']['all']['f1']:.1f}, {row['layer']}"


def _tagger(record: Record) -> str:
    """Of `elmo-paper reproduce bilms`: the share of the training data, both means over seeds, and how much MiniLM's is
    higher, with an interval over seeds and examples."""
    _, ours, theirs = (system["test"] for system in record["systems"])
    claim = next(one for one in reversed(record["claims"]) if one["measured_on"] == "test")
    gap = with_interval(-claim["difference"], [-end for end in reversed(claim["interval"])], 1)
    share, examples = record["settings"]["train_share"], record["bootstrap"]["units"]["test"]
    return f"{share:.0%} / {examples:,} sentences | {ours['mean']:.1f} | {theirs['mean']:.1f}, {gap}"


def _most(record: Record, encoder: str) -> str:
    """Of the best layer on these very uses: no others choose it."""
    row = max((row for row in record["rows"] if row["encoder"] == encoder), key=lambda one: one["right"])
    return f"{100 * row['right'] / sum(record['sets'].values()):.1f}, layer {row['layer']}"


def _link(name: str) -> str:
    return f"[{name}.json]({LINK}/analysis/minilm/{name}.json)"
