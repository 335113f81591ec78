"""The worker's loop, with jobs that do as the test says."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TextIO

import pytest

from compilemask.errors import MaskFileError, UnavailableError, UsageError
from compilemask.measure.progress import Progress
from compilemask.measure.report import ValidationReport
from compilemask.source import Diagnostic, Severity
from compilemask.worker.service import Service
from compilemask.worker_protocol import (
    PROTOCOL,
    Cancel,
    Cancelled,
    Done,
    Failed,
    Hello,
    Job,
    MaskInput,
    Message,
    Run,
    Shutdown,
    Trouble,
    decode,
    encode,
)
from compilemask.worker_protocol import Progress as ProgressMessage

REPORT = ValidationReport("m", 1, 1, "here", (), (), 0.0)
Carry = Callable[[Run, Progress], ValidationReport]


@dataclass(frozen=True, slots=True)
class Client:
    """The other end of a service."""

    requests: TextIO
    replies: TextIO

    def send(self, message: Message | str) -> None:
        line = message if isinstance(message, str) else encode(message)
        self.requests.write(line + "\n")
        self.requests.flush()

    def receive(self) -> Message:
        """The next reply that is no progress."""
        while True:
            message = decode(self.replies.readline())
            if not isinstance(message, ProgressMessage):
                return message


@contextmanager
def served(carry: Carry) -> Iterator[Client]:
    """A service on two pipes, past its hello; it must end when its input does."""
    there, back = os.pipe(), os.pipe()
    with (
        os.fdopen(there[0]) as requests,
        os.fdopen(there[1], "w") as client_out,
        os.fdopen(back[0]) as client_in,
        os.fdopen(back[1], "w") as replies,
    ):
        thread = threading.Thread(target=Service(requests, replies, carry).serve, daemon=True)
        thread.start()
        client = Client(client_out, client_in)
        hello = client.receive()
        assert isinstance(hello, Hello)
        assert hello.protocol == PROTOCOL
        yield client
        client_out.close()
        thread.join(timeout=20)
        assert not thread.is_alive()


def run(number: int) -> Run:
    return Run(number, Job.VALIDATE, MaskInput("m", ""))


def test_runs_are_answered_in_order() -> None:
    with served(lambda request, progress: REPORT) as client:
        client.send(run(1))
        client.send(run(2))

        assert client.receive() == Done(1, REPORT)
        assert client.receive() == Done(2, REPORT)


def diagnostic() -> Diagnostic:
    return Diagnostic(Severity.ERROR, "size", "the sizes do not fit")


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        (MaskFileError([diagnostic()]), Trouble.MASK),
        (UsageError("no such target"), Trouble.USAGE),
        (UnavailableError("no GPU"), Trouble.UNAVAILABLE),
        (ZeroDivisionError("by zero"), Trouble.INTERNAL),
    ],
)
def test_a_failed_run_says_why_and_the_next_one_works(error: Exception, trouble: Trouble) -> None:
    def carry(request: Run, progress: Progress) -> ValidationReport:
        if request.id == 1:
            raise error
        return REPORT

    with served(carry) as client:
        client.send(run(1))
        client.send(run(2))

        failed = client.receive()
        assert isinstance(failed, Failed)
        assert (failed.id, failed.trouble) == (1, trouble)
        assert str(error) in failed.text
        assert client.receive() == Done(2, REPORT)


def test_bad_lines_are_answered_and_survived() -> None:
    with served(lambda request, progress: REPORT) as client:
        for line in ("nonsense", '{"type": "hello"}', encode(Cancelled(3)), ""):
            client.send(line)
        client.send(run(1))

        for _ in range(3):
            failed = client.receive()
            assert isinstance(failed, Failed)
            assert failed.id is None
        assert client.receive() == Done(1, REPORT)


def test_a_run_in_progress_and_a_waiting_one_are_cancelled() -> None:
    started = threading.Event()

    def carry(request: Run, progress: Progress) -> ValidationReport:
        started.set()
        for step in range(10_000):
            progress(step, 10_000, "working")
            threading.Event().wait(0.005)
        return REPORT

    with served(carry) as client:
        client.send(run(1))
        client.send(run(2))
        assert started.wait(10)
        client.send(Cancel(77))
        client.send(Cancel(2))
        client.send(Cancel(1))

        assert client.receive() == Cancelled(1)
        assert client.receive() == Cancelled(2)


def test_a_run_that_ends_while_it_is_cancelled_leaves_the_service_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ending(dict[int, threading.Event]):
        """Says that a run is there, which the other thread has taken away by the next look."""

        def __contains__(self, key: object) -> bool:
            return key == 77 or super().__contains__(key)

    made = Service.__init__

    def init(self: Service, *arguments: Any) -> None:
        made(self, *arguments)
        self._stops = Ending()

    monkeypatch.setattr(Service, "__init__", init)
    with served(lambda request, progress: REPORT) as client:
        client.send(Cancel(77))
        client.send(run(1))

        assert client.receive() == Done(1, REPORT)


def test_progress_is_told_when_it_changes() -> None:
    def carry(request: Run, progress: Progress) -> ValidationReport:
        for text in "aab":
            progress(0, 1, text)
        return REPORT

    with served(carry) as client:
        client.send(run(1))
        lines = [decode(client.replies.readline()) for _ in range(4)]

    assert [line.text for line in lines[:3] if isinstance(line, ProgressMessage)] == ["starting", "a", "b"]
    assert lines[3] == Done(1, REPORT)


def test_shutdown_stops_the_run_in_progress() -> None:
    started = threading.Event()

    def carry(request: Run, progress: Progress) -> ValidationReport:
        started.set()
        while True:
            progress(1, 2, "working")
            threading.Event().wait(0.005)

    with served(carry) as client:
        client.send(run(1))
        assert started.wait(10)
        client.send(Shutdown())

        assert client.receive() == Cancelled(1)


def test_the_same_number_twice_is_refused() -> None:
    release = threading.Event()

    def carry(request: Run, progress: Progress) -> ValidationReport:
        release.wait(10)
        return REPORT

    with served(carry) as client:
        client.send(run(1))
        client.send(run(1))

        refused = client.receive()
        release.set()
        assert isinstance(refused, Failed)
        assert "already here" in refused.text
        assert client.receive() == Done(1, REPORT)
