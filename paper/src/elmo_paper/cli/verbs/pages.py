"""`elmo-paper pages`: the documentation's tables and pictures, made of the records."""


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    from elmo_paper.pages import write  # here, as everything that takes long to load

    return write.main(argv)
