"""`elmo analyze`: what the layers of an encoder know; the paper's tables 4 to 6 and the geometry of its vectors."""

import sys
from importlib import import_module

from elmo.cli.examples import examples_of
from elmo.errors import ConfigError

ANALYSES = {
    "neighbors": "the nearest tokens to a word in its sentence, by layer (table 4)",
    "precision": "how many of a word's nearest occurrences have its sense, over many queries (table 4, counted)",
    "wsd": "word senses by the nearest sense vector (table 5), beside first and most frequent sense",
    "pos": "parts of speech by a linear probe of each layer (table 6), beside a control task",
    "geometry": "cosines of tokens, of one word's occurrences, of a sentence's words; likeness of layers",
}


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    if argv[:1] in ([], ["-h"], ["--help"]):
        print(_help(), file=sys.stdout if argv else sys.stderr)
        return 0 if argv else 2
    analysis, *rest = argv
    if analysis not in ANALYSES:
        raise ConfigError(
            f"there is no analysis {analysis!r}. It must be one of {', '.join(ANALYSES)}. See 'elmo analyze --help'."
        )
    return import_module(f"elmo.cli.verbs.analyze.{analysis}").run(rest)


def _help() -> str:
    width = max(map(len, ANALYSES))
    return "\n".join(
        [
            f"usage: elmo analyze {{{','.join(ANALYSES)}}} ...",
            "",
            "What the layers of an encoder know, beside what untrained and static vectors know.",
            "",
            *(f"  {name:{width}}  {line}" for name, line in ANALYSES.items()),
            "",
            "  elmo analyze wsd --help  what an analysis takes",
            "",
            examples_of("analyze"),
        ]
    )
