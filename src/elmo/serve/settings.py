"""ServeSettings: everything about a server but its models and its address."""

from collections.abc import Collection
from dataclasses import dataclass, field

from elmo.errors import ConfigError
from elmo.text.tokenizer import tokenizer as named_tokenizer

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
ANY_HOST = "*"
_SHORTEST_KEY = 16


@dataclass(frozen=True)
class ServeSettings:
    """Limits, keys and hosts. A request beyond a limit is refused with a message that names the limit."""

    hosts: Collection[str] = LOOPBACK_HOSTS
    """Host names that requests may be addressed to, without port; "*" allows any. Other names are refused: through
    them a foreign web page could reach a server that listens on loopback only (DNS rebinding)."""
    api_keys: Collection[str] = field(default=(), repr=False)
    """Keys that clients must present as `Authorization: Bearer KEY`, each of 16 characters or more; none: no key is
    needed."""
    tokenizer: str = "auto"
    """How a text becomes tokens if the request doesn't say: "auto", "unicode", "whitespace" or "module:function"."""
    plain_quotes: bool = True
    """Whether typographic marks that a model's vocabulary doesn't have are read as plain ones."""
    max_body_bytes: int = 8_000_000
    """Bytes of a request's body."""
    max_inputs: int = 2048
    """Texts in one request."""
    max_tokens: int = 131_072
    """Tokens in one request."""
    max_queued_tokens: int = 262_144
    """Tokens that wait or are being computed, over all requests."""
    max_batch_tokens: int = 2048
    """Tokens computed at a time; a longer text is a batch of its own."""
    deadline_seconds: float = 60.0
    """From the arrival of a request to the end of its computation; later it is answered with status 503."""
    body_seconds: float = 10.0
    """From the end of a request's headers to the end of its body."""

    def __post_init__(self) -> None:
        named_tokenizer(self.tokenizer)
        for name in ("max_body_bytes", "max_inputs", "max_tokens", "max_queued_tokens", "max_batch_tokens"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1 (got {getattr(self, name)}).")
        for name in ("deadline_seconds", "body_seconds"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be above 0 seconds (got {getattr(self, name)}).")
        if any(len(key) < _SHORTEST_KEY or not key.isascii() or not key.isprintable() for key in self.api_keys):
            raise ConfigError(
                f"an API key is shorter than {_SHORTEST_KEY} characters or has others than printable ASCII, so that it "
                "could be guessed or could not be sent. Make one with: python -c 'import secrets; "
                "print(secrets.token_urlsafe(32))'"
            )
