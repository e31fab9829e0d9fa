"""Perplexity for each source of a text; a manifest says which lines come from where."""

from dataclasses import dataclass, field

from elmo.lm.figures import Perplexity, Sums
from elmo.lm.manifest import Sources
from elmo.lm.perplexity import SentenceScore


@dataclass
class BySource:
    """Adds up scores for each source apart."""

    sources: Sources
    _sums: dict[str, Sums] = field(default_factory=dict)

    def add(self, line: int, score: SentenceScore) -> None:
        """A sentence that stands in this line, from 1."""
        source = self.sources.of(line)
        if source not in self._sums:
            self._sums[source] = Sums(list(score.nats))
        score.add_to(self._sums[source])

    def perplexities(self) -> dict[str, Perplexity]:
        """Of each source, the one with the most tokens first."""
        found = {source: sums.perplexity() for source, sums in self._sums.items()}
        return dict(sorted(found.items(), key=lambda item: -item[1].num_predictions))
