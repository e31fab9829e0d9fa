"""`elmo-paper finetuned`: table 7, the biLM fine-tuned on a task's text."""

from elmo_paper.queue.finetuned import main as main
