"""Where the laboratory keeps its plans, records and trainings in the repository, beside this package."""

from pathlib import Path

PAPER = Path(__file__).resolve().parents[2]
DOCS = PAPER.parent / "docs"
PLANS = PAPER / "plans"
PLAN = PLANS / "plan.toml"
BILMS = PLANS / "bilms.toml"
KEPT = PAPER / "finished"
RECORDS = PAPER / "records" / "reproduction"
ANALYSES = PAPER / "records" / "analysis"
