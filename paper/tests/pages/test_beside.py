"""docs/beside-a-transformer.md quotes the benchmark that it names."""

import re

from elmo_paper.places import DOCS


def test_the_table_of_speed_is_that_of_the_record():
    page = (DOCS / "beside-a-transformer.md").read_text(encoding="utf-8")
    (link,) = re.findall(r"\]\((\S+small-transformer_\S+\.md)\)", page)
    record = (DOCS / link).read_text(encoding="utf-8")
    rows = [line for line in record.splitlines() if re.match(r"\| (small-en|MiniLM) ", line)]
    assert len(rows) == 6 and "\n".join(rows) in page
