"""`elmo serve`: vectors over HTTP."""

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated, Literal

import tyro

from elmo.cli.arguments import parsed
from elmo.errors import MissingExtraError
from elmo.process.device import Device

_LIBRARIES = ("starlette", "uvicorn", "msgspec", "prometheus_client")


@dataclass(frozen=True)
class Arguments:
    """Serve vectors over HTTP, in the shape of OpenAI's API, until Ctrl-C or SIGTERM. Without --api-key-file it listens
    on loopback addresses only."""

    models: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[MODEL ...]")] = ()
    """Names, folders or files, or hub ids (default: $ELMO_MODEL, or the bundled model). Requests that name no model get
    the first."""
    host: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 for all of this machine's."""
    port: int = 8000
    """Port to listen on; 0 takes any free one."""
    dtype: Literal["float32", "bfloat16", "int8", "auto"] = "float32"
    """Precision of matrix products. auto: bfloat16 where this processor is fast in it, else float32."""
    state: Literal["zero", "warm"] = "zero"
    """State that every text starts from: zeros, or the model's warm state."""
    device: Device = "auto"
    """Where to compute."""
    quiet: bool = False
    """Don't say where it listens."""


def main(argv: list[str]) -> int:
    """Runs the command; 0 after a signal."""
    arguments = parsed(Arguments, argv, "serve")
    _require_libraries()
    # Here, so that --help does not wait for torch.
    from elmo.serve.app import create_app
    from elmo.serve.models import ServedModel
    from elmo.serve.server import bound, run

    listening = bound(arguments.host, arguments.port)
    load = {"device": arguments.device, "dtype": arguments.dtype, "state": arguments.state}
    models = [ServedModel.load(model, **load) for model in arguments.models or (None,)]
    address, port = listening.getsockname()[:2]

    def tell() -> None:
        if not arguments.quiet:
            print(f"serving {', '.join(model.name for model in models)} on http://{address}:{port}", file=sys.stderr)

    run(create_app(models), listening, started=tell)
    return 0


def _require_libraries() -> None:
    for library in _LIBRARIES:
        if find_spec(library) is None:
            raise MissingExtraError(library, "serve", "elmo serve")
