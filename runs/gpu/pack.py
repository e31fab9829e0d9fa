"""What a run on a lent GPU needs, in parts that are small enough to travel, and a branch whose tree is small.

    python runs/gpu/pack.py RECIPE.toml DATA

Writes .gpu/1, .gpu/2, ..., which git is told to ignore, and the branch gpu-run, without models, tests, docs and
records; prints a command for each part. The first part has the model to start from, if there is one.
"""

import argparse
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from elmo.weights import hub

ROOT = Path(__file__).resolve().parents[2]
KEPT = ("src/elmo", "runs/gpu", "runs/model_tools", "pyproject.toml", "README.md", "LICENSE", "hatch_build.py")
LARGEST = 60 << 20  # of the 64 MiB of a call; wheels and files' names take some
STAYS = "/root/gpu"
WHEELS = ("tyro", "docstring_parser", "typeguard", "jaxtyping", "wadler_lindig")  # what the machine may lack
SETUP = f"python3 -m pip install -q --no-index --no-deps --target {STAYS}/site {STAYS}/wheels/*.whl"


def main(given: Sequence[str] | None = None) -> int:
    """0: packed; 2: it can't be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("recipe", type=Path)
    parser.add_argument("data", type=Path)
    options = parser.parse_args(given)
    recipe = tomllib.loads(options.recipe.read_text(encoding="utf-8"))
    if git("status", "--porcelain", "--untracked-files=no"):
        print("pack.py: there are uncommitted changes, which the branch would not have. Commit them.", file=sys.stderr)
        return 2
    shutil.rmtree(ROOT / ".gpu", ignore_errors=True)
    start = 0
    if "start" in recipe:  # before the branch, which has no models
        shutil.copytree(Path(str(hub.resolve(recipe["start"]))), ROOT / ".gpu/1/start")
        start = sum(path.stat().st_size for path in (ROOT / ".gpu/1/start").iterdir())
    parts = parted(files_of(recipe, options.data), LARGEST - small_tree(), start)
    if parts is None:
        print("pack.py: a file is larger than what travels beside the checkout. Split it first.", file=sys.stderr)
        return 2
    wheels = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(ROOT / ".gpu/1/wheels"), *WHEELS]
    subprocess.run(wheels, check=True)
    exclude = ROOT / ".git/info/exclude"
    if "/.gpu" not in exclude.read_text(encoding="utf-8"):
        exclude.write_text(exclude.read_text(encoding="utf-8") + "/.gpu/\n", encoding="utf-8")
    for number, part in enumerate(parts, 1):
        for source, name in part:
            target = ROOT / ".gpu" / str(number) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        keep = f"mkdir -p {STAYS} && cp -r .gpu/{number}/. {STAYS}/"
        recipe_there = options.recipe.resolve().relative_to(ROOT)
        train = (
            f" && {SETUP} && export PYTHONPATH=$PWD/src:{STAYS}/site && python3 src/elmo/ops/native/build.py && "
            f"python3 runs/gpu/run.py {recipe_there} {STAYS} {STAYS}/work $OUT --seconds 540"
        )
        print(f'carry [".gpu/{number}"], timeout_s {600 if part is parts[-1] else 60}:')
        print(f"  {keep}{train if part is parts[-1] else ''}")
    return 0


def files_of(recipe: dict, data: Path) -> list[tuple[Path, str]]:
    """The texts of a run and their manifests, with their names there."""
    found: list[tuple[Path, str]] = []
    for name in dict.fromkeys(recipe["sets"]):
        found += [(path, f"{name}/{path.name}") for path in sorted((data / name).glob("train.txt*"))]
        found += [(path, f"{name}/{path.name}") for path in sorted((data / name).glob("manifest.tsv*"))]
    return found + [(data / path, path) for path in recipe["valid"]]


def parted(files: list[tuple[Path, str]], most: int, size: int) -> list[list[tuple[Path, str]]] | None:
    """The files in as few parts as they fit into in this order, `size` bytes in the first one being taken; None if one
    doesn't fit at all."""
    parts: list[list[tuple[Path, str]]] = [[]]
    for path, name in files:
        if path.stat().st_size > most:
            return None
        if size + path.stat().st_size > most:
            parts.append([])
            size = 0
        parts[-1].append((path, name))
        size += path.stat().st_size
    return parts


def small_tree() -> int:
    """Makes and checks out the branch gpu-run; the bytes of its files."""
    git("checkout", "-q", "-B", "gpu-run")
    tracked = git("ls-files").splitlines()
    dropped = [path for path in tracked if not path.startswith(KEPT) or path.startswith("src/elmo/bundled/small")]
    subprocess.run(
        ["git", "rm", "-q", "--pathspec-from-file=-"], cwd=ROOT, check=True, text=True, input="\n".join(dropped)
    )
    git("commit", "-qm", "The tree of a run on a GPU")
    return sum((ROOT / path).stat().st_size for path in git("ls-files").splitlines())


def git(*arguments: str) -> str:
    """What git prints."""
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
