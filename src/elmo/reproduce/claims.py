"""The paper's claims about each table and figure, judged by what came out here.

Source: Peters et al. 2018, sections 4 and 5.1 to 5.4 (specification 7.1).
"""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from elmo.reproduce.evidence import AGREES, DISAGREES, WITHIN, Difference, Kind, contrast, over_seeds
from elmo.reproduce.outcomes import Outcome, data_of
from elmo.reproduce.paper import gain

# How far from the plain average a layer's weight may be in a mix that is "roughly balanced", in parts of that average.
_BALANCED = 0.5


@dataclass(frozen=True)
class Judged:
    """A claim and what became of it."""

    claim: str
    """As a sentence."""
    measured: str
    """On what: "dev", "test" or "weights"."""
    difference: Difference
    verdict: str

    def table(self) -> dict[str, Any]:
        """For the JSON file."""
        found = {"claim": self.claim, "measured_on": self.measured, "verdict": self.verdict}
        return found | {"difference": self.difference.mean, "spread": self.difference.spread}


def judge(experiment: str, outcomes: list[Outcome]) -> list[Judged]:
    """Every claim about the experiment, on dev and, where there is one, on test data."""
    return _JUDGES[experiment](outcomes)


def _table2(outcomes: list[Outcome]) -> list[Judged]:
    return [
        *_compared("table2", outcomes, "ELMo (all layers, lambda 0.001) beats the baseline",
                   "lambda-0.001", "baseline"),
        *_compared("table2", outcomes, "the top layer alone beats the baseline", "top", "baseline"),
        *_compared("table2", outcomes, "all layers (lambda 1) beat the top layer alone", "lambda-1", "top"),
        *_compared("table2", outcomes, "all layers (lambda 0.001) beat the top layer alone", "lambda-0.001", "top"),
        *_compared("table2", outcomes, "a free mix (lambda 0.001) beats one near the average (lambda 1)",
                   "lambda-0.001", "lambda-1"),
    ]  # fmt: skip


def _table3(outcomes: list[Outcome]) -> list[Judged]:
    return [
        *_compared("table3", outcomes, "ELMo at the input beats ELMo at the output", "input", "output"),
        *_compared("table3", outcomes, "ELMo at both places beats the input alone", "both", "input"),
        *_compared("table3", outcomes, "ELMo at both places beats the output alone", "both", "output"),
    ]


def _compared(experiment: str, outcomes: list[Outcome], claim: str, better: str, worse: str) -> list[Judged]:
    """The claim with the paper's own differences; where those have both signs, the verdict names the tasks alike."""
    paper = gain(experiment, better, worse)
    shown = ", ".join(f"{task} {value:+.1f}" for task, value in paper.items())
    by_name = {outcome.system.name: outcome for outcome in outcomes}
    found = []
    for data in data_of(outcomes):
        difference = contrast([(1, by_name[better].score(data)), (-1, by_name[worse].score(data))])
        verdict = difference.verdict()
        if min(paper.values()) < 0 and not verdict.startswith(WITHIN):
            alike = [task for task, value in paper.items() if (value > 0) == (difference.mean > 0)]
            verdict = verdict.replace(DISAGREES, AGREES) + f" with {', '.join(alike)}"
        found.append(Judged(f"{claim} (paper: {shown})", data, difference, verdict))
    return found


def _figure1(outcomes: list[Outcome]) -> list[Judged]:
    at = {(outcome.system.name, outcome.system.share): outcome for outcome in outcomes}
    shares = sorted({share for _, share in at})
    found = []
    for claim, kind, terms in _share_claims(shares):
        for data in data_of(outcomes):
            difference = contrast([(sign, at[name, share].score(data)) for sign, name, share in terms])
            found.append(_judged(claim, data, difference, kind))
    return [*found, *_fewer_epochs(outcomes, shares[-1])]


