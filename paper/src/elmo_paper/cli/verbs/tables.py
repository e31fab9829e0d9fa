"""`elmo-paper tables`: the queue of trainings behind the paper's tables on open data."""


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    from elmo_paper.queue import tables  # here, as everything that takes long to load

    return tables.main(argv)
