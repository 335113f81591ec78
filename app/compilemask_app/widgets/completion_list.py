"""What could be written at the cursor, in a small list under it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.geometry import Offset
from textual.widgets import OptionList
from textual.widgets.option_list import Option

if TYPE_CHECKING:
    from compilemask.language.completion import Completion

WIDTH = 46
MOST = 8
TITLE, FOOTER = 1, 1
"""Lines at the top and the bottom of the screen that stay free."""


class CompletionList(OptionList, can_focus=False):
    """Floats over the screen; the editor keeps the keys and moves the highlight."""

    DEFAULT_CSS = f"""
    CompletionList {{
        layer: above; display: none; position: absolute; width: {WIDTH}; height: auto;
        border: none; padding: 0; background: $panel; scrollbar-size-vertical: 1;
    }}
    CompletionList.open {{ display: block; }}
    """

    def __init__(self) -> None:
        super().__init__(id="completions")
        self._completions: tuple[Completion, ...] = ()
        self.looked_at = False  # somebody moved in it

    @property
    def is_open(self) -> bool:
        """Whether there is something to choose."""
        return self.has_class("open")

    @property
    def chosen(self) -> Completion | None:
        """The highlighted suggestion."""
        return None if self.highlighted is None else self._completions[self.highlighted]

    def offer(self, completions: list[Completion], cursor: Offset) -> None:
        """Show suggestions beside the cursor; nothing to show closes it."""
        self._completions = tuple(completions)
        self.looked_at = False
        self.clear_options()
        if not completions:
            self.close()
            return
        self.add_options([Option(_prompt(item)) for item in completions])
        self.highlighted = 0
        self.place(cursor)
        self.add_class("open")

    def place(self, cursor: Offset) -> None:
        """Under the cursor, above it where there is more room for what would not fit; never on its line."""
        room = self.screen.size
        height = min(MOST, len(self._completions))
        above, below = cursor.y - TITLE, room.height - FOOTER - cursor.y - 1
        under = height <= below or below >= above
        height = max(1, min(height, below if under else above))
        self.styles.max_height = height
        self.styles.offset = (
            max(0, min(cursor.x, room.width - WIDTH)),
            cursor.y + 1 if under else cursor.y - height,
        )

    def close(self) -> None:
        """Nothing to choose any more."""
        self.remove_class("open")


def _prompt(item: Completion) -> Text:
    detail = item.detail.removeprefix(item.label).removeprefix(": ")
    text = Text.assemble(f"{item.label} ", (detail, "dim"))
    text.truncate(WIDTH - 2, overflow="ellipsis")
    return text
