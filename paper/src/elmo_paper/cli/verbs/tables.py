"""`elmo-paper tables`: the queue of trainings behind the paper's tables on open data."""

from elmo_paper.queue.tables import main as main
