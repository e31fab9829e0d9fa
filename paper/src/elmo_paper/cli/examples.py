"""Command lines that each verb's --help shows; the tests of the command line read every one of them."""

EXAMPLES: dict[str, tuple[str, ...]] = {}  # fmt: skip
