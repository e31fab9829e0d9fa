"""Where a server listens, and who can reach it there."""

import socket
from ipaddress import ip_address

from elmo.errors import ConfigError
from elmo.serve.settings import ServeSettings

_BACKLOG = 512


def bound(host: str, port: int) -> socket.socket:
    """A listening socket; port 0: any free one. Raises ConfigError if the address can't be used."""
    if not 0 <= port < 1 << 16:
        raise ConfigError(f"port is {port}, but ports go from 0 (any free one) to 65,535. Choose one of these.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise ConfigError(_not_bound(host, port, error)) from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise ConfigError(_not_bound(host, port, error)) from None
    return listening


def url(listening: socket.socket) -> str:
    """What to write into a browser."""
    address, port = listening.getsockname()[:2]
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


def is_loopback(listening: socket.socket) -> bool:
    """Whether only this machine can reach it."""
    return ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback


def require_key(listening: socket.socket, settings: ServeSettings) -> None:
    """Raises ConfigError if other machines can reach the server, and need no key for it."""
    if not settings.api_keys and not is_loopback(listening):
        raise ConfigError(
            f"other machines can reach {listening.getsockname()[0]}, but no API key is set, so anybody could use this "
            "server. Pass --api-key-file, or listen on --host 127.0.0.1."
        )


def _not_bound(host: str, port: int, error: Exception) -> str:
    reason = getattr(error, "strerror", None) or str(error)
    return (
        f"can't listen on {host} port {port}: {reason}. Choose another with --port (0 takes any free one), or an "
        "address of this machine with --host."
    )
