"""The floors of the house: imports only go down, rooms on one floor don't know each other, nobody imports the cli."""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import elmo

ROOT = Path(elmo.__file__).parent
FLOORS = {
    "cli": 12,
    "explorer": 11,
    "serve": 10,
    "integrations": 10,
    "tasks": 9,
    "analysis": 9,
    "pretrain": 8,
    "embed": 7,
    "corpus": 7,
    "lm": 7,
    "layer": 6,
    "model": 5,
    "engine": 5,
    "weights": 4,
    "reference": 4,
    "static": 4,
    "text": 3,
    "ops": 3,
    "disk": 2,
    "process": 2,
    "config": 2,
    "layer_choice": 1,
    "setting_checks": 1,
    "errors": 0,
    "shapes": 0,
    "version": 0,
}
# Where the public names live: `from elmo import X` inside the house is an import of that room.
PUBLIC = {
    "BiLM": "model",
    "BiLMConfig": "config",
    "ELMo": "layer",
    "Embedder": "embed",
    "Progress": "process",
    "ScalarMix": "model",
    "__version__": "version",
}
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "helper", "misc", "core"}
# Rooms in which files still need each other.
WITH_CIRCLES = {"process"}
COMPUTED = "elmo.?"
ENTRANCES = {"__init__.py", "__main__.py"}


def sources(root: Path) -> list[Path]:
    """Every source file of the package, but not the two that lie above all floors."""
    files = [path.relative_to(root) for path in sorted(root.rglob("*.py"))]
    return [path for path in files if not (len(path.parts) == 1 and path.name in ENTRANCES)]


def room(path: Path) -> str:
    return path.parts[0].removesuffix(".py")


def imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and full name of everything a file imports, inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: write imports with their full name"
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "import_module":
            yield node.lineno, _beginning(node.args[0])


def _beginning(argument: ast.expr) -> str:
    """A module's name as far as it stands in the source: import_module(f"elmo.weights.{name}") -> elmo.weights."""
    if isinstance(argument, ast.JoinedStr):
        argument = argument.values[0]
    return argument.value if isinstance(argument, ast.Constant) else COMPUTED


def wrong_imports(root: Path) -> list[str]:
    """What breaks the rules of the floors."""
    found = []
    for path in sources(root):
        here = room(path)
        for line, name in imported(ast.parse((root / path).read_text(encoding="utf-8"))):
            parts = name.split(".")
            if parts[0] != "elmo" or len(parts) == 1:
                continue
            there = PUBLIC.get(parts[1], parts[1])
            where = f"{path}:{line} imports {name}"
            if there not in FLOORS:
                # Above the top floor is nothing, so whatever the cli imports by a computed name lies below it.
                if not (name == COMPUTED and FLOORS[here] == max(FLOORS.values())):
                    found.append(f"{where}: which is no room of the house")
            elif there != here and FLOORS[there] >= FLOORS[here]:
                found.append(f"{where}: floor {FLOORS[here]} may only look down, not at floor {FLOORS[there]}")
    return found


def third_party(root: Path, wanted_room: str) -> set[str]:
    names = set()
    for path in sources(root):
        if path.as_posix().removesuffix(".py").startswith(wanted_room):
            names |= {name.split(".")[0] for _, name in imported(ast.parse((root / path).read_text(encoding="utf-8")))}
    return names - set(sys.stdlib_module_names) - {"elmo"}


def undocumented(root: Path) -> list[str]:
    """Files, and public functions and classes in them, without a docstring; overriding methods are free."""
    found = []
    for path in [*sources(root), *map(Path, ENTRANCES)]:
        tree = ast.parse((root / path).read_text(encoding="utf-8"))
        nodes = [(path.name, tree)]
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                nodes.append((node.name, node))
            if isinstance(node, ast.ClassDef) and not node.bases:
                methods = [it for it in node.body if isinstance(it, ast.FunctionDef) and not _is_overload(it)]
                nodes += [(f"{node.name}.{it.name}", it) for it in methods]
        public = [(name, node) for name, node in nodes if not any(part[0] == "_" for part in name.split("."))]
        found += [f"{path}: {name}" for name, node in public if not ast.get_docstring(node)]
    return found


