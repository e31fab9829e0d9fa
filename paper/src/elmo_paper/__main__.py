"""`python -m elmo_paper` is `elmo-paper`."""

import sys

from elmo_paper.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
