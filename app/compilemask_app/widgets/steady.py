"""Panels of text that are sent to the terminal again only when they say something else."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from rich.text import Text
from textual.widget import Widget


class Steady(Widget):
    """For reactives that do not repaint by themselves: their watchers call `say_again`."""

    def __init__(self, **named: Any) -> None:
        super().__init__(**named)
        self._said: Text | None = None

    @abstractmethod
    def words(self) -> Text:
        """What is said."""

    def render(self) -> Text:
        """The words, remembered."""
        self._said = self.words()
        return self._said

    def say_again(self) -> None:
        """What is shown changed, and perhaps the words."""
        if self.is_mounted and self.words() != self._said:
            self.refresh()
