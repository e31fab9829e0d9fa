"""What the paper found, in numbers: nothing here is ours.

Source: Peters et al. 2018, "Deep contextualized word representations" (NAACL-HLT), as collected in the specification,
section 7.1. NER and SST-5 stand in table 1 alone; the ablations were made on SQuAD, SNLI and SRL.
"""

from dataclasses import dataclass

SOURCE = "Peters et al. 2018, Deep contextualized word representations, NAACL-HLT"


@dataclass(frozen=True)
class TestScores:
    """A line of table 1: F1 or accuracy on test data."""

    data: str
    baseline: float
    elmo: float
    deviation: float
    """Standard deviation over five seeds."""
    error_reduction: float
    """Relative, in percent."""


TABLE_1 = {
    "ner": TestScores("CoNLL-2003, F1", 90.15, 92.22, 0.10, 21.0),
    "sst": TestScores("SST-5, accuracy", 51.4, 54.7, 0.5, 6.8),
}
"""By the tasks' names here."""

TABLES = {
    "table2": {
        "baseline": {"SQuAD": 80.8, "SNLI": 88.1, "SRL": 81.6},
        "top": {"SQuAD": 84.7, "SNLI": 89.1, "SRL": 84.1},
        "lambda-1": {"SQuAD": 85.0, "SNLI": 89.3, "SRL": 84.6},
        "lambda-0.001": {"SQuAD": 85.2, "SNLI": 89.5, "SRL": 84.8},
    },
    "table3": {
        "input": {"SQuAD": 85.1, "SNLI": 88.9, "SRL": 84.7},
        "both": {"SQuAD": 85.6, "SNLI": 89.5, "SRL": 84.3},
        "output": {"SQuAD": 84.8, "SNLI": 88.7, "SRL": 80.9},
    },
}
"""Tables 2 and 3, on development data (F1, accuracy, F1), by the names of `systems`."""

PICTURES = {
    "figure1": "The paper shows curves for SNLI and SRL without their numbers. It says: the gain is largest on small "
    "data; SRL with ELMo on 1 % of the data is about as good as the baseline on 10 %; SRL's baseline is best after 486 "
    "epochs, with ELMo its score is passed after 10.",
    "figure2": "The paper shows shades without their numbers. It says: at the input the task favors the first LSTM "
    "layer; at the output the weights are roughly balanced, with a slight preference for the lower layers.",
}
"""What the paper says of the figures that give no numbers."""


def gain(experiment: str, better: str, worse: str) -> dict[str, float]:
    """By the paper's tasks, how much better one system of a table is than another."""
    table = TABLES[experiment]
    return {task: round(table[better][task] - table[worse][task], 1) for task in table[better]}
