"""What things are called on pages and pictures."""

from typing import Any

TITLES = {
    "table1": "What ELMo adds",
    "table2": "Which layers ELMo is made of",
    "table3": "Where ELMo is put",
    "figure1": "How much training data",
    "figure2": "Which layers the mixes use",
    "gamma": "Whether ELMo is scaled by gamma",
    "bilms": "Which biLM",
    "taglm": "ELMo beside TagLM",
}
"""By experiment."""

_IN_PAPER = {name: name.replace("table", "table ").replace("figure", "figure ") for name in TITLES} | {
    "gamma": "supplement A.2",
    "bilms": "supplement A.1",
    "taglm": "section 4",
}
_METRICS = {
    "f1": "F1",
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "average_f1": "average F1",
    "em": "exact match",
    "exact_match": "exact match",
}
_TASKS = {
    "ner": "named entities",
    "pos": "parts of speech",
    "sst": "sentiment",
    "snli": "textual entailment",
    "squad": "question answering",
    "srl": "semantic roles",
    "coref": "coreference",
}


def title(experiment: str) -> str:
    """ "Which layers ELMo is made of (table 2 of the paper)"."""
    return f"{TITLES[experiment]} ({_IN_PAPER[experiment]} of the paper)"


def data_name(record: dict[str, Any]) -> str:
    """ "Broad Twitter Corpus (named entities)"; the task alone if the data set has no name."""
    task = _TASKS[record["task"]] if record["task"] in _TASKS else record["task"]
    return f"{record['name']} ({task})" if record.get("name") else task


def metric_name(metric: str) -> str:
    """ "F1" for "f1"."""
    return _METRICS.get(metric, metric.replace("_", " "))


def layer_names(number: int) -> list[str]:
    """Of a biLM with that many layers, the token layer among them."""
    return ["token layer", *(f"LSTM layer {layer}" for layer in range(1, number))]
