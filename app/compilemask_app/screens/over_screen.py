"""A screen over the design screen: escape goes back."""

from __future__ import annotations

from textual.screen import Screen

from compilemask_app.framework import LeavesOnce, NewestSize


class OverScreen(NewestSize, LeavesOnce, Screen[None]):
    """Shows the mask in another way."""

    def action_close(self) -> None:
        self.dismiss(None)
