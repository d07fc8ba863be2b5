"""`python -m akd` is `akd`."""

import sys

from akd.cli import main

if __name__ == "__main__":  # not in the processes that training starts
    sys.exit(main())
