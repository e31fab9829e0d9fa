"""The paper's claims about each table and figure, and whether they hold here.

Every claim is that some difference is larger than a threshold (0, unless it says otherwise). Claims about scores are
decided on the test data if there are any: the dev data chose the epochs. On the dev data, differences and intervals
are shown without a verdict. On second test data the same claims are decided once more. All verdicts of a table are
corrected together (`verdicts`).

Source: Peters et al. 2018, sections 4 and 5.1 to 5.4.
"""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from elmo_paper.reproduce import paper
from elmo_paper.reproduce.outcomes import Outcome, data_of, decisive
from elmo_paper.reproduce.verdicts import AGREES, UNDECIDED, Decision, Difference, contrast, decide, over_seeds

# How far from the plain average a layer's weight may be in a mix that is "roughly balanced", as a fraction of it.
_BALANCED = 0.5
# "As good as" means within this many points: it can't be shown to the last decimal.
_AS_GOOD = 1.0

Terms = list[tuple[int, str, float]]
"""Signs, systems and shares of the training data."""


@dataclass(frozen=True)
class Finding:
    """A claim, what was measured, and what follows."""

    claim: str
    measured_on: str
    """On what: "dev", "test", "second_test", "weights" or "epochs"."""
    difference: Difference
    decision: Decision | None = None
    """None on the dev data if there are test data."""
    paper: tuple[tuple[str, float], ...] = ()
    """By the paper's tasks, the same difference there."""

    @property
    def agrees_with(self) -> list[str]:
        """The paper's tasks whose difference has the same sign, where they have both signs; else none."""
        signs = {difference > 0 for _, difference in self.paper}
        if len(signs) < 2 or self.decision is None or self.decision.verdict == UNDECIDED:
            return []
        return [task for task, difference in self.paper if (difference > 0) == (self.difference.mean > 0)]

    @property
    def verdict(self) -> str | None:
        """ "agrees", "does not agree" or "not decided"; where the paper's tasks differ, those that it agrees with."""
        if self.decision is None:
            return None
        if self.agrees_with:
            return f"{AGREES} with {', '.join(self.agrees_with)}"
        return self.decision.verdict

    def table(self) -> dict[str, Any]:
        """For the record."""
        difference = self.difference
        return {
            "claim": self.claim,
            "measured_on": self.measured_on,
            "verdict": self.verdict,
            "difference": difference.mean,
            "threshold": difference.threshold,
            "interval": difference.interval,
            "p_value": difference.p_value,
            "corrected_p_value": None if self.decision is None else self.decision.corrected_p,
            "standard_error": difference.standard_error,
            "degrees_of_freedom": difference.degrees_of_freedom if difference.standard_error else None,
            "varies": "seeds and examples" if difference.over_examples else "seeds",
            "paper": dict(self.paper),
        }


def findings(experiment: str, outcomes: Sequence[Outcome]) -> list[Finding]:
    """Every claim about the experiment, with its verdict."""
    found = list(_pairs(experiment, outcomes) if experiment in _PAIRS else _CLAIMS[experiment](outcomes))
    shown_only = {"dev"} - {decisive(outcomes)}
    decided = [place for place, one in enumerate(found) if one.measured_on not in shown_only]
    for place, decision in zip(decided, decide([found[place].difference for place in decided]), strict=True):
        found[place] = replace(found[place], decision=decision)
    return found


def _bilms(outcomes: Sequence[Outcome]) -> Iterator[Finding]:
    first, *others = [outcome for outcome in outcomes if outcome.name != "baseline"]
    for outcome in (first, *others):
        yield from _beats(outcomes, f"{outcome.label.removeprefix('+ ')} beats the baseline", outcome.name, "baseline")
    for outcome in others:
        # Between biLMs the question is whether another one is better than the first, else whether ELMo is.
        is_elmos = first.name.startswith("elmo") and not outcome.name.startswith("elmo")
        better, worse = (first, outcome) if is_elmos else (outcome, first)
        claim = " beats ".join(one.label.removeprefix("+ ") for one in (better, worse))
        yield from _beats(outcomes, claim, better.name, worse.name)


def _pairs(experiment: str, outcomes: Sequence[Outcome]) -> Iterator[Finding]:
    """The claims in `_PAIRS`, with the paper's own differences where it has a table of them."""
    for claim, better, worse in _PAIRS[experiment]:
        known = paper.gain(experiment, better, worse) if experiment in paper.TABLES else {}
        for one in _beats(outcomes, claim, better, worse):
            yield replace(one, paper=tuple(known.items()))


def _beats(outcomes: Sequence[Outcome], claim: str, better: str, worse: str) -> Iterator[Finding]:
    """One system beats another, with the same share of the training data."""
    share = outcomes[0].share
    return _on_scores(outcomes, claim, [(1, better, share), (-1, worse, share)])


def _on_scores(outcomes: Sequence[Outcome], claim: str, terms: Terms, threshold: float = 0.0) -> Iterator[Finding]:
    at = {(outcome.name, outcome.share): outcome for outcome in outcomes}
    for data in data_of(outcomes):
        scored = [(sign, at[name, share].scored(data)) for sign, name, share in terms]
        second = ", on the second test data" if data == "second_test" else ""
        yield Finding(claim + second, data, contrast(scored, threshold))


