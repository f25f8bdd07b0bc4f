"""`python -m cortex`: the command line."""

import sys

from cortex.front.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
