"""No regular expression of the package, Python's or JavaScript's, takes superlinear time, however bad its text.

The expressions are found in the source, so a new one is tried too. The texts are made from the expression: each part
that may repeat is repeated after what comes before it, each beginning is repeated so that a search begins anew at every
place, and behind them stands something that doesn't fit.
"""

import ast
import importlib
import json
import random
import re
import shutil
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]

import pytest

import elmo
from elmo.disk import atomic
from elmo.text import tokenizer
from elmo.text.first_look import plain_text
from elmo.text.reading import as_trained

ROOT = Path(elmo.__file__).parent
SIZES = (12, 24, 200, 2_000, 20_000)
# At 20,000 characters linear time is some milliseconds; quadratic time is 200 million steps.
SECONDS = 0.02
# A step of ten times the length takes ten times the time, or a hundred times.
MOST = 3
METHODS = ("finditer", "findall", "search", "sub", "split", "match", "fullmatch")
ENDS = ("", "\0")
CATEGORIES = {
    code.CATEGORY_DIGIT: (r"\d", "1"),
    code.CATEGORY_SPACE: (r"\s", " "),
    code.CATEGORY_WORD: (r"\w", "a"),
    code.CATEGORY_NOT_DIGIT: (r"\D", "a"),
    code.CATEGORY_NOT_SPACE: (r"\S", "a"),
    code.CATEGORY_NOT_WORD: (r"\W", "("),
}
REPEATS = (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT)
# Those that a function makes of what it is given; none of a user's own.
MADE: dict[str, Callable[[], list[re.Pattern | str]]] = {
    "elmo.analysis.neighbors.korean": lambda: ["(?:먹(?:고|는)|먹었(?:다|$))(?![\u11a8-\u11c2])"],
    "elmo.disk.atomic": lambda: [atomic.hidden_names("a.txt", "old")],
    "elmo.tasks.coref.documents": lambda: [],
    "elmo.text.first_look.plain_text": lambda: [plain_text._token()],
    "elmo.text.reading.as_trained": lambda: [as_trained._composable()],
    "elmo.text.tokenizer": lambda: [tokenizer._token_pattern(False), tokenizer._token_pattern(True)],
    "elmo.weights.allennlp.state_dict": lambda: [r"a\.forward_layer_(\d+)\.state_projection\.weight"],
}

Text = tuple[str, str, str]
"""A beginning, what is repeated, an end."""


@pytest.mark.slow
def test_every_expression_in_python_takes_linear_time():
    found = list(python_expressions())
    assert len(found) > 80
    assert {place: bad for place, pattern, method in found if (bad := worst(pattern, method))} == {}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_every_expression_in_javascript_takes_linear_time(tmp_path):
    found = [(*it, texts_for(in_python(it[0]))) for it in javascript_expressions()]
    assert len(found) > 60
    given = tmp_path / "expressions.json"
    given.write_text(json.dumps([[*SIZES, 100_000], MOST, found]), encoding="utf-8")
    assert in_node("slow", str(given)) == []


@pytest.mark.parametrize("pattern", [r"[.!?]+[\"')]*(?=\s)", "<!--.*?-->", r"(\w+\s?)*:", r"/*\Z"])
def test_superlinear_time_is_noticed(pattern):
    assert worst(re.compile(pattern), "finditer")


def worst(pattern: re.Pattern, method: str) -> str:
    """A text whose time grows faster than its length, and its time; "": none of those tried."""
    apply: Callable[[str | bytes], object] = {
        "finditer": lambda text: [None for _ in pattern.finditer(text)],
        "sub": lambda text: pattern.sub(text[:0], text),
    }.get(method) or getattr(pattern, method)
    source = pattern.pattern
    is_text = isinstance(source, str)
    for head, pump, end in texts_for(source if is_text else source.decode("latin-1"), pattern.flags):
        before = last = 0.0
        for size in SIZES:
            text = head + size // len(pump) * pump + end
            given = text if is_text else text.encode("latin-1", "replace")
            begun = time.thread_time()
            apply(given)
            took = time.thread_time() - begun
            if took > SECONDS and last and took > MOST * size / last * before:
                return f"{head!r} + {size // len(pump)} * {pump!r} + {end!r}: {took:.2f} s"
            before, last = max(took, 1e-5), size
    return ""


def texts_for(source: str, flags: int = 0) -> list[Text]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # JavaScript writes [[] too
        tree = parser.parse(source, flags)
    found = set(pumps("", tree))
    letters = sorted({letter for _, pump in found for letter in pump})
    chance = random.Random(5)
    found |= {("", "".join(chance.choices(letters, k=length))) for length in (1, 2, 3) if letters}
    return sorted({(head[-40:], pump, end) for head, pump in found if pump for end in ENDS})


def pumps(head: str, tree) -> Iterator[tuple[str, str]]:
    """What may be repeated in a sequence, each with what comes before it."""
    begin = head
    for op, value in tree:
        if op in REPEATS:
            yield from ((head, pump) for pump in samples(value[2]) if value[1] > 64)
        for part in _parts(op, value):
            yield from pumps(head, part)
        head += next(iter(_of_one(op, value)), "")
        if op is not code.LITERAL:
            yield "", head[len(begin) :]
    yield "", head[len(begin) :]


