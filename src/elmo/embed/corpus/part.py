"""TextPart: what a run embeds, when it is planned: a whole text, or the rows of a shard."""

from dataclasses import dataclass

from elmo.embed.corpus.plan import CorpusPlan, StopAsked, plan_corpus
from elmo.embed.corpus.shards import Shard, rows_of_shard
from elmo.embed.corpus.text_source import TextSource
from elmo.process.progress.report import Progress


@dataclass(frozen=True)
class TextPart:
    """Rows of a text, and what they hold."""

    source: TextSource
    plan: CorpusPlan
    num_rows: int
    """Rows of the whole text."""
    shard: Shard | None = None
    """None: these are all of them."""


def plan_part(
    source: TextSource,
    shard: Shard | None,
    limits: tuple[int, int | None],
    *,
    with_sentences: bool,
    progress: Progress,
    stop_asked: StopAsked | None,
) -> TextPart:
    """Reads the whole text once, and takes the rows of `shard`, if one is wanted.

    `limits`: rows and tokens of a window. `with_sentences`: whether the part's sentence index is made.
    """
    if shard is None:
        plan = plan_corpus(source, with_sentences=with_sentences, progress=progress, stop_asked=stop_asked)
        return TextPart(source, plan, len(plan.lengths))
    plan = plan_corpus(source, with_sentences=False, progress=progress, stop_asked=stop_asked)
    first, stop = rows_of_shard(plan.lengths, shard, limits)
    part = source.part(first, stop)
    # The index of a shard's sentences is made now that its rows are known.
    index = part.sentence_index() if with_sentences else None
    return TextPart(part, plan.part(first, stop, index), len(plan.lengths), shard)
