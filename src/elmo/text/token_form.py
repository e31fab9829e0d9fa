"""What a token may look like, so that a file of one word a line can hold it."""


def invalid_token_reason(token: str) -> str | None:
    """Why a file of one word a line can't hold `token`, or None if it can."""
    if token != token.strip():
        return "begins or ends with whitespace"
    if "\n" in token or "\r" in token:
        return "has a line end in it"
    return "has one half of a surrogate pair, which is not a character" if has_surrogate(token) else None


def has_surrogate(text: str) -> bool:
    """Whether `text` holds U+D800 to U+DFFF, which JSON can escape and UTF-8 can't encode."""
    if text.isascii():
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
