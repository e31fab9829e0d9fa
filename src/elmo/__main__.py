"""`python -m elmo` is `elmo`."""

import sys

from elmo.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
