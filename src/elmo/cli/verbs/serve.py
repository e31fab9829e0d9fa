"""`elmo serve`: vectors over HTTP."""

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from elmo.cli.arguments import BilmDtype, DeviceOption, parsed
from elmo.cli.early_checks import As
from elmo.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from elmo.serve.settings import ServeSettings

_LIBRARIES = ("starlette", "uvicorn", "msgspec", "prometheus_client")


@dataclass(frozen=True)
class Arguments:
    """Serve vectors over HTTP with the interface of OpenAI's embeddings API, until Ctrl-C or SIGTERM. Without
    --api-key-file, it listens only on loopback addresses. docs/serving.md describes every path."""

    models: Annotated[
        tuple[str, ...], As("named model"), tyro.conf.Positional, tyro.conf.arg(metavar="[MODEL ...]")
    ] = ()
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
    tokenizer: str = "auto"
    """How texts are split into tokens if a request doesn't say. auto: by rules (unicode), except for a text whose own
    marks show that it is tokenized; unicode; whitespace; or module:function."""
    plain_quotes: bool = True
    """Read typographic quotes, apostrophes, dashes and ellipses as a model's training text has them, if its vocabulary
    has only the plain ones."""
    max_body_bytes: int = 8_000_000
    """Maximum size of a request's body in bytes."""
    max_inputs: int = 2048
    """Maximum number of texts in a request."""
    max_tokens: int = 131_072
    """Maximum number of tokens in a request."""
    max_queued_tokens: int = 262_144
    """Maximum number of tokens waiting to be computed; when it is exceeded, requests get status 429."""
    max_batch_tokens: int = 2048
    """Maximum number of tokens computed at the same time."""
    deadline_seconds: float = 60.0
    """Seconds after which a request that is still waiting gets status 503."""
    device: DeviceOption = "auto"
    quiet: bool = False
    """Don't print the address."""


def main(argv: list[str]) -> int:
    """Runs the command; 0 after a signal."""
    arguments = parsed(Arguments, argv, "serve")
    require_utf8(*arguments.models)
    require_libraries("elmo serve")
    # Here, so that --help does not wait for torch.
    from elmo.serve.app import create_app
    from elmo.serve.listening import bound, require_key, run, url
    from elmo.serve.models import ServedModel

    settings = _settings(arguments)
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


def _settings(arguments: Arguments) -> "ServeSettings":
    from elmo.serve.access import read_keys
    from elmo.serve.settings import LOOPBACK_HOSTS, ServeSettings

    own = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    return ServeSettings(
        hosts=(*LOOPBACK_HOSTS, own, *arguments.allowed_hosts),
        api_keys=read_keys(arguments.api_key_file) if arguments.api_key_file is not None else (),
        tokenizer=arguments.tokenizer,
        plain_quotes=arguments.plain_quotes,
        max_body_bytes=arguments.max_body_bytes,
        max_inputs=arguments.max_inputs,
        max_tokens=arguments.max_tokens,
        max_queued_tokens=arguments.max_queued_tokens,
        max_batch_tokens=arguments.max_batch_tokens,
        deadline_seconds=arguments.deadline_seconds,
    )


def require_libraries(command: str) -> None:
    """MissingExtraError unless the libraries of the server, which `command` needs, are installed."""
    for library in _LIBRARIES:
        if find_spec(library) is None:
            raise MissingExtraError(library, "serve", command)


def require_utf8(*names: object) -> None:
    """ConfigError for a name that is not UTF-8, which answers in JSON can't contain."""
    for name in names:
        if name is not None and any("\ud800" <= letter <= "\udfff" for letter in str(name)):
            raise ConfigError(
                f"{str(name)!r}: the name is not UTF-8 text, so no answer could contain it. Rename it, or make a link "
                "of another name to it and pass that."
            )
