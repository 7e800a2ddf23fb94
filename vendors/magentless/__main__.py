"""`python -m magentless`."""

import sys

from magentless.cli import main

if __name__ == "__main__":
    sys.exit(main())
