"""A dialog with a list that is chosen from while one types."""

from __future__ import annotations

from textual.widgets import OptionList

from compilemask_app.screens.dialogs import Dialog


class PickList(OptionList, can_focus=False):
    """The list; the keys stay with the line above it."""


class Picker(Dialog[str | None]):
    """Arrow and page keys move in the list, all others belong to the line."""

    @property
    def found(self) -> PickList:
        """The list."""
        return self.query_one("#found", PickList)

    def key_down(self) -> None:
        """The next one."""
        self.found.action_cursor_down()

    def key_up(self) -> None:
        """The one before."""
        self.found.action_cursor_up()

    def key_pagedown(self) -> None:
        """A page on."""
        self.found.action_page_down()  # type: ignore[no-untyped-call]

    def key_pageup(self) -> None:
        """A page back."""
        self.found.action_page_up()  # type: ignore[no-untyped-call]
