"""A line in which a value of the text is typed: names complete, and what the compiler refuses is not taken."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from compilemask_app.composing.entry import Entry, word_at_end
from compilemask_app.screens.dialogs import Prompt


class EntryPrompt(Prompt):
    """Answers a value that the compiler takes at its place; until then what is typed stays, under what is wrong."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "complete", "Complete")]

    def __init__(
        self,
        title: str,
        value: str,
        note: str,
        entry: Entry,
        check: Callable[[str], str | None] | None = None,
        problem: Callable[[str], str | None] | None = None,
        *,
        begun: bool = False,
    ) -> None:
        """`check` is asked first, then, in a thread, `problem`: else the compiler, about the entry."""
        super().__init__(title, value, note, check, begun=begun)
        self._entry = entry
        self._offered: str | None = None
        self._problem = problem or entry.problem

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._title, classes="title")
            yield Input(self._value, compact=True, select_on_focus=not self._begun)
            yield Static("", id="words")
            yield Static(self._note, classes="note")

    @on(Input.Changed)
    def _typed(self) -> None:
        """The words that fit, the one that tab takes first."""
        self._offered = None
        words = self._words()
        colours = self.app.theme_variables
        text = Text("tab  ", style=colours.get("accent", ""), no_wrap=True, overflow="ellipsis") if words else Text()
        for place, word in enumerate(words):
            text.append(word, style="bold" if place == 0 else "dim").append("  ")
        self.query_one("#words", Static).update(text)
        self.query_one(".note", Static).update(self._note)

    def _words(self) -> tuple[str, ...]:
        line = self.query_one(Input)
        return self._entry.completed(line.value[: line.cursor_position])

    def action_complete(self) -> None:
        """Put the first word that fits in place of its beginning."""
        words = self._words()
        if words:
            line = self.query_one(Input)
            end = line.cursor_position
            line.replace(words[0], end - len(word_at_end(line.value[:end])), end)

    async def wrong(self, text: str) -> str | None:
        """The answer again takes what was offered: a parameter for an unknown name, which `Entry.written` adds."""
        wrong = await super().wrong(text)
        if wrong is not None or text == self._offered:
            return wrong
        wrong = await asyncio.to_thread(self._problem, text)
        if wrong is None:
            return None
        wrong, offered = await asyncio.to_thread(self._entry.with_offer, wrong, text)
        self._offered = text if offered else None
        return wrong