def _is_overload(function: ast.FunctionDef) -> bool:
    """Whether it only gives types to the definition that follows."""
    return any(isinstance(it, ast.Name) and it.id == "overload" for it in function.decorator_list)


def test_imports_only_go_down():
    assert wrong_imports(ROOT) == []


def test_the_library_does_not_know_the_laboratory():
    """paper/src/elmo_paper imports elmo, never the other way."""
    for path in sources(ROOT):
        names = {name.split(".")[0] for _, name in imported(ast.parse((ROOT / path).read_text(encoding="utf-8")))}
        assert "elmo_paper" not in names, path


def test_progress_is_drawn_in_one_place_and_all_else_reports_to_it():
    trees = {path: ast.parse((ROOT / path).read_text(encoding="utf-8")) for path in sources(ROOT)}
    drawing = {path.parent for path, tree in trees.items() for _, name in imported(tree) if name.startswith("tqdm")}
    assert drawing == {Path("process/progress")}


def test_only_the_command_line_prints_messages():
    printing = {path.as_posix() for path in sources(ROOT) if "sys.stderr" in (ROOT / path).read_text(encoding="utf-8")}
    others = {path for path in printing if not path.startswith("cli/")}
    assert others == {"process/progress/report.py"}


def test_every_file_stands_in_a_known_room():
    assert {room(path) for path in sources(ROOT)} - set(FLOORS) - {"bundled"} == set()


@pytest.mark.parametrize(
    ("path", "source", "wrong"),
    [
        ("weights/x.py", "from elmo.model.bilm import BiLM", True),
        ("weights/x.py", "def f():\n    from elmo.model import bilm", True),
        ("weights/x.py", "from elmo import BiLM", True),
        ("weights/x.py", "import_module('elmo.model.bilm')", True),
        ("weights/x.py", "importlib.import_module(f'elmo.model.{x}')", True),
        ("weights/x.py", "import_module(name)", True),
        ("cli/x.py", "import_module(name)", False),
        ("embed/x.py", "import elmo.pretrain.run.loop", True),
        ("text/x.py", "from elmo.ops import char_cnn", True),
        ("analysis/x.py", "from elmo.cli.main import main", True),
        ("model/x.py", "from elmo.utils import x", True),
        ("model/x.py", "from elmo.weights import formats", False),
        ("model/x.py", "from elmo.engine.engine import Engine", True),
        ("layer/x.py", "from elmo.engine.engine import Engine\nfrom elmo.model.bilm import BiLM", False),
        ("engine/x.py", "from elmo.model.bilm import BiLM", True),
        ("model/x.py", "from elmo.model.token_encoder import Highway\nfrom elmo import BiLMConfig, __version__", False),
        ("config.py", "from elmo.errors import ConfigError", False),
        ("config.py", "from elmo.text.characters import CharacterMap", True),
        ("cli/x.py", "import elmo\nfrom elmo.tasks import ner", False),
    ],
)
def test_the_check_of_imports_finds_what_is_wrong(tmp_path, path, source, wrong):
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text(source)
    assert bool(wrong_imports(tmp_path)) == wrong


def test_the_reference_stands_alone():
    """It defines what the rest computes: it uses none of it, and nothing but tests uses it."""
    names = {
        path: {name for _, name in imported(ast.parse((ROOT / path).read_text("utf-8")))} for path in sources(ROOT)
    }
    own = {name.split(".")[1] for name in names[Path("reference.py")] if name.startswith("elmo.")}
    assert own == {"config", "shapes"}
    assert third_party(ROOT, "reference") == {"numpy"}
    using = [path for path, used in names.items() if any("reference" in name.split(".")[1:2] for name in used)]
    assert using == []


