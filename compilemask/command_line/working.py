"""`compilemask worker`: serve the workbench over stdin and stdout."""

from __future__ import annotations

from argparse import Namespace


def run(arguments: Namespace) -> int:
    """Serve until stdin is closed."""
    from compilemask.worker.__main__ import main

    return main()
