"""The laboratory: what repeats the tables and figures of Peters et al. 2018 with `elmo`. Read `cli/main.py` first."""
