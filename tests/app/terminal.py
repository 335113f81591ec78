"""A program in a pseudo terminal, with just enough of a screen to read what stands on it."""

from __future__ import annotations

import contextlib
import re
import time
from types import TracebackType

import pexpect

_SEQUENCE = re.compile(
    r"\x1b\[(?P<parameters>[0-9;?<>=$! ]*)(?P<final>[a-zA-Z~])"
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
    r"|\x1b[PX^_].*?\x1b\\"
    r"|\x1b[=>()78cDEHM].?",
    re.DOTALL,
)


class Cells:
    """A screen of `rows` x `columns` cells; understands cursor moves, and takes every character as one wide."""

    def __init__(self, rows: int, columns: int) -> None:
        self._cells = [[" "] * columns for _ in range(rows)]
        self._row = self._column = 0
        self._rest = ""

    @property
    def text(self) -> str:
        """What stands on the screen."""
        return "\n".join("".join(row).rstrip() for row in self._cells)

    def feed(self, data: str) -> None:
        """What a program writes."""
        data = self._rest + data
        self._rest = ""
        at = 0
        while at < len(data):
            if data[at] != "\x1b":
                self._put(data[at])
                at += 1
                continue
            found = _SEQUENCE.match(data, at)
            if found is None:
                self._rest = data[at:]
                return
            self._move(found)
            at = found.end()

    def _move(self, found: re.Match[str]) -> None:
        if found["final"] in ("H", "f"):
            numbers = [int(part or 1) for part in (found["parameters"] or "1;1").split(";")]
            self._row, self._column = numbers[0] - 1, (numbers[1] if len(numbers) > 1 else 1) - 1

    def _put(self, character: str) -> None:
        if character == "\n":
            self._row += 1
        elif character == "\r":
            self._column = 0
        elif character >= " " and 0 <= self._row < len(self._cells) and 0 <= self._column < len(self._cells[0]):
            self._cells[self._row][self._column] = character
            self._column += 1


class Terminal(Cells):
    """Runs a command on such a screen."""

    def __init__(self, command: list[str], environment: dict[str, str], folder: str, rows: int, columns: int) -> None:
        super().__init__(rows, columns)
        self.child = pexpect.spawn(
            command[0],
            command[1:],
            env=environment,
            cwd=folder,
            dimensions=(rows, columns),
            encoding="utf-8",
            codec_errors="replace",
        )

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.child.close(force=True)

    def send(self, keys: str) -> None:
        """Type."""
        self.child.send(keys)

    def wait(self, words: str, seconds: float = 30.0, *, gone: bool = False) -> None:
        """Until the words stand on the screen, or are gone from it."""
        end = time.monotonic() + seconds
        while (words in self.text) is gone:
            assert time.monotonic() < end, f"{words!r} {'still' if gone else 'not'} on the screen:\n{self.text}"
            with contextlib.suppress(pexpect.TIMEOUT):
                self.feed(self.child.read_nonblocking(65536, timeout=0.1))

    def ended(self, seconds: float = 30.0) -> int | None:
        """Wait for the end; the exit code."""
        self.child.expect(pexpect.EOF, timeout=seconds)
        self.child.close()
        status: int | None = self.child.exitstatus
        return status
