"""ServeSettings: everything about a server but its models and its address. Limits are flags of `elmo serve`."""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv6Address

from elmo.errors import ConfigError
from elmo.setting_checks import Positive, PositiveInt, Settings, require_setting
from elmo.text.tokenizer import tokenizer as named_tokenizer

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
ANY_HOST = "*"
_SHORTEST_KEY = 16


@dataclass(frozen=True)
class ServeLimits(Settings):
    """How a server reads requests, and their limits: beyond one, a request is refused with a message that names it."""

    tokenizer: str = "auto"
    """How texts are split into tokens if a request doesn't say. auto: by rules (unicode), except for a text whose own
    marks show that it is tokenized; unicode; whitespace; or module:function."""
    plain_quotes: bool = True
    """Typographic quotes, apostrophes, dashes and ellipses, and letters that only look plain (full-width ones,
    ligatures, soft hyphens), are read as plain ones if a model's vocabulary has only these (default);
    --no-plain-quotes leaves them as they are."""
    max_body_bytes: PositiveInt = 1_000_000
    """Maximum size of a request's body in bytes."""
    max_inputs: PositiveInt = 2048
    """Maximum number of texts in a request."""
    max_tokens: PositiveInt = 131_072
    """Maximum number of tokens in a request."""
    max_queued_tokens: PositiveInt = 262_144
    """Maximum number of tokens waiting to be computed; when it is exceeded, requests get status 429."""
    max_batch_tokens: PositiveInt = 2048
    """Maximum number of tokens computed at the same time."""
    deadline_seconds: Positive = 60.0
    """Seconds after which a request that is still waiting gets status 503."""


@dataclass(frozen=True)
class ServeSettings(ServeLimits):
    """Everything about a server but its models and its address."""

    hosts: Collection[str] = LOOPBACK_HOSTS
    """Host names and addresses that requests may be addressed to, without port; "*" allows any. Others are refused:
    through them a foreign web page could reach a server that listens on loopback only (DNS rebinding)."""
    api_keys: Collection[str] = field(default=(), repr=False)
    """Keys that clients must present as `Authorization: Bearer KEY`, each of 16 characters or more; none: no key is
    needed."""
    body_seconds: Positive = 10.0
    """From the end of a request's headers to the end of its body."""

    def __post_init__(self) -> None:
        super().__post_init__()
        named_tokenizer(self.tokenizer)
        require_setting(not isinstance(self.hosts, str), "hosts", self.hosts, "a list of names")
        object.__setattr__(self, "hosts", tuple(map(_as_requests_have_it, self.hosts)))
        if any(len(key) < _SHORTEST_KEY or not key.isascii() or not key.isprintable() for key in self.api_keys):
            raise ConfigError(
                f"an API key is shorter than {_SHORTEST_KEY} characters or has others than printable ASCII. Make one "
                "with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
            )


def _as_requests_have_it(host: str) -> str:
    """In small letters, an address of version 6 in brackets."""
    with suppress(ValueError):
        return f"[{IPv6Address(host.strip('[]'))}]"
    return host.lower()
