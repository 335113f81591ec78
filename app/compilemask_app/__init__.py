"""The terminal workbench of CompileMask."""

from __future__ import annotations


def run(mask: str | None = None) -> int:
    """Open the workbench on a library mask or a file; returns the exit code."""
    from compilemask_app.main import open_workbench

    return open_workbench(mask)
