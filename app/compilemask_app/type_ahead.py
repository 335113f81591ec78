"""Keys that come faster than what they open: none is lost, and none goes to what was there before.

A terminal sends keys as fast as they are typed or replayed, and the framework hands each to what has the keys at that
moment. So the letters after `/`, `g` or `e` reached the map as commands while the dialog or the text was still on its
way. Here a key that may open or close something, or give the keys to another part, is waited for before the next.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable

from textual import events
from textual.app import App
from textual.css.query import NoMatches
from textual.dom import NoScreen
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, TextArea
from textual.worker import Worker

MOVES = frozenset(
    f"{shift}{key}"
    for shift in ("", "shift+", "ctrl+")
    for key in ("up", "down", "left", "right", "home", "end", "pageup", "pagedown")
)
ERASES = frozenset({"backspace", "delete"})
POLL_S, PATIENCE_S = 0.004, 2.0
"""How often it is looked whether a key has been dealt with, and after how long the next one goes on all the same."""

PAUSE_S = 0.5
"""After a refusal letters belong to the line that did not open, until none comes for so long."""

Typed = events.Key | events.Paste


class KeyHandled(Message):
    """Goes the way of the key before it, up to the application."""

    def __init__(self) -> None:
        super().__init__()
        self.arrived = asyncio.Event()


class TypeAhead:
    """Holds keys back while a key before them is at work."""

    def __init__(self, app: App[None], hand_on: Callable[[Typed], Awaitable[None]]) -> None:
        self._app, self._hand_on = app, hand_on
        self._waiting: deque[Typed] = deque()
        self._settling: asyncio.Task[None] | None = None
        self._swallow_until = 0.0

    def swallow(self) -> None:
        """A key was refused that should have opened a line: what is typed for that line goes nowhere.

        What waits, up to a key that no line takes, and what comes before a pause in which the refusal can be read.
        """
        self._swallow_until = time.monotonic() + PAUSE_S
        while self._waiting and _for_a_line(self._waiting[0]):
            self._waiting.popleft()
        if self._waiting:
            self._swallow_until = 0.0

    def _swallows(self, event: Typed) -> bool:
        """Whether a key as it comes in goes nowhere."""
        now = time.monotonic()
        swallowed = now < self._swallow_until and _for_a_line(event)
        self._swallow_until = now + PAUSE_S if swallowed else 0.0
        return swallowed

    async def take(self, event: Typed) -> None:
        """A key as it comes in."""
        if self._swallow_until and self._swallows(event):
            return
        self._waiting.append(event)
        if self._settling is None:
            await self._go_on()

    async def _go_on(self) -> None:
        """Hand on what waits, up to a key that may change who has the keys."""
        while self._waiting and self._settling is None:
            if self._app.screen.is_mounted:
                event = self._waiting.popleft()
                target = self._app.focused or self._app.screen
                before = set(self._app.workers)
                await self._hand_on(event)
                if not _at_once(event, target):
                    self._settling = asyncio.create_task(self._settle(target, before, _stays(event, target)))
            else:
                self._settling = asyncio.create_task(self._settle(None, set(self._app.workers), False))

    async def _settle(self, target: Widget | None, before: set[Worker[object]], stays: bool) -> None:
        """Wait until a key that went to a widget has been dealt with, and what it opened, if it may, has the keys."""
        end = time.monotonic() + PATIENCE_S
        try:
            if target is not None and target.post_message(handled := KeyHandled()):
                await _until(lambda: handled.arrived.is_set() or not self._has_keys(target), end)
            if not stays:
                await self._drawn(end)
                await _until(lambda: self._app.screen.is_mounted and not self._opens(before), end)
        finally:
            self._settling = None
            self._app.call_later(self._go_on)

    async def _drawn(self, end: float) -> None:
        """What follows a repaint has happened: that is when parts take the keys."""
        screen = None
        while screen is not self._app.screen and time.monotonic() < end:
            screen = self._app.screen
            drawn = asyncio.Event()
            screen.call_after_refresh(drawn.set)
            await _until(lambda: drawn.is_set() or not screen.is_attached, end)  # noqa: B023 - awaited here

    def _has_keys(self, target: Widget) -> bool:
        try:
            return target.is_attached and target.screen is self._app.screen
        except (NoScreen, NoMatches):
            return False

    def _opens(self, before: set[Worker[object]]) -> bool:
        """Whether something that the key began may still ask: nothing lies over its screen yet."""
        begun = [one for one in self._app.workers if one not in before and not one.is_finished and one.group in ASKING]
        return any(one.node is self._app.screen for one in begun)


ASKING = ("files", "looks", "compose", "default")
"""The groups of workers that open dialogs."""


def _for_a_line(event: Typed) -> bool:
    """Whether a line to type in takes the key: characters, erasing, and enter, which answers."""
    return isinstance(event, events.Paste) or event.is_printable or event.key in ERASES or event.key == "enter"


def _stays(event: Typed, target: Widget) -> bool:
    """Whether what has the keys will have them after this one too."""
    return isinstance(event, events.Paste) or event.key in MOVES or (isinstance(target, Input) and event.key in ERASES)


def _at_once(event: Typed, target: Widget) -> bool:
    """Whether nothing has to be waited for, not even that the key is done.

    In a line it does: the framework writes characters as they come, but moves and erases only once such a key has come
    up to the application.
    """
    if isinstance(event, events.Paste):
        return True
    if isinstance(target, TextArea):
        return event.is_printable or event.key in MOVES or event.key in ERASES
    return event.is_printable if isinstance(target, Input) else event.key in MOVES


async def _until(holds: Callable[[], bool], end: float) -> None:
    while not holds() and time.monotonic() < end:
        await asyncio.sleep(POLL_S)