def test_text_is_read_without_torch_and_operations_need_little_else():
    assert third_party(ROOT, "text") <= {"numpy"}
    # numpy: the sampler of negatives draws with numpy's generator, whose state can be saved. triton comes with torch.
    assert third_party(ROOT, "ops") <= {"torch", "jaxtyping", "numpy", "triton"}
    assert third_party(ROOT, "engine") <= {"jaxtyping", "numpy"}
    for name in ("config", "errors", "disk", "weights/native", "ops/native/"):
        assert "torch" not in third_party(ROOT, name), name


def test_c_is_called_by_what_checks_its_arguments_alone():
    """Elsewhere nothing knows the native library's functions, nor fills the structures that they read."""
    for path in sources(ROOT):
        if room(path) in ("ops", "engine", "layer", "model", "embed") and path.parts[:2] != ("ops", "native"):
            text = (ROOT / path).read_text("utf-8")
            assert "ctypes" not in {name.split(".")[0] for _, name in imported(ast.parse(text))}, path
            assert ".functions" not in text, path


def test_no_file_has_a_name_that_says_nothing():
    parts = {part.removesuffix(".py").strip("_") for path in sources(ROOT) for part in path.parts}
    assert parts & FORBIDDEN_NAMES == set()


def test_every_public_function_and_class_has_a_docstring():
    assert undocumented(ROOT) == []


def test_the_check_of_docstrings_finds_what_is_missing(tmp_path):
    for name in ENTRANCES:
        (tmp_path / name).write_text('"""."""')
    (tmp_path / "config.py").write_text('"""."""\nclass A:\n    """."""\n    def f(self): pass\ndef _g(): pass')
    assert undocumented(tmp_path) == ["config.py: A.f"]


def run_python(code: str) -> str:
    result = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert result.stderr == ""
    return result.stdout


def test_importing_elmo_is_silent_and_loads_nothing_heavy():
    code = f"import sys; sys.path.insert(0, {str(ROOT.parent)!r}); before = set(sys.modules); import elmo; dir(elmo)"
    assert run_python(code) == ""
    loaded = run_python(code + "; print(*(set(sys.modules) - before))").split()
    assert {name.split(".")[0] for name in loaded} - set(sys.stdlib_module_names) == {"elmo"}


def test_no_folder_is_two_rooms():
    """A folder of more than 14 files is hard to take in, unless each is another verb of the command line."""
    counts = Counter(path.parent for path in sources(ROOT) if path.parent != Path("cli", "verbs"))
    assert {str(folder): count for folder, count in counts.items() if count > 14} == {}


def circles(root: Path) -> set[frozenset[str]]:
    """Files of one room that need each other, directly or by way of others."""
    files = {path.with_suffix("").as_posix(): path for path in sources(root) if path.name != "__init__.py"}
    needs: dict[str, set[str]] = {}
    for name, path in files.items():
        used = [used.split(".")[1:] for _, used in imported(ast.parse((root / path).read_text(encoding="utf-8")))]
        modules = {"/".join(parts[:length]) for parts in used for length in (len(parts), len(parts) - 1)}
        needs[name] = {module for module in modules & files.keys() if module.split("/")[0] == name.split("/")[0]}

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        waiting = [start]
        while waiting:
            waiting += needs[waiting.pop()] - found
            found.update(waiting)
        return found

    reach = {name: reached(name) for name in files}
    return {frozenset(it for it in reach[name] if name in reach[it]) for name in files} - {frozenset()}


def test_no_two_files_of_a_room_need_each_other():
    assert {min(circle).split("/")[0] for circle in circles(ROOT)} <= WITH_CIRCLES


def test_every_room_tells_its_story():
    """In a sentence or two, and which file to read first."""
    rooms = {path.parent for path in sources(ROOT)} - {Path()}
    stories = {room: ast.get_docstring(ast.parse((ROOT / room / "__init__.py").read_text())) or "" for room in rooms}
    assert {str(room) for room, story in stories.items() if len(story) < 40} == set()


def test_random_states_are_kept_of_named_devices_alone():
    # Without `devices`, fork_rng warns on a machine of several GPUs, and makes a context on each of them.
    forks = [
        (path, node)
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("fork_rng")
    ]
    assert len(forks) >= 4
    for path, node in forks:
        assert "devices" in {keyword.arg for keyword in node.keywords}, path