def _share_claims(shares: list[float]) -> Iterator[tuple[str, Kind, list[tuple[int, str, float]]]]:
    """Claims about scores at shares of the data, each with the signs, systems and shares that it is about."""
    for share in shares:
        claim = f"with {share:g} % of the training data, ELMo beats the baseline"
        yield claim, "more", [(1, "elmo", share), (-1, "baseline", share)]
    first, last = shares[0], shares[-1]
    if first != last:
        claim = f"ELMo's gain is larger with {first:g} % of the data than with {last:g} %"
        yield claim, "more", [(1, "elmo", first), (-1, "baseline", first), (-1, "elmo", last), (1, "baseline", last)]
    if {1.0, 10.0} <= set(shares):
        claim = "ELMo with 1 % of the data is as good as the baseline with 10 % (paper: SRL)"
        yield claim, "as much", [(1, "elmo", 1.0), (-1, "baseline", 10.0)]


def _fewer_epochs(outcomes: list[Outcome], share: float) -> list[Judged]:
    """Whether ELMo passes the best score of the baseline on the dev data earlier than the baseline reaches it."""
    own = {outcome.system.name: outcome for outcome in outcomes if outcome.system.share == share}
    metric = own["elmo"].summary["metric"]
    saved = []
    for baseline, elmo in zip(own["baseline"].epochs(), own["elmo"].epochs(), strict=True):
        if not all(line["dev"] for line in (*baseline, *elmo)):
            return []
        best = max(line["dev"][metric] for line in baseline)
        reached = next(line["epoch"] for line in baseline if line["dev"][metric] == best)
        passed = next((line["epoch"] for line in elmo if line["dev"][metric] >= best), None)
        # Never: as if it were in the epoch after the last of both.
        saved.append(reached - (passed or max(len(baseline), len(elmo)) + 1))
    claim = f"with {share:g} % of the data, ELMo reaches the baseline's best dev score in fewer epochs"
    return [_judged(f"{claim} (paper, SRL: 10 instead of 486)", "epochs", over_seeds(saved))]


def _figure2(outcomes: list[Outcome]) -> list[Judged]:
    found = []
    for outcome in outcomes:
        for place, mixes in _weights(outcome).items():
            where = f"at the {place}" + (" (ELMo at both)" if outcome.system.name == "both" else "")
            for claim, measure in _MEASURES[place]:
                difference = over_seeds([measure(weights) for weights in mixes])
                found.append(_judged(f"{where}, {claim}", "weights", difference))
    return found


def _weights(outcome: Outcome) -> dict[str, list[list[float]]]:
    """By placement, of each seed, the weights of its layers."""
    found: dict[str, list[list[float]]] = {}
    for seed in outcome.summary["per_seed"]:
        for mix in seed["mix_weights"]:
            found.setdefault(mix["placement"], []).append(mix["weights"])
    return found


def _first_leads(weights: Sequence[float]) -> float:
    """How much more the first LSTM layer has than any other."""
    return weights[1] - max(weight for layer, weight in enumerate(weights) if layer != 1)


def _balance(weights: Sequence[float]) -> float:
    """How much nearer to the plain average all layers are than is allowed."""
    average = 1 / len(weights)
    return _BALANCED * average - max(abs(weight - average) for weight in weights)


def _lower_lead(weights: Sequence[float]) -> float:
    """How much more the layers below the top have on average than the top."""
    return statistics.fmean(weights[:-1]) - weights[-1]


def _judged(claim: str, measured: str, difference: Difference, kind: Kind = "more") -> Judged:
    return Judged(claim, measured, difference, difference.verdict(kind))


_MEASURES: dict[str, list[tuple[str, Callable[[Sequence[float]], float]]]] = {
    "input": [("the first LSTM layer has the largest weight", _first_leads)],
    "output": [
        (
            f"no weight is farther from the plain average than {_BALANCED:.0%} of it (our measure of 'balanced')",
            _balance,
        ),
        ("the layers below the top have more weight than the top", _lower_lead),
    ],
}
_JUDGES = {"table2": _table2, "table3": _table3, "figure1": _figure1, "figure2": _figure2}
