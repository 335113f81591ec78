"""Starts the workbench on a mask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compilemask_app.application import Workbench
from compilemask_app.document import first_document
from compilemask_app.services import Services

FIRST_MASK = "shared_prompt_rm"


def open_workbench(
    mask: str | None = None, parameters: Mapping[str, Any] | None = None, worker: str | None = None
) -> int:
    """Run the workbench until it is left; the exit code. Raises UsageError for a mask that can't be opened."""
    app = Workbench(first_document(mask or FIRST_MASK, parameters), Services(worker=worker))
    app.run()
    return app.return_code or 0
