"""`elmo serve`: vectors over HTTP."""

import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

import tyro

from elmo.cli.arguments import BilmDtype, DeviceOption, parsed
from elmo.errors import MissingExtraError
from elmo.serve.settings import LOOPBACK_HOSTS, ServeLimits, ServeSettings

_LIBRARIES = ("starlette", "uvicorn", "msgspec", "prometheus_client")


@dataclass(frozen=True)
class Arguments:
    """Serve vectors over HTTP with the interface of OpenAI's embeddings API, until Ctrl-C or SIGTERM. Without
    --api-key-file, it listens only on loopback addresses. docs/serving.md describes every path."""

    models: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[MODEL ...]")] = ()
    """Names, folders or files, or hub ids (default: $ELMO_MODEL, or the bundled model). Requests that name no model use
    the first one."""
    host: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0: all addresses of this machine."""
    port: int = 8000
    """Port to listen on; 0: any free one."""
    api_key_file: Path | None = None
    """A file with one key per line; clients must then send one of them as 'Authorization: Bearer KEY'."""
    allowed_hosts: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME [NAME ...]")] = ()
    """Further host names and addresses, without port, by which clients may address this server; '*': any. localhost and
    --host are always allowed."""
    dtype: BilmDtype = "float32"
    state: Literal["zero", "warm"] = "zero"
    """State that every text starts from. zero: zeros; warm: the model's warm state."""
    limits: Annotated[ServeLimits, tyro.conf.arg(name="")] = field(default_factory=ServeLimits)
    device: DeviceOption = "auto"
    quiet: bool = False
    """Don't print the address."""


def main(argv: list[str]) -> int:
    """Runs the command; 0 after a signal."""
    arguments = parsed(Arguments, argv, "serve")
    require_libraries("elmo serve")
    from elmo.serve.access import read_keys
    from elmo.serve.app import create_app
    from elmo.serve.listening import bound, require_key, run, url
    from elmo.serve.models import ServedModel

    settings = ServeSettings(
        **vars(arguments.limits),
        hosts=(*LOOPBACK_HOSTS, arguments.host, *arguments.allowed_hosts),
        api_keys=read_keys(arguments.api_key_file) if arguments.api_key_file is not None else (),
    )
    with bound(arguments.host, arguments.port) as listening:
        require_key(listening, settings)  # before models are loaded, which takes seconds
        models = [
            ServedModel.load(model, device=arguments.device, dtype=arguments.dtype, state=arguments.state)
            for model in arguments.models or (None,)
        ]

        def show_address() -> None:
            if not arguments.quiet:
                print(f"serving {', '.join(model.name for model in models)} on {url(listening)}", file=sys.stderr)

        run(create_app(models, settings), listening, started=show_address)
    return 0


def require_libraries(command: str) -> None:
    """MissingExtraError unless the libraries of the server, which `command` needs, are installed."""
    for library in _LIBRARIES:
        if find_spec(library) is None:
            raise MissingExtraError(library, "serve", command)
