"""Records as pages: tables, pictures, and the blocks of docs/paper.md, docs/reproduction.md and docs/analysis.md."""