def samples(tree) -> list[str]:
    """A few texts that fit a sequence."""
    found = [""]
    for op, value in tree:
        found = [before + after for before in found[:6] for after in _of_one(op, value)[:6]][:12]
    return found


def _parts(op, value) -> list:
    """The sequences in a part of an expression."""
    if op is code.BRANCH:
        return value[1]
    if op is code.SUBPATTERN:
        return [value[3]]
    if op in REPEATS:
        return [value[2]]
    if op in (code.ASSERT, code.ASSERT_NOT):
        return [value[1]]
    return [value] if op is code.ATOMIC_GROUP else []


def _of_one(op, value) -> list[str]:
    """A few texts that fit a part; what must stand beside it is a part of them."""
    if op is code.LITERAL:
        return [chr(value)]
    if op is code.NOT_LITERAL:
        return [letter for letter in "bc" if ord(letter) != value][:1]
    if op is code.ANY:
        return ["b", "."]
    if op is code.IN:
        return _of_class(value)
    if op is code.ASSERT_NOT:
        return [""]
    found = [text for part in _parts(op, value) for text in samples(part)[: 2 if op is code.BRANCH else 12]]
    if op in REPEATS:
        found = [text * min(max(1, value[0]), 64) for text in found] if value[1] else []
    return found or [""]


def _of_class(items) -> list[str]:
    """Some of the characters of a class, of all its kinds."""
    if items[0][0] is code.NEGATE:
        return [letter for letter in "b1. (\x01" if not any(_is_in(letter, *item) for item in items[1:])]
    known = [CATEGORIES[value][1] if op is code.CATEGORY else chr(_ends(op, value)[0]) for op, value in items]
    return list(dict.fromkeys([known[0], *known[-4:]]))


def _is_in(letter: str, op, value) -> bool:
    if op is code.CATEGORY:
        return re.match(CATEGORIES[value][0], letter) is not None
    first, last = _ends(op, value)
    return first <= ord(letter) <= last


def _ends(op, value) -> tuple[int, int]:
    return value if op is code.RANGE else (value, value)


def python_expressions() -> Iterator[tuple[str, re.Pattern, str]]:
    """Each expression of the package: its place, itself, and how it is applied: by a search, if it has no name."""
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(ROOT.rglob("*.py"))}
    together = "".join(sources.values())
    for path, source in sources.items():
        if not re.search("^import re$", source, re.MULTILINE):
            continue
        module = importlib.import_module(".".join(["elmo", *path.relative_to(ROOT).with_suffix("").parts]))
        tree = ast.parse(source)
        names = {node.value: ast.unparse(node.targets[0]) for node in ast.walk(tree) if isinstance(node, ast.Assign)}
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and (called := ast.unparse(node.func)).startswith("re.")):
                continue
            method = called.removeprefix("re.")
            if method == "compile":
                name = names.get(node, "")
                used = [it for it in METHODS if name and re.search(rf"\b{re.escape(name)}\.{it}\(", together)]
                method = used[0] if used else "finditer"
            if method not in METHODS:
                continue
            for pattern in _evaluated(node, module):
                yield f"{module.__name__}:{node.lineno}", pattern, method


def _evaluated(call: ast.Call, module) -> list[re.Pattern]:
    def value(node: ast.expr):
        return eval(compile(ast.Expression(node), module.__name__, "eval"), vars(module))

    settings = [*call.args[1:], *(it.value for it in call.keywords)]
    flags = sum(value(it) for it in settings if ast.unparse(it).startswith("re."))
    try:
        made = [value(call.args[0])]
    except NameError:
        made = MADE[module.__name__]()
    return [re.compile(it, flags) if isinstance(it, str | bytes) else it for it in made]


_LITERAL = re.compile(
    r"(?:(?<=[(=,:\[!&|?{};>])|return|match) ?/(?![/*])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+)/([a-z]*)"
)


def javascript_expressions() -> list[tuple[str, str]]:
    """Source and flags of each expression of elmo.js and the page."""
    paths = [*sorted((ROOT / "browser").glob("*.js")), *sorted((ROOT / "explorer").rglob("*.js"))]
    sources = {path: path.read_text(encoding="utf-8") for path in paths}
    written = [match.groups() for source in sources.values() for match in _LITERAL.finditer(source)]
    with_made = [str(path) for path, source in sources.items() if "RegExp(" in source]
    return [*written, *map(tuple, in_node("made", json.dumps(with_made)))]


def in_python(source: str) -> str:
    """An expression of JavaScript as Python can parse it: much the same, for the texts alone."""
    source = re.sub(r"\\u\{(\w+)\}", lambda match: f"\\U{match[1]:0>8}", source)
    for names, instead in (("N|Nd|Nl|No", r"\d"), ("M|Mn", "\u0301"), ("Z|Zs", r"\s"), ("C|Cf|Cs|Surrogate", "\x01")):
        source = re.sub(rf"\\p\{{(?:{names})\}}", lambda match, instead=instead: instead, source)
    return re.sub(r"\\[pP]\{[\w=]+\}", r"\\w", source).replace("(?<!", "(?!").replace("(?<=", "(?=")


def in_node(task: str, given: str):
    """What linear_time.mjs prints as JSON."""
    call = ["node", str(Path(__file__).with_name("linear_time.mjs")), task, given]
    return json.loads(subprocess.run(call, capture_output=True, text=True, encoding="utf-8", check=True).stdout)
