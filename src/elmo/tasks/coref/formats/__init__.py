"""Files of documents: CoNLL-2012 columns, JSON lines, raw text. Start with `read`; `brackets` is the last column."""
