"""What elmo.js is made of: the module's sources, the package for npm, the page about it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.browser.in_node import BROWSER, PACKAGE
from tests.chromium import required

import elmo
from elmo.ops.native import build_wasm

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "javascript.md"


def test_the_module_is_built_from_the_sources_that_are_here():
    # Where it isn't: python src/elmo/ops/native/build_wasm.py
    assert build_wasm.SOURCES_HASH.read_text().strip() == build_wasm.source_hash()


def test_the_module_is_small_and_needs_nothing(javascript):
    assert build_wasm.MODULE.stat().st_size < 64_000
    code = """
    const { readFileSync } = await import("node:fs");
    return WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(given.wasm)));
    """
    assert javascript(code, wasm=str(build_wasm.MODULE)) == []


def test_npm_packs_what_the_module_needs_and_nothing_else():
    command = [required("npm"), "pack", "--dry-run", "--json", "--offline"]
    done = subprocess.run(command, cwd=BROWSER, capture_output=True, text=True, check=True, timeout=60)
    (packed,) = json.loads(done.stdout)
    scripts = {path.name for path in BROWSER.glob("*.js")}
    assert {file["path"] for file in packed["files"]} == {
        *scripts, "elmo.wasm", "elmo.d.ts", "package.json", "README.md", "LICENSE"
    }  # fmt: skip
    assert packed["version"] == elmo.__version__
    assert packed["size"] < 100_000


def test_the_license_is_the_package_s():
    assert (BROWSER / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_the_types_name_what_there_is(javascript):
    code = """
    const elmo = await load(given.folder);
    return Object.getOwnPropertyNames(Object.getPrototypeOf(elmo)).filter((name) => name !== "constructor");
    """
    types = (BROWSER / "elmo.d.ts").read_text(encoding="utf-8")
    interface = re.search(r"export interface Elmo \{(.*?)^\}", types, re.DOTALL | re.MULTILINE)
    assert interface is not None
    declared = set(re.findall(r"^  (\w+)\(", interface[1], re.MULTILINE))
    assert declared == set(javascript(code, folder=str(PACKAGE / "bundled" / "small-ko")))


def test_the_page_s_commands_and_its_program_run(tmp_path):
    node, page = required("node"), PAGE.read_text(encoding="utf-8")
    (commands,), (program,) = (re.findall(rf"^```{name}\n(.*?)^```$", page, re.S | re.M) for name in ("sh", "js"))
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment["PYTHONPATH"] = str(PACKAGE.parent)
    subprocess.run(["bash", "-euc", commands], cwd=tmp_path, env=environment, check=True, timeout=60)
    (tmp_path / "example.mjs").write_text(program, encoding="utf-8")
    done = subprocess.run([node, "example.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    first, second, *words = done.stdout.splitlines()
    assert [first, second] == re.findall(r"console\.log\(.*\); // (.*)$", program, re.M)
    assert len(words) == 3
    assert all(re.fullmatch(r"\w+ 0\.\d{4}", line) for line in words)
