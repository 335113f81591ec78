"""`python -m compilemask.worker`: serve requests on stdin until it is closed."""

from __future__ import annotations

import os
import sys

from compilemask.pipeline.memory import keep_freed_memory
from compilemask.worker.service import Service


def main() -> int:
    """Serve, keeping stdout for the protocol alone: whatever libraries print to it goes to stderr."""
    sys.stdout.flush()
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    requests = open(os.dup(0), encoding="utf-8", errors="replace", newline="\n")  # noqa: SIM115
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    keep_freed_memory()
    Service(requests, replies).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
