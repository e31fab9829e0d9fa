"""Remains: what other programs have left in a text, which a model would read as words; and texts of another form."""

import re
from collections.abc import Sequence

from elmo.text.first_look.plain_text import why_not_plain
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
    "marks of entities": (r"</?e[12]>", "remove them"),
    "links of Markdown": (r"\]\(https?://", "pandoc -t plain FILE writes the text alone"),
    "markup of a wiki": (r"\{\{[^{}]+\}\}|\[\[[^\[\]]+\]\]", "extract the text, for instance with WikiExtractor"),
    "the license of Project Gutenberg": (
        r"\*\*\* ?START OF (?:THE|THIS) PROJECT GUTENBERG EBOOK",
        "cut off what comes before and after the book",
    ),
    "letters decoded wrongly": (
        r"â€[\u0080-\u009f™œž¦“”˜\"]|Ã[\u0080-\u00a9\u00ab-\u00bf]",
        "read the file that they come from as UTF-8",
    ),
}
_KINDS = {what: (re.compile(pattern), step) for what, (pattern, step) in _PATTERNS.items()}
# Fewer lines may have one word each by chance, and no sentence is as long.
_FEWEST_ALONE = 20
_MOST_TOKENS = 1000


def remains_in(text: str) -> list[str]:
    """What was left, each with an example and what to do about it."""
    return [
        f"{what} ({as_example(found.group())!r}: {step})"
        for what, (pattern, step) in _KINDS.items()
        if (found := pattern.search(text))
    ]


def other_form(texts: Sequence[str], sentences: Sequence[Sequence[str]], name: str, *, are_lines: bool) -> str | None:
    """The warning about texts that hold more than words, or less than sentences; None: nothing shows that they do.

    `sentences`: tokens; `name`: of the text; `are_lines`: whether the texts are the lines or rows of a file.
    """
    if why := why_not_plain(texts):
        return (
            f"{name} is read as text, but {why}. ELMo reads tags, marks and numbers as words. If it is a table or has "
            "columns, name its form, such as --format tsv --field 2; else write its text into a file of its own "
            "(docs/text-files.md)."
        )
    filled = [text for text in texts if text.strip()]
    if are_lines and len(filled) >= _FEWEST_ALONE and max(map(len, sentences)) == 1:
        return (
            f"{name} has one word in each line or row, which is read as a sentence of its own, without context. If "
            "they are the words of sentences, write a sentence per line, or use --format conll."
        )
    fewest = min((len(sentence) for sentence in sentences if sentence), default=0)
    if fewest >= _MOST_TOKENS:
        return f"{name} has sentences of {fewest:,} tokens and more. Check that a line end or a blank line ends each."
    return None
