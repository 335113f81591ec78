"""`python -m compilemask_app [MASK]`."""

from __future__ import annotations

import sys

from compilemask_app import run

if __name__ == "__main__":
    sys.exit(run(sys.argv[1] if len(sys.argv) > 1 else None))
