"""Where the framework, Textual 8.2.8, needs help, each part with what: mostly input that comes faster than drawing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual import content, events
from textual.await_complete import AwaitComplete
from textual.command import CommandList, CommandPalette
from textual.screen import Screen
from textual.widgets import OptionList, Tabs
from textual.widgets._tabs import Underline


class NewestSize:
    """For screens: a size that is not the terminal's any more is not laid out.

    Screens under a dialog lay each other out for every size they are told, and each tells itself the size again. With
    two sizes on their way at once, and no repaint between them, that went on for ever.
    """

    def on_resize(self, event: events.Resize) -> None:
        """Before the framework's own handler, which it keeps from running."""
        assert isinstance(self, Screen)
        if event.size != self.app.size:
            event.prevent_default()
            event.stop()


class LeavesOnce:
    """For screens: a second key or click on its way out closes nothing else."""

    _left = False

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Close with a result, the first time."""
        assert isinstance(self, Screen)
        if self._left or not self.is_current:
            return AwaitComplete()
        if not self.is_mounted:  # whose own handlers still look for what they hold
            self.call_later(self._dismiss_mounted, result)
            return AwaitComplete()
        self._left = True
        return Screen.dismiss(self, result)

    def _dismiss_mounted(self, result: Any) -> None:
        self.dismiss(result)


class Palette(LeavesOnce, CommandPalette):
    """The command palette, which may be closed while it still gathers commands."""

    def _watch__list_visible(self) -> None:
        if self.query(CommandList):
            super()._watch__list_visible()

    async def _watch__show_busy(self) -> None:
        if self.query(CommandList):
            await super()._watch__show_busy()


class LastingTabs(Tabs):
    """Tabs that may be taken away while the mark of the active one moves."""

    def _highlight_active(self, animate: bool = True) -> None:
        if self.query(Underline):
            super()._highlight_active(animate)


def mend_lists() -> None:
    """Page keys and clicks on options that a list does not have any more, or not yet a line for, do nothing.

    In place, because the palette makes a list of its own.
    """
    move_page, on_click = OptionList._move_page, OptionList._on_click
    if move_page.__module__ == __name__:
        return

    def move_page_if_laid_out(self: OptionList, direction: Any) -> None:
        if not self.option_count or (self.highlighted or 0) in self._index_to_line:
            move_page(self, direction)

    async def on_click_if_there(self: OptionList, event: events.Click) -> None:
        if event.style.meta.get("option", 0) < max(1, self.option_count):
            await on_click(self, event)

    OptionList._move_page = move_page_if_laid_out  # type: ignore[method-assign]
    OptionList._on_click = on_click_if_there  # type: ignore[method-assign]


def mend_wrapping() -> None:
    """Text in a widget without a column to write in is folded as in one of one cell, which is cut; not an error."""
    divide_line: Callable[..., list[int]] = vars(content)["divide_line"]
    if divide_line.__module__ == __name__:
        return

    def divide_line_in_some_width(text: str, width: int, fold: bool = True) -> list[int]:
        return divide_line(text, max(1, width), fold)

    vars(content)["divide_line"] = divide_line_in_some_width
