"""`elmo embed --join`: the files of all shards of a text -> the file of a single run."""

from pathlib import Path

from elmo.cli.report import print_report
from elmo.cli.verbs.embed.options import Arguments


def join(arguments: Arguments, output: Path) -> int:
    """Joins the inputs; the exit code."""
    # Here, so that --help does not wait for it.
    from elmo.embed.corpus.join import join_shards

    report = join_shards(arguments.inputs, output, force=arguments.force, progress=not arguments.quiet)
    text = (
        f"{report['output']}: {report['rows']:,} rows, {report['tokens']:,} tokens of {report['shards']} shards, "
        f"{report['bytes']:,} bytes"
    )
    print_report(report, text, as_json=arguments.json, quiet=arguments.quiet)
    return 0
