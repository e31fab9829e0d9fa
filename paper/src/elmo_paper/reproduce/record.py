"""The record of an experiment: everything that its page and its picture show, plain for JSON.

what was asked for   experiment, task, name, settings, hashes of the data, seeds
date, elmo, commit, machine    when, by which code and where the systems were compared
systems              of each: hashes of its biLM and its static vectors, mean, spread, interval and scores on dev and
                     test, mixes, learning curves, when and where each seed was trained, all its scores, per label too
rules                scores of rules without learning on the same data
gains                differences to the baseline, with intervals, and relative error reductions
claims               differences with intervals and p-values, and the verdicts
paper                the paper's own figures
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from elmo.ops.native.threads import num_threads
from elmo.process.environment import provenance
from elmo_paper.reproduce import paper
from elmo_paper.reproduce.claims import findings
from elmo_paper.reproduce.outcomes import Outcome, data_of, decisive
from elmo_paper.reproduce.verdicts import DRAWS, SEED, contrast, error_reduction

ExperimentRecord = dict[str, Any]


def recorded(
    asked: Mapping[str, Any], outcomes: Sequence[Outcome], rules: Sequence[Mapping[str, Any]] = ()
) -> ExperimentRecord:
    """The record. `asked`: what the experiment is; "experiment", "task" and "seeds" are among it."""
    experiment = asked["experiment"]
    known = paper.TABLE_1.get(asked["task"])
    over_examples = all(decisive(outcomes) in outcome.resampled for outcome in outcomes)
    record = {
        **asked,
        **provenance(num_threads()),
        "metric": outcomes[0].metric,
        "decided_on": decisive(outcomes),
        "bootstrap": {"draws": DRAWS, "seed": SEED, "units": outcomes[0].num_units} if over_examples else None,
        "systems": [outcome.table() for outcome in outcomes],
        "rules": list(rules),
        "gains": list(_gains(outcomes)),
        "claims": [finding.table() for finding in findings(experiment, outcomes)],
        "paper": {
            "source": paper.SOURCE,
            "table": paper.TABLES.get(experiment),
            "says": paper.SAYS.get(experiment),
            "table1": None if known is None else asdict(known),
        },
    }
    # As it is when read again: lists in the place of tuples.
    return json.loads(json.dumps(record))


def _gains(outcomes: Sequence[Outcome]) -> Iterator[dict[str, Any]]:
    """What each system gains over the baseline with the same share of the data."""
    baselines = {outcome.share: outcome for outcome in outcomes if outcome.name == "baseline"}
    for outcome in outcomes:
        baseline = baselines.get(outcome.share)
        if baseline is None or baseline is outcome:
            continue
        gain: dict[str, Any] = {"system": outcome.name, "share": outcome.share}
        for data in data_of(outcomes):
            better, worse = outcome.scored(data), baseline.scored(data)
            difference = contrast([(1, better), (-1, worse)])
            gain[data] = {
                "difference": difference.mean,
                "interval": difference.interval,
                "error_reduction": error_reduction(float(worse.scores.mean()), float(better.scores.mean())),
            }
        yield gain
