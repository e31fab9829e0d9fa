"""`elmo-paper pages`: the documentation's tables and pictures, made of the records."""

from elmo_paper.pages.write import main as main
