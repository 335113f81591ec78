"""A screen over the design screen: escape goes back."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text
from textual.screen import Screen

from compilemask_app.framework import LeavesOnce, NewestSize


class OverScreen(NewestSize, LeavesOnce, Screen[None]):
    """Shows the mask in another way."""

    def action_close(self) -> None:
        self.dismiss(None)


def headed(title: str, words: str, colours: Mapping[str, str], *, outdated: bool) -> Text:
    """The first line of a screen of results, which says first whether they are of an older text."""
    old = ("~ old, the text has changed since: ", colours.get("warning", "")) if outdated else ""
    return Text.assemble(f"{title}   ", old, words)
