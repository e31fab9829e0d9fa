"""`elmo-paper unseen`: where ELMo's gain is, on known words or on new ones."""

from elmo_paper.queue.unseen_words import main as main
