"""`python -m toolhub_sdk`: see toolhub_sdk/cli."""

import sys

from toolhub_sdk.cli.main import main


def run() -> None:
    """Ends the process with the exit code of the command line."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
