"""`python -m suffice.cli` is the `suffice` command."""

import sys

from suffice.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
