"""An end that comes from outside: a signal, or a terminal that is gone. The text is kept and the terminal restored."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType

SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGINT") if hasattr(signal, name))

GRACE_S = 5.0
"""So long an orderly end may take. One that has to write to a terminal that is gone would take for ever."""


def end_on_signals(end: Callable[[signal.Signals], None], keep: Callable[[], None]) -> None:
    """From now on the first signal that ends programs calls `end` in the event loop that runs.

    A program that still runs after `GRACE_S` calls `keep`, in a thread, and is gone.
    """
    loop = asyncio.get_running_loop()

    def ended(number: int, _: FrameType | None) -> None:
        for one in SIGNALS:
            signal.signal(one, signal.SIG_IGN)
        last = threading.Timer(GRACE_S, _leave, (number, keep))
        last.daemon = True
        last.start()
        loop.call_soon_threadsafe(end, signal.Signals(number))

    for one in SIGNALS:
        if signal.getsignal(one) is not signal.SIG_IGN:  # as nohup has it
            signal.signal(one, ended)


def _leave(number: int, keep: Callable[[], None]) -> None:
    try:
        keep()
    finally:
        os._exit(exit_code(number))


def exit_code(number: int) -> int:
    """What a shell calls the end by a signal."""
    return 128 + number
