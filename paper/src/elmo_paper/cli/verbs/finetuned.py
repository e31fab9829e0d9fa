"""`elmo-paper finetuned`: table 7, the biLM fine-tuned on a task's text."""


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    from elmo_paper.queue import finetuned  # here, as everything that takes long to load

    return finetuned.main(argv)
