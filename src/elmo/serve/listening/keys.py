"""The file of API keys: one in each line; empty lines and lines that begin with # are left out."""

from pathlib import Path

from elmo.errors import ConfigError

_MOST_BYTES = 1 << 20


def read_keys(path: Path) -> tuple[str, ...]:
    """The keys of a file. Raises ConfigError for a file without keys, or one that is no such file."""
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ConfigError(f"{path}: has more than {_MOST_BYTES:,} bytes, so it is not a file of keys. Check the path.")
    try:
        lines = [line.strip() for line in content.decode("ascii").splitlines()]
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not plain ASCII, so it is not a file of keys. Check the path.") from None
    keys = tuple(line for line in lines if line and not line.startswith("#"))
    if not keys:
        raise ConfigError(
            f"{path}: has no keys, one in each line. Make one with: python -c 'import secrets; "
            f"print(secrets.token_urlsafe(32))' > {path}"
        )
    return keys
