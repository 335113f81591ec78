"""The real worker: a child process that speaks JSON lines on its stdin and stdout."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from compilemask.measure.machine import gpu_name
from compilemask.measure.report import CompileReport, Outcome, ValidationReport
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
    Options,
    Progress,
    Run,
    Shutdown,
    Trouble,
    decode,
    encode,
)

MASK = """\
param length = 40
layout
    token : length
rules
    token sees token : causal
"""
WRONG = MASK.replace("causal", "casual")


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker process from its parent's side."""

    process: subprocess.Popen[str]

    def send(self, message: Message) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(encode(message) + "\n")
        self.process.stdin.flush()

    def receive(self) -> Message:
        """The next line; every line must be a message."""
        assert self.process.stdout is not None
        return decode(self.process.stdout.readline())

    def answer(self) -> Message:
        """The next message that is no progress."""
        while isinstance(message := self.receive(), Progress):
            assert 0 <= message.done <= message.total
        return message


@contextmanager
def started(*command: str) -> Iterator[Worker]:
    """A worker past its hello, which must end by itself when told to."""
    words = command or (sys.executable, "-m", "compilemask.worker")
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        worker = Worker(process)
        hello = worker.receive()
        assert isinstance(hello, Hello)
        assert hello.protocol == PROTOCOL
        assert hello.gpu == gpu_name()
        yield worker
        with suppress(BrokenPipeError):
            worker.send(Shutdown())
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.communicate()


def run(number: int, job: Job, text: str = MASK, **options: object) -> Run:
    mask = MaskInput("tri.mask", text, None, (("length", 70),))
    return Run(number, job, mask, replace(Options(), **options))  # type: ignore[arg-type]


def test_it_validates_and_survives_what_is_wrong() -> None:
    with started() as worker:
        worker.send(run(1, Job.VALIDATE, WRONG))
        worker.send(run(2, Job.VALIDATE, block_m=64, block_n=64))

        failed, done = worker.answer(), worker.answer()
        assert isinstance(failed, Failed)
        assert (failed.id, failed.trouble) == (1, Trouble.MASK)
        assert "tri.mask:5:24" in failed.text
        assert isinstance(done, Done)
        assert isinstance(done.report, ValidationReport)
        assert done.report.passed
        assert done.report.query_length == 70
        assert any(check.name.startswith("kernel") for check in done.report.checks)
        assert all(check.outcome is Outcome.PASS for check in done.report.checks)


@pytest.mark.skipif(gpu_name() is not None, reason="this machine has a GPU")
def test_it_compiles_and_refuses_to_time_without_a_gpu() -> None:
    with started(sys.executable, "-m", "compilemask.command_line", "worker") as worker:
        worker.send(run(1, Job.TIME))
        worker.send(run(2, Job.COMPILE, targets=("sm_99",)))
        worker.send(run(3, Job.COMPILE, targets=("sm_80",), head_dim=32))

        refused, unknown, done = worker.answer(), worker.answer(), worker.answer()
        assert isinstance(refused, Failed)
        assert (refused.trouble, "no CUDA GPU" in refused.text) == (Trouble.UNAVAILABLE, True)
        assert isinstance(unknown, Failed)
        assert unknown.trouble is Trouble.USAGE
        assert isinstance(done, Done)
        assert isinstance(done.report, CompileReport)
        assert done.report.passed
        assert {target.target for target in done.report.targets} == {"sm_80"}


def test_a_long_run_is_cancelled_and_the_next_one_works() -> None:
    with started() as worker:
        worker.send(Run(1, Job.VALIDATE, MaskInput("tri.mask", MASK, None, (("length", 30_000),))))
        first = worker.receive()
        assert isinstance(first, Progress)
        worker.send(Cancel(1))

        assert worker.answer() == Cancelled(1)
        worker.send(run(2, Job.VALIDATE, WRONG))
        assert isinstance(worker.answer(), Failed)


def test_what_libraries_print_does_not_reach_the_protocol(tmp_path: Path) -> None:
    noisy = tmp_path / "sitecustomize.py"
    noisy.write_text("import atexit, os\natexit.register(os.write, 1, b'bye from a library')\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import sitecustomize; "
    code += "import runpy; runpy.run_module('compilemask.worker', run_name='__main__')"
    with started(sys.executable, "-c", code) as worker:
        worker.send(run(1, Job.VALIDATE, WRONG))
        assert isinstance(worker.answer(), Failed)
        worker.send(Shutdown())
        assert worker.process.stdout is not None
        assert worker.process.stdout.read() == ""
