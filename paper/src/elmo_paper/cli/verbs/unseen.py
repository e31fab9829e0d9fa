"""`elmo-paper unseen`: where ELMo's gain is, on known words or on new ones."""


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    from elmo_paper.queue import unseen_words  # here, as everything that takes long to load

    return unseen_words.main(argv)
