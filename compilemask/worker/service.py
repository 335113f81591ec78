"""The worker's loop: one thread reads requests, another works them off in order."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import TextIO

from compilemask import __version__
from compilemask.errors import MaskFileError, UnavailableError, UsageError
from compilemask.measure.machine import gpu_name, python_version, version_of
from compilemask.measure.progress import Progress, Stopped
from compilemask.measure.report import CompileReport, TimingReport, ValidationReport
from compilemask.worker import jobs
from compilemask.worker_protocol import (
    MAX_LINE,
    PROTOCOL,
    Cancel,
    Cancelled,
    Done,
    Failed,
    Hello,
    ProtocolError,
    Reply,
    Run,
    Shutdown,
    Trouble,
    decode,
    encode,
)
from compilemask.worker_protocol import Progress as ProgressMessage

Report = ValidationReport | CompileReport | TimingReport
Carry = Callable[[Run, Progress], Report]
SECONDS_BETWEEN_PROGRESS = 0.05


class Service:
    """Serves one stream of requests. `carry` does the jobs (tests put another in its place)."""

    def __init__(self, requests: TextIO, replies: TextIO, carry: Carry = jobs.carry_out) -> None:
        self._requests = requests
        self._replies = replies
        self._carry = carry
        self._writing = threading.Lock()
        self._waiting: queue.Queue[Run | None] = queue.Queue()
        self._stops: dict[int, threading.Event] = {}

    def serve(self) -> None:
        """Say hello, then serve until the stream ends or a `Shutdown` arrives; waits for the current run to stop."""
        self._say(
            Hello(
                PROTOCOL,
                __version__,
                python_version(),
                version_of("torch"),
                version_of("triton"),
                gpu_name(),
            )
        )
        worker = threading.Thread(target=self._work, name="jobs")
        worker.start()
        try:
            self._listen()
        finally:
            for stop in list(self._stops.values()):
                stop.set()
            self._waiting.put(None)
            worker.join()

    def _say(self, reply: Reply) -> None:
        with self._writing:
            try:
                self._replies.write(encode(reply) + "\n")
                self._replies.flush()
            except (BrokenPipeError, ValueError):
                for stop in list(self._stops.values()):
                    stop.set()

    def _listen(self) -> None:
        while line := self._requests.readline(MAX_LINE + 1):
            if not line.strip():
                continue
            try:
                message = decode(line)
            except ProtocolError as error:
                self._say(Failed(None, Trouble.USAGE, f"unreadable request: {error}"))
                continue
            if isinstance(message, Shutdown):
                return
            if isinstance(message, Cancel):
                stop = self._stops.get(message.id)  # the run may end at this moment, and take its entry away
                if stop is not None:
                    stop.set()
            elif isinstance(message, Run):
                self._accept(message)
            else:
                self._say(Failed(None, Trouble.USAGE, "unreadable request: expected run, cancel or shutdown"))

    def _accept(self, run: Run) -> None:
        if run.id in self._stops:
            self._say(Failed(None, Trouble.USAGE, f"unreadable request: run {run.id} is already here"))
            return
        self._stops[run.id] = threading.Event()
        self._waiting.put(run)

    def _work(self) -> None:
        while (run := self._waiting.get()) is not None:
            reply = self._answer(run)
            del self._stops[run.id]
            self._say(reply)

    def _answer(self, run: Run) -> Reply:
        stop = self._stops[run.id]
        last, said = 0.0, None

        def progress(done: int, total: int, text: str) -> None:
            nonlocal last, said
            if stop.is_set():
                raise Stopped
            now, message = time.monotonic(), ProgressMessage(run.id, done, total, text)
            if message != said and (now - last >= SECONDS_BETWEEN_PROGRESS or done == 0):
                last, said = now, message
                self._say(message)

        try:
            progress(0, 1, "starting")
            return Done(run.id, self._carry(run, progress))
        except Stopped:
            return Cancelled(run.id)
        except MaskFileError as error:
            return Failed(run.id, Trouble.MASK, str(error))
        except UsageError as error:
            return Failed(run.id, Trouble.USAGE, str(error))
        except UnavailableError as error:
            return Failed(run.id, Trouble.UNAVAILABLE, str(error))
        except Exception as error:
            return Failed(run.id, Trouble.INTERNAL, f"{type(error).__name__}: {error}")
