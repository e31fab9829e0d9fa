"""Remains: what other programs have left in a text, which a model would read as words."""

import re

from elmo.text.punctuation import as_example

_PATTERNS = {
    "tags of HTML": (r"</(?:p|i|b|u|a)>|</?(?:br|em|strong|span|div|li|ul|ol|h[1-6])\b[^<>]{0,99}>", "remove them"),
    "entities of HTML": (
        r"&(?:amp|lt|gt|quot|nbsp|apos|#\d{2,6}|#x[0-9a-fA-F]{2,5});",
        "in Python html.unescape(text) reads them",
    ),
    "pieces of a subword tokenizer": (
        r"(?<!\S)(?:\u2581[^\W\d_]\S*|##[^\W\d_]\w*)|[^\W\d_]@@(?!\S)",
        "join them, or take the text before that tokenizer",
    ),
    "letters decoded wrongly": (
        r"â€[\u0080-\u009f™œž¦“”˜\"]|Ã[\u0080-\u00a9\u00ab-\u00bf]",
        "read the file that they come from as UTF-8",
    ),
}
_KINDS = {what: (re.compile(pattern), step) for what, (pattern, step) in _PATTERNS.items()}


def remains_in(text: str) -> list[str]:
    """What was left, each with an example and what to do about it."""
    return [
        f"{what} ({as_example(found.group())!r}: {step})"
        for what, (pattern, step) in _KINDS.items()
        if (found := pattern.search(text))
    ]
