"""`elmo-paper finished`: finished trainings in small files, to go on on another machine."""

from elmo_paper.queue.finished import main as main
