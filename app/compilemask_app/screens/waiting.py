"""Work that takes a while, in a thread under a box that says so and takes the keys."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from compilemask_app.screens.dialogs import Waiting

if TYPE_CHECKING:
    from compilemask_app.application import Workbench

Made = TypeVar("Made")


async def under_a_box(
    app: Workbench, title: str, words: str, make: Callable[[], Made], drop: Callable[[Made], None] | None = None
) -> Made | None:
    """What `make` returns or raises, made in a thread; None if the user closed the box meanwhile, after a `drop`."""
    waiting = Waiting(title, words)
    await app.push_screen(waiting)
    try:
        found = await asyncio.to_thread(make)
    finally:
        given_up = waiting not in app.screen_stack
        waiting.answer(None)
    if not given_up:
        return found
    if drop is not None:
        drop(found)
    return None
