"""The bottom line: keys of the moment; where room is scarce, the key for help stays in sight."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

HELP = "-help"
ROOMY = 120
"""Columns in which the keys of every place fit."""


class KeyFooter(Footer):
    """A footer whose help key has a class of its own; where it is tight, that is docked beside the palette's."""

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < ROOMY, "-tight")

    def compose(self) -> ComposeResult:
        for key in super().compose():
            yield _marked(key)


def _marked(key: Widget) -> Widget:
    if isinstance(key, FooterKey) and key.action.endswith("help"):
        key.add_class(HELP)
    return key
