"""Exported pages: everything that the page shows, computed where it is opened, without a server of ours.

A page holds the neighbors of the example that it opens on, so that it shows something at once, and a worker that loads
the model's own files, by elmo.js, and answers everything else:

    index.html           the page and its worker
    elmo/                elmo.js with elmo.wasm, a module that other pages can use too
    NAME/                config.json, model.safetensors, vocab.txt, softmax.safetensors: the model's folder as it is
    NAME/text.txt        the text that is searched, a tokenized sentence on each line
    SOURCES.tsv          where the sentences come from

or all of it in one file, gzipped and in base64, which opens from disk.
"""

import base64
import gzip
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from elmo.analysis.neighbors.context_index import Hit
from elmo.analysis.neighbors.query import neighbors
from elmo.disk.atomic import new_folder, write_file
from elmo.disk.bounded import read_bytes
from elmo.errors import ConfigError
from elmo.explorer import page_files
from elmo.explorer.explored import Explored, Mix
from elmo.explorer.texts import SOURCES_FILE

MOST_TOKENS = 50_000
"""Tokens of a text at most: a browser embeds about 1,000 in a second, and keeps 6 KB of each in memory."""
_NEEDED, _OPTIONAL = ("config.json", "model.safetensors"), ("vocab.txt", "softmax.safetensors")
_TEXT = "text.txt"
_OWN = ("index.html", "SOURCES.tsv", "answers.json")  # the last of pages written before 0.2
_LARGEST_FILE = 1 << 30
_COUNT = 6  # neighbors that the page asks for
_ENGINE = "elmo"


def export_folder(
    models: Mapping[str, Explored], folder: Path, mixes: Sequence[Mix] = (), *, force: bool = False
) -> None:
    """Writes a folder that any web server can give out, from any address. `mixes`: learned ones, to choose from.

    Raises ConfigError for a model or text that a browser can't hold, OutputError if the folder exists, unless `force`.
    """
    files = _files(models)
    page = page_files.page(_kept(models, mixes, files))
    engine = {path.name: path for path in page_files.ENGINE.iterdir() if path.suffix not in (".sources", ".md")}
    size = len(page.encode()) + sum(map(len, files.values())) + sum(path.stat().st_size for path in engine.values())
    replaceable = frozenset({*_OWN, _ENGINE, *models, *_earlier_models(folder)})
    with new_folder(folder, size=size, force=force, replaceable=replaceable) as unfinished:
        (unfinished / "index.html").write_text(page, encoding="utf-8")
        (unfinished / "SOURCES.tsv").write_bytes(SOURCES_FILE.read_bytes())
        (unfinished / _ENGINE).mkdir()
        for name, path in engine.items():
            (unfinished / _ENGINE / name).write_bytes(path.read_bytes())
        for name, content in files.items():
            (unfinished / name).parent.mkdir(exist_ok=True)
            (unfinished / name).write_bytes(content)


def _earlier_models(page: Path) -> set[str]:
    """The names of the models that a page has which was exported before."""
    parts = {*_NEEDED, *_OPTIONAL, _TEXT}
    folders = (path.parent for path in page.glob(f"*/{_NEEDED[0]}") if (page / "index.html").is_file())
    return {folder.name for folder in folders if {path.name for path in folder.iterdir()} <= parts}


def export_file(models: Mapping[str, Explored], path: Path, mixes: Sequence[Mix] = (), *, force: bool = False) -> None:
    """Writes the page as one HTML file, which opens from disk. Raises as `export_folder`."""
    files = {**_files(models), f"{_ENGINE}/elmo.wasm": (page_files.ENGINE / "elmo.wasm").read_bytes()}
    packed = {name: base64.b64encode(gzip.compress(content, mtime=0)).decode() for name, content in files.items()}
    page = page_files.page(_kept(models, mixes, files), packed).encode()
    write_file(path, page, force=force)


def _kept(models: Mapping[str, Explored], mixes: Sequence[Mix], files: Collection[str]) -> str:
    """What the page knows when it opens. `files`: names of what its worker reads."""
    engines = {
        name: page_files.Engine(
            tokens_in_source=None if model.text is None else model.index().facts.tokens_in_source,
            has_vocabulary=f"{name}/vocab.txt" in files,
        )
        for name, model in models.items()
    }
    return page_files.kept(models, mixes, engines, answers=_first_neighbors(next(iter(models.values()))))


def _first_neighbors(model: Explored) -> dict[str, Any]:
    """What the page shows while its model loads: the neighbors of its first example, by the page's own keys."""
    found = {}
    for example in model.info().examples[:1] if model.text is not None else ():
        for tokens, place in zip(example.sentences, example.places, strict=True):
            asked = {"selected": {"tokens": tokens, "place": place}, "count": _COUNT, "weights": None}
            request = {"model": model.model.name, **asked, "noun": example.noun}
            layers = neighbors(model.index(), model.model.embedder, tokens, place, _COUNT, noun=example.noun)
            key = f"neighbors {json.dumps(request, ensure_ascii=False, separators=(',', ':'))}"
            found[key] = {"layers": [{which: list(map(_near, hits)) for which, hits in one.items()} for one in layers]}
    return found


def _near(hit: Hit) -> dict[str, Any]:
    return {"tokens": hit.tokens, "position": hit.position, "cosine": round(hit.cosine, 4)}


def _files(models: Mapping[str, Explored]) -> dict[str, bytes]:
    """What the worker reads, by name."""
    found: dict[str, bytes] = {}
    for name, model in models.items():
        folder = model_folder(name, model)
        _require_readable_text(name, model)
        for file in (*_NEEDED, *_OPTIONAL):
            if file in _NEEDED or (folder / file).is_file():
                found[f"{name}/{file}"] = read_bytes(folder / file, limit=_LARGEST_FILE)
        if model.text is not None:
            lines = (" ".join(sentence) for sentence in model.index().sentences)
            found[f"{name}/{_TEXT}"] = "".join(f"{line}\n" for line in lines).encode()
    return found


def model_folder(name: str, model: Explored) -> Path:
    """The folder of its files. Raises ConfigError if elmo.js can't compute it or doesn't find them."""
    config, folder = model.model.embedder.config, model.folder
    if config.characters != "bytes" or config.num_words or config.direction != "both":
        raise ConfigError(
            f"{name} can't be exported: it reads {config.characters or 'words'}, direction {config.direction}, elmo.js "
            "bytes in both directions. Show it with 'elmo explore', and use 'Save as page' there."
        )
    missing = [file for file in _NEEDED if folder is None or not (folder / file).is_file()]
    if folder is None or missing:
        raise ConfigError(
            f"{name} can't be exported: {folder or 'its folder'} has no {missing[0]}. Export what 'elmo convert' makes."
        )
    return folder


def _require_readable_text(name: str, model: Explored) -> None:
    if model.text is not None and (tokens := len(model.index())) > MOST_TOKENS:
        raise ConfigError(
            f"the text of {name} has {tokens:,} tokens, for which a browser would take minutes. Take fewer with "
            f"--tokens {MOST_TOKENS}, and with --sample from the whole text."
        )
