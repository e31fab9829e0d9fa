"""`elmo explore`: the explorer page in the browser."""

import os
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from elmo.cli.arguments import BilmDtype, DeviceOption, TokenizerChoice, parsed
from elmo.cli.inputs import FormFlags
from elmo.cli.verbs.serve import require_libraries
from elmo.errors import ConfigError
from elmo.setting_checks import PositiveInt
from elmo.text.reading.settings import TextForm

if TYPE_CHECKING:
    from elmo.explorer.explored import Explored, Mix

_BUNDLED = ("small-en", "small-ko")
_INDEXED_TOKENS = 200_000


@dataclass(frozen=True)
class Arguments:
    """Open a page that shows how each layer represents a word in its sentence: its neighbors, a map of all occurrences,
    a comparison of two sentences, and words for a gap.

    Without --model it shows the bundled models, English and Korean, each with a text in its language. The server
    listens on this machine only and contacts no other host. Ctrl-C ends it."""

    model: Annotated[tuple[str, ...], tyro.conf.arg(aliases=["-m"], metavar="MODEL [MODEL ...]")] = ()
    """Names, folders or files, or hub ids (default: $ELMO_MODEL, or the bundled models; with --text the English
    one)."""
    text: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """A text to find neighbors in, one sentence per line (default: the bundled texts)."""
    tokenizer: TokenizerChoice = "auto"
    form: FormFlags = field(default_factory=TextForm)
    tokens: PositiveInt | None = None
    """Maximum number of tokens of the text to index (default: 200,000; in an exported page 50,000)."""
    sample: bool = False
    """Draw sentences from the whole text instead of taking the first ones."""
    run: Annotated[Path | None, tyro.conf.arg(metavar="RUN")] = None
    """A run of 'elmo task train': adds the mix of layers that it learned."""
    export: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Write the page to a folder that any web server can give out, and exit. The page computes by itself, so the folder
    holds the models, about 20 MB for each bundled one."""
    single_file: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Write the same as one HTML file that opens from disk, and exit."""
    publish_text: bool = False
    """With --text: put the text into the exported page, where every visitor can read it."""
    force: bool = False
    """Replace what --export and --single-file write if it exists."""
    host: str = "127.0.0.1"
    """Address to listen on; it must be a loopback address."""
    port: int = 8010
    """Port to listen on; 0: any free one."""
    no_browser: bool = False
    """Don't open the browser."""
    dtype: BilmDtype = "float32"
    device: DeviceOption = "auto"
    quiet: bool = False
    """Show neither progress nor the address of the page."""


def main(argv: list[str]) -> int:
    """Runs the command; 0 after a signal."""
    arguments = parsed(Arguments, argv, "explore")
    is_exported = arguments.export is not None or arguments.single_file is not None
    if is_exported and arguments.text is not None and not arguments.publish_text:
        raise ConfigError(
            f"the exported page would hold all of {arguments.text}, so that neighbors can be found in it, and every "
            "visitor could read it. Add --publish-text if they may; or leave out --text for the bundled texts."
        )
    require_libraries("elmo explore")
    from elmo.explorer.explored import learned_mixes
    from elmo.explorer.served import PATH, Page
    from elmo.serve.app import create_app
    from elmo.serve.listening import bound, is_loopback, run, url

    mixes = learned_mixes(arguments.run) if arguments.run else []
    if is_exported:
        return _export(arguments, mixes)
    with bound(arguments.host, arguments.port) as listening:
        if not is_loopback(listening):
            raise ConfigError(
                f"the explorer has no keys, but other machines could reach it on {arguments.host}. Leave out --host; "
                "to show somebody else a page, export it with --export FOLDER, or use 'Save as page' in it."
            )
        models = _models(arguments, _INDEXED_TOKENS)
        for model in models.values():  # the page's first answer needs all of them
            model.index(progress=not arguments.quiet)
        page = f"{url(listening)}{PATH}"

        def show_address() -> None:
            if not arguments.quiet:
                print(f"the page is at {page} (Ctrl-C ends it)", file=sys.stderr, flush=True)
            if not arguments.no_browser:
                webbrowser.open(page)

        app = create_app([model.model for model in models.values()], extra_routes=Page(models, mixes).routes())
        run(app, listening, started=show_address)
    return 0


def _export(arguments: Arguments, mixes: "Sequence[Mix]") -> int:
    from elmo.explorer.exported import MOST_TOKENS, export_file, export_folder, model_folder

    models = _models(arguments, MOST_TOKENS)
    for name, model in models.items():
        model_folder(name, model)  # before its text is embedded
    for model in models.values():
        model.index(progress=not arguments.quiet)
    if arguments.export is not None:
        export_folder(models, arguments.export, mixes, force=arguments.force)
        print(arguments.export / "index.html")
    if arguments.single_file is not None:
        export_file(models, arguments.single_file, mixes, force=arguments.force)
        print(arguments.single_file)
    return 0


def _models(arguments: Arguments, usual_tokens: int) -> "dict[str, Explored]":
    from elmo.explorer.explored import Explored
    from elmo.explorer.texts import ExploredText
    from elmo.weights.hub import MODEL_VARIABLE

    text = None
    if arguments.text is not None:
        limits = (usual_tokens if arguments.tokens is None else arguments.tokens, arguments.sample)
        text = ExploredText(arguments.text, arguments.text.name, arguments.tokenizer, *limits, arguments.form)
    from_environment = (os.environ[MODEL_VARIABLE],) if os.environ.get(MODEL_VARIABLE) else None
    names = arguments.model or from_environment or (_BUNDLED if text is None else _BUNDLED[:1])
    found = [Explored.load(name, text=text, device=arguments.device, dtype=arguments.dtype) for name in names]
    return {one.model.name: one for one in found}
