"""How verbs write: tables for people on stdout, JSON for programs, remarks on stderr."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from compilemask.command_line import streams
from compilemask.measure.progress import Progress, silent

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from compilemask.source import Diagnostic

MAX_WIDTH = 160
ROOMY = 120  # columns from which on every table fits without broken words
FOLDED = ("compared", "comment", "")


def say(text: str = "") -> None:
    """One line of plain text on stdout, whatever characters the terminal can show."""
    encoding = sys.stdout.encoding or "utf-8"
    streams.write(text.encode(encoding, errors="replace").decode(encoding) + "\n")


def rendered(diagnostics: Sequence[Diagnostic], name: str) -> str:
    """All findings about the mask called `name`, which stands before those that have no place of their own."""
    texts = [item.render() if item.span or not name else f"{name}: {item.render()}" for item in diagnostics]
    return "\n\n".join(texts)


def say_json(value: Any) -> None:
    """One JSON value, and nothing else, on stdout. JSON has no NaN and no infinity: they become null."""
    say(json.dumps(_finite(value), indent=2, ensure_ascii=True))


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def width() -> int:
    """Columns to draw in: those of the terminal, 120 where there is none."""
    return min(shutil.get_terminal_size((ROOMY, 24)).columns, MAX_WIDTH)


def unicode_shown() -> bool:
    """Whether stdout can show block characters."""
    try:
        "█▀▄░▒▓·".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def colour_shown() -> bool:
    """Whether to use colour: on a terminal, unless NO_COLOR is set (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@cache
def _boxes() -> Any:
    from rich import box

    return box.SIMPLE if unicode_shown() else box.ASCII


def table(title: str, *columns: str, right: tuple[str, ...] = ()) -> Table:
    """An empty table; columns named in `right` hold numbers."""
    from rich.table import Table

    made = Table(title=title or None, title_justify="left", title_style="bold", box=_boxes(), pad_edge=False)
    whole = width() >= ROOMY
    for column in columns:
        made.add_column(
            column,
            justify="right" if column in right else "left",
            overflow="fold",
            no_wrap=whole and column not in FOLDED,
        )
    return made


def show_table(made: Table) -> None:
    """Print a table as wide as the terminal."""
    console().print(made)


def console() -> Console:
    """A rich console on stdout that keeps to what the terminal can show."""
    from rich.console import Console

    class OnStdout(Console):
        def on_broken_pipe(self) -> None:
            """Go on without a reader: Console would exit with 1, whatever the answer is."""
            streams.forget(sys.stdout)

    # Texts of files stand in tables: no [word] is markup and no :word: a picture.
    return OnStdout(
        width=width(), no_color=not colour_shown(), highlight=False, markup=False, emoji=False, soft_wrap=False
    )


@contextmanager
def progress_line() -> Iterator[Progress]:
    """A progress callback that keeps one line on stderr up to date, on a terminal only."""
    if not sys.stderr.isatty():
        yield silent
        return

    def show(done: int, total: int, text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{done}/{total} {text}"[: width() - 1])
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
