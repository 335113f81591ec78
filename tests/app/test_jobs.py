"""The compile thread, the job board and the worker's client."""

from __future__ import annotations

import asyncio
import shlex
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from compilemask_app.job_board import JobBoard
from compilemask_app.jobs import compile_job
from compilemask_app.jobs.compile_job import Broken, CompileRequest, CompileThread, Outcome, guarded
from compilemask_app.jobs.pictures import Pictures
from compilemask_app.jobs.worker_client import WorkerClient
from compilemask_app.messages import WorkerLost, WorkerReplied
from compilemask_app.picture import Picture
from compilemask_app.widgets.job_bar import Phase
from textual.message import Message

from compilemask.errors import UsageError
from compilemask.worker_protocol import Cancelled, Done, Failed, Hello, Job, MaskInput, Options, Progress, Trouble
from tests.app.fakes import compile_fake

WORKER = Path(__file__).parent / "fake_worker.py"
MASK = MaskInput("mask", "length = 64")


def worker(behaviour: str) -> str:
    """The command that starts a fake worker."""
    return shlex.join([sys.executable, str(WORKER), behaviour])


def wait_for(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.002)


class TestCompileThread:
    """The newest text wins."""

    def test_requests_that_were_not_begun_are_dropped(self) -> None:
        gate, begun = threading.Event(), threading.Event()
        done: list[int] = []

        def work(request: CompileRequest) -> Picture:
            begun.set()
            gate.wait(5)
            return compile_fake(request)

        thread = CompileThread(work, lambda outcome: done.append(outcome.revision))
        thread.submit(CompileRequest(0, "m", "length = 4"))
        begun.wait(5)
        for revision in range(1, 6):
            thread.submit(CompileRequest(revision, "m", "length = 4"))
        gate.set()
        wait_for(lambda: 5 in done)
        thread.stop()
        assert done == [0, 5]

    def test_the_tiles_are_made_once_the_mask_is_drawn(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(compile_job, "DRAWN_S", 60.0)
        done: list[Outcome] = []
        thread = CompileThread(Pictures(), done.append)
        thread.submit(CompileRequest(3, "m", "layout\n    a : 8\nrules\n    a sees a : causal\n"))
        wait_for(lambda: len(done) == 1)
        thread.drawn(2)
        time.sleep(0.05)
        assert [isinstance(outcome, Picture) for outcome in done] == [False]
        thread.drawn(3)
        wait_for(lambda: len(done) == 2)
        thread.stop()
        assert isinstance(done[1], Picture)

    def test_nothing_is_delivered_after_the_end(self) -> None:
        gate, begun = threading.Event(), threading.Event()
        done: list[Outcome] = []

        def work(request: CompileRequest) -> Picture:
            begun.set()
            gate.wait(5)
            return compile_fake(request)

        thread = CompileThread(work, done.append)
        thread.submit(CompileRequest(0, "m", "length = 4"))
        begun.wait(5)
        thread.stop()
        gate.set()
        time.sleep(0.05)
        assert not done

    @pytest.mark.parametrize(
        ("error", "code"), [(UsageError("no"), "usage"), (MemoryError(), "memory"), (ValueError("odd"), "bug")]
    )
    def test_whatever_goes_wrong_becomes_a_finding(self, error: Exception, code: str) -> None:
        def work(_: CompileRequest) -> Picture:
            raise error

        outcome = guarded(work, CompileRequest(3, "m", ""))
        assert isinstance(outcome, Broken)
        assert outcome.revision == 3
        assert outcome.diagnostics[0].code == code


class TestJobBoard:
    """What is known of the jobs."""

    def test_a_job_goes_from_waiting_to_done(self) -> None:
        board = JobBoard().asked(Job.VALIDATE, 4).numbered(Job.VALIDATE, 7)
        assert board.busy()
        board = board.heard(Progress(7, 2, 8, "halfway"))
        assert board.states(4)[Job.VALIDATE].done == 2
        board = board.heard(Cancelled(7))
        assert board.states(4)[Job.VALIDATE].phase is Phase.IDLE
        assert not board.busy()

    def test_replies_about_other_runs_change_nothing(self) -> None:
        board = JobBoard().asked(Job.TIME, 0).numbered(Job.TIME, 3)
        assert board.heard(Progress(2, 1, 2, "old")) is board
        assert board.heard(Failed(None, Trouble.USAGE, "unreadable")) is board

    def test_results_of_an_older_text_are_marked(self) -> None:
        board = JobBoard().asked(Job.COMPILE, 1)
        assert not board.states(1)[Job.COMPILE].outdated
        assert board.states(2)[Job.COMPILE].outdated

    def test_a_lost_worker_fails_only_what_was_running(self) -> None:
        board = JobBoard().asked(Job.TIME, 0).numbered(Job.TIME, 1)
        board = board.heard(Failed(1, Trouble.UNAVAILABLE, "no GPU"))
        board = board.asked(Job.VALIDATE, 0).lost("it is gone")
        states = board.states(0)
        assert states[Job.TIME].phase is Phase.UNABLE
        assert (states[Job.VALIDATE].phase, states[Job.VALIDATE].text) == (Phase.BAD, "it is gone")
        assert states[Job.COMPILE].phase is Phase.IDLE


class Talk:
    """A client with what it posted."""

    def __init__(self, command: str) -> None:
        self.posted: list[Message] = []
        self.client = WorkerClient(self.posted.append, command)

    async def until(self, kind: type[object]) -> object:
        """The last reply or loss of a kind, once it came."""
        for _ in range(1500):
            for message in reversed(self.posted):
                found = message.reply if isinstance(message, WorkerReplied) else message
                if isinstance(found, kind):
                    return found
            await asyncio.sleep(0.01)
        raise AssertionError(f"no {kind.__name__}: {self.posted}")


@pytest.fixture
async def talk() -> AsyncIterator[Callable[[str], Talk]]:
    made: list[Talk] = []

    def make(command: str) -> Talk:
        made.append(Talk(command))
        return made[-1]

    yield make
    for one in made:
        await one.client.close()


class TestWorkerClient:
    """One process, spoken to in lines."""

    async def test_a_run_is_answered_with_progress_and_a_report(self, talk: Callable[[str], Talk]) -> None:
        one = talk(worker("good"))
        number = await one.client.run(Job.VALIDATE, MASK, Options())
        done = await one.until(Done)
        assert isinstance(done, Done)
        assert done.id == number
        assert isinstance(await one.until(Hello), Hello)
        assert isinstance(await one.until(Progress), Progress)
        assert not one.client.running

    async def test_a_run_can_be_cancelled(self, talk: Callable[[str], Talk]) -> None:
        one = talk(worker("slow"))
        await one.client.run(Job.COMPILE, MASK, Options())
        await one.until(Progress)
        await one.client.cancel()
        assert isinstance(await one.until(Cancelled), Cancelled)

    async def test_a_crash_is_told_once_with_its_last_words_and_the_next_run_starts_afresh(
        self, talk: Callable[[str], Talk]
    ) -> None:
        one = talk(worker("crash"))
        await one.client.run(Job.TIME, MASK, Options())
        lost = await one.until(WorkerLost)
        assert isinstance(lost, WorkerLost)
        assert lost.jobs == (Job.TIME,)
        assert "illegal memory access" in lost.reason
        assert sum(isinstance(message, WorkerLost) for message in one.posted) == 1
        one.posted.clear()
        await one.client.run(Job.TIME, MASK, Options())
        assert isinstance(await one.until(Hello), Hello)

    async def test_another_version_is_explained(self, talk: Callable[[str], Talk]) -> None:
        one = talk(worker("old"))
        await one.client.run(Job.VALIDATE, MASK, Options())
        lost = await one.until(WorkerLost)
        assert isinstance(lost, WorkerLost)
        assert "protocol" in lost.reason
        assert "install the same" in lost.reason

    async def test_a_command_that_is_no_worker_is_explained(self, talk: Callable[[str], Talk]) -> None:
        one = talk(worker("no worker"))
        await one.client.run(Job.VALIDATE, MASK, Options())
        lost = await one.until(WorkerLost)
        assert isinstance(lost, WorkerLost)
        assert "Welcome to gpu-box" in lost.reason

    async def test_a_command_that_cannot_be_started_is_explained(self, talk: Callable[[str], Talk]) -> None:
        one = talk("/no/such/program worker")
        assert await one.client.run(Job.VALIDATE, MASK, Options()) is None
        lost = await one.until(WorkerLost)
        assert isinstance(lost, WorkerLost)
        assert "/no/such/program" in lost.reason

    async def test_a_shell_stands_in_for_ssh(self, talk: Callable[[str], Talk]) -> None:
        one = talk(f"sh -c {shlex.quote(worker('good'))}")
        await one.client.run(Job.COMPILE, MASK, Options())
        assert isinstance(await one.until(Done), Done)