def _figure1(outcomes: Sequence[Outcome]) -> Iterator[Finding]:
    shares = sorted({outcome.share for outcome in outcomes})
    for claim, terms, threshold in _share_claims(shares):
        yield from _on_scores(outcomes, claim, terms, threshold)
    yield from _fewer_epochs(outcomes, shares[-1])


def _share_claims(shares: list[float]) -> Iterator[tuple[str, Terms, float]]:
    """Claims about scores at shares of the data, each with its threshold."""
    for share in shares:
        claim = f"with {share:g} % of the training data, ELMo beats the baseline"
        yield claim, [(1, "elmo", share), (-1, "baseline", share)], 0.0
    first, last = shares[0], shares[-1]
    if first != last:
        claim = f"ELMo's gain is larger with {first:g} % of the data than with {last:g} %"
        yield claim, [(1, "elmo", first), (-1, "baseline", first), (-1, "elmo", last), (1, "baseline", last)], 0.0
    if {1.0, 10.0} <= set(shares):
        claim = f"ELMo with 1 % of the data is as good as the baseline with 10 % (within {_AS_GOOD:g} point; SRL)"
        yield claim, [(1, "elmo", 1.0), (-1, "baseline", 10.0)], -_AS_GOOD


def _fewer_epochs(outcomes: Sequence[Outcome], share: float) -> Iterator[Finding]:
    """Whether ELMo passes the baseline's best dev score in fewer epochs than the baseline needs for it."""
    own = {outcome.name: outcome for outcome in outcomes if outcome.share == share}
    saved = []
    for baseline, elmo in zip(own["baseline"].curves, own["elmo"].curves, strict=True):
        if not baseline or not elmo:
            return
        best = max(baseline)
        passed = next((epoch for epoch, score in enumerate(elmo) if score >= best), None)
        # Never: counted as if it were in the epoch after the last of both.
        saved.append(baseline.index(best) - (max(len(baseline), len(elmo)) if passed is None else passed))
    if saved:
        claim = f"with {share:g} % of the data, ELMo reaches the baseline's best dev score in fewer epochs"
        yield Finding(f"{claim} (paper, SRL: 10 instead of 486)", "epochs", over_seeds(saved))


def _figure2(outcomes: Sequence[Outcome]) -> Iterator[Finding]:
    for outcome in outcomes:
        for mix in outcome.mixes():
            where = f"at the {mix['placement']}" + (" (ELMo at both)" if outcome.name == "both" else "")
            by_seed = list(zip(*(layer["scores"] for layer in mix["weights"]), strict=True))
            for claim, measure in _MEASURES[mix["placement"]]:
                yield Finding(f"{where}, {claim}", "weights", over_seeds([measure(weights) for weights in by_seed]))


def _first_leads(weights: Sequence[float]) -> float:
    return weights[1] - max(weight for layer, weight in enumerate(weights) if layer != 1)


def _balance(weights: Sequence[float]) -> float:
    """How much closer to the plain average all layers are than they must be."""
    average = 1 / len(weights)
    return _BALANCED * average - max(abs(weight - average) for weight in weights)


def _lower_lead(weights: Sequence[float]) -> float:
    """How much more the layers below the top have on average than the top."""
    return statistics.fmean(weights[:-1]) - weights[-1]


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
_CLAIMS: dict[str, Callable[[Sequence[Outcome]], Iterator[Finding]]] = {
    "bilms": _bilms,
    "figure1": _figure1,
    "figure2": _figure2,
}
_PAIRS = {
    "table1": [("ELMo beats the baseline", "elmo", "baseline")],
    "table2": [
        ("ELMo (all layers, lambda 0.001) beats the baseline", "lambda-0.001", "baseline"),
        ("the top layer alone beats the baseline", "top", "baseline"),
        ("all layers (lambda 1) beat the top layer alone", "lambda-1", "top"),
        ("all layers (lambda 0.001) beat the top layer alone", "lambda-0.001", "top"),
        ("a free mix (lambda 0.001) beats one near the average (lambda 1)", "lambda-0.001", "lambda-1"),
    ],
    "table3": [
        ("ELMo at the input beats ELMo at the output", "input", "output"),
        ("ELMo at both places beats the input alone", "both", "input"),
        ("ELMo at both places beats the output alone", "both", "output"),
    ],
    "gamma": [
        ("the top layer with gamma beats the top layer without", "top", "top-fixed"),
        ("all layers with gamma beat all layers without", "mix", "mix-fixed"),
        ("the baseline beats the top layer without gamma (paper: SNLI)", "baseline", "top-fixed"),
    ],
    "taglm": [
        ("TagLM beats the baseline", "taglm", "baseline"),
        ("ELMo beats TagLM", "elmo", "taglm"),
        ("the top layer between the layers beats the top layer at the input", "taglm", "top-input"),
    ],
}
"""By experiment, claims that one system beats another: (claim, the better one, the worse one)."""
