"""`elmo-paper finished`: finished trainings in small files, to go on on another machine."""


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    from elmo_paper.queue import finished  # here, as everything that takes long to load

    return finished.main(argv)
