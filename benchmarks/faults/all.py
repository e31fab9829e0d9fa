"""All faults, one after the other, each with its record.

    python benchmarks/faults/all.py            # a few of each: about 5 minutes
    python benchmarks/faults/all.py --full     # the figures that the project promises: about an hour

Minutes are those of two quiet cores. Goes on when a test fails, and says so at the end; exit code 1 then. Those that
this machine can't run (a small disk needs root) are told and count as failed.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

from record import ROOT, parser

HERE = Path(__file__).parent

# script, flags of a few, flags of all, minutes of all on two quiet cores
TESTS = (
    ("kill.py", ["--times", "3"], ["--times", "50"], 9),
    ("kill.py", ["--signal", "TERM", "--times", "3"], ["--signal", "TERM", "--times", "40"], 7),
    ("save_faults.py", ["--times", "4"], ["--times", "20"], 1),
    ("stop_signals.py", ["--times", "5", "--megabytes", "6"], ["--times", "40"], 9),
    ("ranks.py", ["--kills", "2", "--resizes", "1"], ["--kills", "20", "--resizes", "3"], 15),
    ("disk_full.py", [], [], 1),
    ("nan.py", ["--times", "1"], ["--times", "5"], 2),
    ("repeat.py", ["--steps", "100"], ["--steps", "500"], 4),
    ("threads.py", ["--calls", "200"], ["--calls", "2000"], 2),
    ("embed_partial.py", ["--most", "20"], [], 15),
    ("hostile_texts.py", ["--documents", "500", "--no-big"], ["--documents", "10000"], 10),
    ("streams.py", ["--only", "/dev"], [], 5),
    ("mutants.py", ["--mutants", "300"], ["--mutants", "10000"], 15),
    ("hostile_models.py", ["--only", "HDF5", "tables", "values"], [], 6),
)


def main() -> int:
    """Runs them all; exit code 1 if one failed."""
    arguments = parser(__doc__)
    arguments.add_argument("--full", action="store_true", help="as often as the project promises")
    arguments.add_argument("--only", nargs="*", metavar="SCRIPT", help="for instance nan.py repeat.py")
    given = arguments.parse_args()
    tests = [test for test in TESTS if (HERE / test[0]).is_file() and (not given.only or test[0] in given.only)]
    if given.full:
        print(f"about {sum(minutes for *_, minutes in tests)} minutes on two quiet cores", flush=True)
    failed, begun = [], time.monotonic()
    for script, few, full, minutes in tests:
        flags = full if given.full else few
        expected = f", about {minutes} minutes" if given.full else ""
        name = " ".join([script, *flags])
        print(f"\n=== {name}{expected}", flush=True)
        record = ["--no-record"] if given.results is None else ["--results", str(given.results.resolve())]
        since = time.monotonic()
        code = subprocess.run([sys.executable, str(HERE / script), *flags, *record], env=_environment()).returncode
        print(
            f"=== {name}: {'passed' if code == 0 else f'FAILED with {code}'}, {time.monotonic() - since:.0f} s",
            flush=True,
        )
        if code:
            failed.append(name)
    print(
        f"\n{len(tests) - len(failed)} of {len(tests)} passed in {(time.monotonic() - begun) / 60:.0f} minutes",
        flush=True,
    )
    for name in failed:
        print(f"failed: {name}")
    return 1 if failed else 0


def _environment() -> dict[str, str]:
    """The package of this checkout, installed or not."""
    paths = [os.environ.get("PYTHONPATH", ""), str(ROOT / "src")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


if __name__ == "__main__":
    raise SystemExit(main())
