"""The bottom line: keys of the moment; where room is scarce, the key for help stays in sight."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

from compilemask_app.widgets.job_bar import JobBar

HELP = "-help"
ROOMY = 120
"""Columns in which the keys of every place fit."""


class KeyFooter(Footer):
    """A footer whose help key has a class of its own; where it is tight, that is docked beside the palette's."""

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < ROOMY, "-tight")
        self.call_after_refresh(self._hide_cut_keys)

    def compose(self) -> ComposeResult:
        for key in super().compose():
            yield _marked(key)
        self.call_after_refresh(self._hide_cut_keys)

    def _hide_cut_keys(self) -> None:
        """Half a word says nothing: keys that the docked ones would cover in part are not shown.

        Where not all fit, those of the jobs are the first to go, as they stand beside their results.
        """
        keys = list(self.query(FooterKey))
        docked = [key for key in keys if key.has_class("-command-palette") or (key.has_class(HELP) and self.is_tight)]
        room = self.size.width - sum(map(_width, docked))
        rest = [key for key in keys if key not in docked]
        spare = sum(map(_width, rest)) > room and any(bar.region.height for bar in self.screen.query(JobBar))
        for key in rest:
            if spare and "run_job" in key.action:
                key.display = False
                continue
            room -= _width(key)
            key.display = room >= 0

    @property
    def is_tight(self) -> bool:
        """Whether the help key is docked."""
        return self.has_class("-tight")


def _marked(key: Widget) -> Widget:
    if isinstance(key, FooterKey) and key.action.endswith("help"):
        key.add_class(HELP)
    return key


def _width(key: FooterKey) -> int:
    """Columns, whether it is shown or not."""
    return key.render().cell_len + key.styles.gutter.width
