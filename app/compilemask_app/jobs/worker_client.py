"""The measuring process: started when first needed, spoken to in JSON lines, started again after a crash."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass

from textual.message import Message

from compilemask.worker_protocol import (
    MAX_LINE,
    PROTOCOL,
    Cancel,
    Cancelled,
    Done,
    Failed,
    Hello,
    Job,
    MaskInput,
    Options,
    ProtocolError,
    Request,
    Run,
    Shutdown,
    decode,
    encode,
)
from compilemask_app.messages import WorkerLost, WorkerReplied

STDERR_KEPT = 4000


@dataclass(slots=True)
class _Link:
    """One started process."""

    process: asyncio.subprocess.Process
    reader: asyncio.Task[None]
    errors: asyncio.Task[None]
    last_words: str = ""


class WorkerClient:
    """Sends runs and posts what comes back. `command` replaces this machine's own worker, ssh for instance."""

    def __init__(self, post: Callable[[Message], object], command: str | None = None) -> None:
        self._post = post
        self._command = shlex.split(command) if command else [sys.executable, "-m", "compilemask.worker"]
        self._link: _Link | None = None
        self._starting = asyncio.Lock()
        self._next = 1
        self.running: dict[int, Job] = {}
        self.hello: Hello | None = None

    @property
    def command(self) -> str:
        """How the worker is started, in words."""
        return shlex.join(self._command)

    async def run(self, job: Job, mask: MaskInput, options: Options) -> int | None:
        """Ask for a job; its id, or None when no worker can be started (a `WorkerLost` says why)."""
        link = await self._linked()
        if link is None:
            return None
        number = self._next
        self._next += 1
        self.running[number] = job
        await self._send(link, Run(number, job, mask, options))
        return number

    async def cancel(self) -> None:
        """Cancel everything that runs or waits."""
        if self._link is not None:
            for number in list(self.running):
                await self._send(self._link, Cancel(number))

    async def close(self) -> None:
        """End the process, politely first."""
        link, self._link = self._link, None
        if link is None:
            return
        link.reader.cancel()
        link.errors.cancel()
        with contextlib.suppress(OSError, ConnectionError):
            await self._send(link, Shutdown())
        with contextlib.suppress(ProcessLookupError):
            link.process.terminate()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(link.process.wait(), 2)
        if link.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                link.process.kill()

    async def _linked(self) -> _Link | None:
        async with self._starting:
            if self._link is None:
                self._link = await self._start()
            return self._link

    async def _start(self) -> _Link | None:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=MAX_LINE,
                start_new_session=True,
            )
        except OSError as error:
            self._post(WorkerLost(f"the worker could not be started: {self.command}: {error.strerror}", ()))
            return None
        link = _Link(process, asyncio.create_task(asyncio.sleep(0)), asyncio.create_task(asyncio.sleep(0)))
        link.reader = asyncio.create_task(self._read(link))
        link.errors = asyncio.create_task(self._collect_errors(link))
        return link

    async def _send(self, link: _Link, request: Request) -> None:
        if link.process.stdin is None or link.process.stdin.is_closing():
            return
        with contextlib.suppress(ConnectionError):
            link.process.stdin.write((encode(request) + "\n").encode())
            await link.process.stdin.drain()

    async def _read(self, link: _Link) -> None:
        reason = ""
        assert link.process.stdout is not None
        while line := await link.process.stdout.readline():
            reason = self._take(line.decode(errors="replace").strip())
            if reason:
                break
        await self._lost(link, reason)

    def _take(self, line: str) -> str:
        """Post one reply; a text if the two sides can't understand each other."""
        if not line:
            return ""
        try:
            reply = decode(line)
        except ProtocolError as error:
            if self.hello is None:
                return f"{self.command} does not speak as a worker does; its first line: {line:.120}"
            return f"the worker sent an unreadable line: {error}"
        if isinstance(reply, Hello):
            self.hello = reply
            if reply.protocol != PROTOCOL:
                return (
                    f"the worker speaks protocol {reply.protocol} (CompileMask {reply.version}), this workbench "
                    f"{PROTOCOL}; install the same CompileMask on both machines"
                )
        if isinstance(reply, (Run, Cancel, Shutdown)):
            return "the worker sent a request; is the command another workbench?"
        if isinstance(reply, (Done, Failed, Cancelled)):
            self._post(WorkerReplied(reply))
            self.running.pop(reply.id or 0, None)
            return ""
        self._post(WorkerReplied(reply))
        return ""

    async def _lost(self, link: _Link, reason: str) -> None:
        if self._link is not link:
            return
        self._link = None
        with contextlib.suppress(ProcessLookupError):
            link.process.kill()
        code = await link.process.wait()
        await asyncio.sleep(0)
        jobs = tuple(self.running.values())
        self.running.clear()
        self.hello = None
        words = link.last_words.strip().splitlines()
        last = f": {words[-1]}" if words else ""
        self._post(WorkerLost(reason or f"the worker ended (exit code {code}){last}", jobs))

    async def _collect_errors(self, link: _Link) -> None:
        assert link.process.stderr is not None
        while chunk := await link.process.stderr.read(1024):
            link.last_words = (link.last_words + chunk.decode(errors="replace"))[-STDERR_KEPT:]
