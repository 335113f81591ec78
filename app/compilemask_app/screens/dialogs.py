"""Small questions over a screen: one line to type, one button to press."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar, Generic, TypeVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from compilemask.errors import UsageError
from compilemask_app.framework import LeavesOnce, NewestSize
from compilemask_app.widgets.answer_button import AnswerButton

Answer = TypeVar("Answer")

AROUND_ANSWER, AROUND_BOX, BOX = 6, 6, 72
"""Columns that an answer needs beside its words, and the box of a question beside its answers; its width if it can."""


class Dialog(NewestSize, LeavesOnce, ModalScreen[Answer], Generic[Answer]):
    """A box over the screen; escape answers None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "give_up", "Cancel")]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (90, "-normal")]  # noqa: RUF012 - Textual annotates it as it does
    VERTICAL_BREAKPOINTS = [(0, "-low"), (28, "-high")]  # noqa: RUF012

    def answer(self, result: Answer | None) -> None:
        """Close with an answer."""
        self.dismiss(result)

    def action_give_up(self) -> None:
        self.answer(None)


class Prompt(Dialog[str | None]):
    """Asks for one line. `check` returns what is wrong with a text, None if nothing is.

    What is typed takes the place of the value, or goes on behind it where that is `begun`.
    """

    def __init__(
        self,
        title: str,
        value: str = "",
        note: str = "",
        check: Callable[[str], str | None] | None = None,
        *,
        begun: bool = False,
    ) -> None:
        super().__init__()
        self._title, self._value, self._note, self._check, self._begun = title, value, note, check, begun

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._title, classes="title")
            yield Input(self._value, compact=True, select_on_focus=not self._begun)
            yield Static(self._note, classes="note")

    @on(Input.Submitted)
    async def _submitted(self, event: Input.Submitted) -> None:
        wrong = await self.wrong(event.value)
        if wrong is None:
            self.answer(event.value)
        else:
            self.query_one(".note", Static).update(Text(wrong, style=self.app.theme_variables.get("error", "red")))

    async def wrong(self, text: str) -> str | None:
        """What is wrong with an answer, None if nothing is."""
        return self._check(text) if self._check else None


class TryPrompt(Prompt):
    """Closes once what is typed was done: `attempt`, run in a thread, raises UsageError with the reason where not."""

    def __init__(self, title: str, value: str, note: str, attempt: Callable[[str], None]) -> None:
        super().__init__(title, value, note)
        self._attempt = attempt

    @on(Input.Changed)
    def _typed(self) -> None:
        self.query_one(".note", Static).update(self._note)

    async def wrong(self, text: str) -> str | None:
        if not text.strip():
            return self._note
        try:
            await asyncio.to_thread(self._attempt, text.strip())
        except UsageError as error:
            return str(error)
        return None


class Question(Dialog[str | None]):
    """Asks to choose one of a few answers; the first is the safe one and has the focus.

    Arrow keys and tab go from one to the next, a letter to the answer that begins with it; only enter answers.
    """

    def __init__(self, title: str, text: str, answers: tuple[str, ...]) -> None:
        super().__init__()
        self._title, self._text, self._answers = title, text, answers

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._title, classes="title")
            yield Static(self._text)
            with Horizontal(id="answers"):
                for place, answer in enumerate(self._answers):
                    yield AnswerButton(answer, safe=place == 0)

    def on_resize(self, event: events.Resize) -> None:
        """Answers that don't fit side by side stand below each other."""
        super().on_resize(event)
        needed = sum(len(answer) + AROUND_ANSWER for answer in self._answers) + AROUND_BOX
        self.set_class(needed > min(BOX, event.size.width * 0.96), "-stacked")

    def on_key(self, event: events.Key) -> None:
        """Keys that go to another answer."""
        if event.key in ("left", "up", "right", "down"):
            (self.focus_previous if event.key in ("left", "up") else self.focus_next)(AnswerButton)
        elif event.character:
            begins = [one for one in self.query(AnswerButton) if one.answer.lower().startswith(event.character.lower())]
            for button in begins[:1]:
                button.focus()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        assert isinstance(event.button, AnswerButton)
        self.answer(event.button.answer)


class Waiting(Dialog[None]):
    """Says what is being done; escape stops waiting for it."""

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._title, classes="title")
            yield Static(self._text)
            yield Static("esc goes back to the mask", classes="note")
