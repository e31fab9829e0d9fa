"""The paper's own figures; nothing here was measured by us.

Source: Peters et al. 2018, "Deep contextualized word representations" (NAACL-HLT), tables 1 to 7, figures 1 and 2 and
sections 5.1 to 5.4. Named entities, coreference and sentiment are in table 1 only; the ablations were made on SQuAD,
SNLI and SRL.
"""

from dataclasses import dataclass

SOURCE = "Peters et al. 2018, Deep contextualized word representations, NAACL-HLT"


@dataclass(frozen=True)
class TestScores:
    """A line of table 1: F1 or accuracy on test data."""

    data: str
    previous_best: float
    baseline: float
    elmo: float
    gain: float
    """As printed: from figures that were not yet rounded."""
    error_reduction: float
    """Relative, in percent."""
    deviation: float | None = None
    """Standard deviation over five seeds, where the paper has one."""


TABLE_1 = {
    "squad": TestScores("SQuAD, F1", 84.4, 81.1, 85.8, 4.7, 24.9),
    "snli": TestScores("SNLI, accuracy", 88.6, 88.0, 88.7, 0.7, 5.8, 0.17),
    "srl": TestScores("OntoNotes, F1", 81.7, 81.4, 84.6, 3.2, 17.2),
    "coref": TestScores("OntoNotes, average F1", 67.2, 67.2, 70.4, 3.2, 9.8),
    "ner": TestScores("CoNLL-2003, F1", 91.93, 90.15, 92.22, 2.06, 21.0, 0.10),
    "sst": TestScores("SST-5, accuracy", 53.7, 51.4, 54.7, 3.3, 6.8, 0.5),
}
"""By the names of our tasks."""

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
"""Tables 2 and 3, on dev data (F1, accuracy, F1), by the names of `systems`."""

SAYS = {
    "gamma": "The paper says (supplement A.2): without gamma, the top layer alone did worse than the baseline on SNLI, "
    "and training failed on SRL.",
    "taglm": "On CoNLL-2003, each with its own biLM, the papers report 91.93 F1 for TagLM, 91.55 with its vectors at "
    "the input (Peters et al. 2017); 92.22 for ELMo, 90.15 without it.",
    "bilms": "The paper says (supplement A.1): with the biLM fine-tuned on a task's own text, dev accuracy rose from "
    "88.9 to 89.5 (SNLI) or stayed as it was (SST-5). It also says (section 4): the model for SQuAD gains 1.8 F1 with "
    "CoVe and 4.7 with ELMo; with ELMo in CoVe's place, that for SST-5 gains 1.0 accuracy.",
    "figure1": "The paper shows curves for SNLI and SRL without their values. It says: the gain is largest on small "
    "data; SRL with ELMo on 1 % of the data is about as good as the baseline on 10 %; SRL's baseline is best after 486 "
    "epochs, a score that ELMo passes after 10.",
    "figure2": "The paper shows the weights as shades, without their values. It says: at the input the task favors the "
    "first LSTM layer; at the output the weights are roughly balanced, with a slight preference for the lower layers.",
}
"""What the paper states where it gives no values, or only incomparable ones."""

GLOVE_NEIGHBORS = {
    "play": ("playing", "game", "games", "played", "players", "plays", "player", "Play", "football", "multiplayer")
}
"""Table 4: a word -> its nearest words in GloVe vectors."""

BILM_NEIGHBORS = {
    "Chico Ruiz made a spectacular [play] on Alusik 's grounder ...": (
        "Kieffer , the only junior in the group , was commended for his ability to hit in the clutch , as well as his "
        "all-round excellent [play] ."
    ),
    "Olivia De Havilland signed to do a Broadway [play] for Garson ...": (
        "... they were actors who had been handed fat roles in a successful [play] , and had talent enough to fill the "
        "roles competently , with nice understatement ."
    ),
}
"""Table 4: a word in its sentence -> its nearest occurrence by the biLM."""

TABLE_5 = {
    "first sense": 65.9,
    "Raganato et al. 2017": 69.9,
    "Iacobacci et al. 2016": 70.1,
    "CoVe, layer 1": 59.4,
    "CoVe, layer 2": 64.7,
    "biLM, layer 1": 67.4,
    "biLM, layer 2": 69.0,
}
"""F1 on all words of the test sets of Raganato et al. 2017, trained on SemCor."""

TABLE_6 = {
    "Collobert et al. 2011": 97.3,
    "Ma and Hovy 2016": 97.6,
    "Ling et al. 2015": 97.8,
    "CoVe, layer 1": 93.3,
    "CoVe, layer 2": 92.8,
    "biLM, layer 1": 97.3,
    "biLM, layer 2": 96.8,
}
"""Accuracy on the Penn Treebank's test data."""

TABLE_7 = {
    "squad-articles": ("SQuAD, context", 99.1, 43.5),
    "squad-questions": ("SQuAD, questions", 158.2, 52.0),
    "snli": ("SNLI", 72.1, 16.8),
    "srl": ("CoNLL-2012", 92.3, None),
    "coref": ("CoNLL-2012", 92.3, None),
    "ner": ("CoNLL-2003", 103.2, 46.3),
    "sst": ("SST-5", 131.5, 78.6),
}
"""By the names of our texts: the paper's text, and the biLM's perplexity on its dev data before and after an epoch on
its training data; None where the paper left the biLM as it was, because its task didn't gain."""


def gain(experiment: str, better: str, worse: str) -> dict[str, float]:
    """By the paper's tasks, how much better one system of a table is than another."""
    table = TABLES[experiment]
    return {task: round(table[better][task] - table[worse][task], 1) for task in table[better]}
