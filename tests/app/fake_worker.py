"""A worker that answers at once, for the tests of the workbench: `python fake_worker.py BEHAVIOUR`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from compilemask.measure.report import (  # noqa: E402
    Check,
    CompileReport,
    InstructionCount,
    Listing,
    Outcome,
    TargetReport,
    TimingEntry,
    TimingReport,
    ValidationReport,
    WrongCell,
)
from compilemask.worker_protocol import (  # noqa: E402
    PROTOCOL,
    Cancel,
    Cancelled,
    Done,
    Failed,
    Hello,
    Job,
    Message,
    Progress,
    Run,
    Shutdown,
    Trouble,
    decode,
    encode,
)


def say(message: Message) -> None:
    """One line."""
    print(encode(message), flush=True)


def report(run: Run) -> ValidationReport | CompileReport | TimingReport:
    """A small report of the kind that is asked for; a mask with `red` in its text fails validation at (9, 3)."""
    name = run.mask.name
    if run.job is Job.VALIDATE:
        wrong = WrongCell(0, 0, 9, 3, "left+9", "left+3", (0, 0), "visible", "hidden")
        red = "red" in run.mask.text
        check = Check("tile map", Outcome.FAIL if red else Outcome.PASS, "all", None, wrong if red else None, int(red))
        return ValidationReport(name, 64, 64, "the CPU", (check,), (), 0.1)
    if run.job is Job.COMPILE:
        text = "\n".join(
            f"mma.sync line {number}" if number % 10 == 0 else f"mov line {number}" for number in range(100)
        )
        target = TargetReport(
            "sm_90", "forward", 200, 0, 65536, 0, (InstructionCount("wgmma", 32),), 0.5, (), (Listing("ptx", text),)
        )
        return CompileReport(name, (target,))
    entries = (
        TimingEntry("CompileMask", 1.5, 0.01, 500.0, 520.0, 1.0),
        TimingEntry("FlexAttention", 3.0, 0.02, 250.0, None, 2.0),
    )
    return TimingReport(name, "a test", 1, 16, 128, "bfloat16", 64, 64, entries)


def main(behaviour: str) -> None:
    """Serve until the input ends."""
    if behaviour == "no worker":
        print("Welcome to gpu-box")
        return
    say(Hello(PROTOCOL + (behaviour == "old"), "9.9", "3.11", None, None, None))
    for line in sys.stdin:
        message = decode(line)
        if isinstance(message, Shutdown):
            return
        if isinstance(message, Cancel):
            say(Cancelled(message.id))
        if isinstance(message, Run):
            answer(behaviour, message)


def answer(behaviour: str, run: Run) -> None:
    """One run, by behaviour: good, slow (until cancelled), crash, no gpu."""
    say(Progress(run.id, 1, 4, "a first step"))
    if behaviour == "crash":
        print("CUDA error: an illegal memory access", file=sys.stderr, flush=True)
        time.sleep(0.05)
        sys.exit(9)
    if behaviour == "no gpu" and run.job is Job.TIME:
        say(Failed(run.id, Trouble.UNAVAILABLE, "there is no GPU here: times need one"))
    elif behaviour != "slow":
        say(Done(run.id, report(run)))


if __name__ == "__main__":
    main(sys.argv[1])
