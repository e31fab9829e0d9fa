"""What the analyses share: what they compare, and `produce`, which writes the record of one and shows it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import tyro

from elmo.cli.arguments import Force, NoProgress, OutputFile
from elmo.cli.output import result_file
from elmo_paper.analysis.encoders import EncoderChoice
from elmo_paper.analysis.record import Record

if TYPE_CHECKING:
    from elmo.embed.encoder import Encoder


class Found(Protocol):
    """The result of an analysis."""

    def record(self) -> Mapping[str, Any]:
        """As plain values for JSON."""
        ...


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """What every analysis is told."""

    encoders: EncoderChoice = field(default_factory=EncoderChoice)
    output: Annotated[OutputFile[Path | None], tyro.conf.arg(metavar="OUT.json")] = None
    """Also write the record here: all figures, and what they depend on."""
    force: Force = False
    json: bool = False
    """Print the record instead of the table."""
    quiet: NoProgress = False

    def produce(
        self,
        analysis: str,
        compute: "Callable[[Mapping[str, Encoder]], Found]",
        *,
        data: Mapping[str, Path | Sequence[Path]],
        settings: Mapping[str, Any],
        against: str | None = None,
    ) -> int:
        """Runs the analysis of these encoders and shows its record; the exit code."""
        from elmo_paper.analysis.encoders import described, encoders_of
        from elmo_paper.analysis.record import begun
        from elmo_paper.pages.analyses import as_text

        # The output's name is refused before the work, not after it.
        with result_file(self.output, force=self.force) as file:
            encoders = encoders_of(self.encoders, against=against)
            found = compute(encoders).record()
            named = described(self.encoders, encoders)
            whole = {**begun(analysis, encoders=named, data=data, settings=settings), **found}
            text = json.dumps(whole, indent=1, ensure_ascii=False)
            if file is not None:
                file.write(text + "\n")
        record: Record = json.loads(text)  # as it is when it is read again
        print(text if self.json else as_text(record))
        return 0
