"""`python -m compilemask` is the console command; Ctrl-C ends it in one line from here on, however early it comes."""

import sys


def start() -> int:
    """Load and run the command; returns its exit code."""
    try:
        from compilemask.command_line.main import main

        return main()
    except KeyboardInterrupt:
        sys.stderr.write("compilemask: interrupted\n")
        return 130


if __name__ == "__main__":
    sys.exit(start())
