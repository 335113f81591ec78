"""Messages survive the line, and no line breaks the reader."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compilemask.measure.report import (
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
from compilemask.worker_protocol import (
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
    ProtocolError,
    Run,
    Shutdown,
    Trouble,
    decode,
    encode,
)

CELL = WrongCell(0, 1, 5, 7, "answer[2]+1", "prompt+7", (0, 0), "visible", "hidden")
CHECKS = (Check("intervals", Outcome.PASS, "all cells"), Check("out", Outcome.FAIL, "rows", 1.25, CELL, 3))
TARGET = TargetReport(
    "sm_100",
    "forward",
    200,
    0,
    1024,
    256,
    (InstructionCount("tcgen05.mma", 8),),
    0.5,
    ("w",),
    (Listing("ptx", "a\nb"),),
)
ENTRY = TimingEntry("compilemask", 1.5, 0.01, 500.0, None, 1.0)
MESSAGES: list[Message] = [
    Run(1, Job.COMPILE, MaskInput("m", 'title "ä"\n', None, (("n", [1, None, "x", [True]]),)), Options(("sm_90",))),
    Run(2, Job.TIME, MaskInput("m", "", "/masks")),
    Cancel(1),
    Shutdown(),
    Hello(1, "0.1.0", "3.11.7", None, "3.7.1", None),
    Progress(1, 2, 5, "tile map"),
    Done(1, ValidationReport("m", 8, 9, "the CPU", CHECKS, ("a note",), 0.5)),
    Done(2, CompileReport("m", (TARGET,))),
    Done(3, TimingReport("m", "GPU", 1, 16, 128, "bfloat16", 64, 64, (ENTRY,))),
    Failed(None, Trouble.USAGE, "no"),
    Failed(4, Trouble.MASK, "line 1\nline 2"),
    Cancelled(1),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_survives_the_line(message: Message) -> None:
    line = encode(message)

    assert "\n" not in line
    assert line.isascii()
    assert decode(line) == message


def test_numbers_that_json_has_not_survive_as_words() -> None:
    checks = (Check("out", Outcome.FAIL, "rows", math.inf, None, 3, None, math.nan, -math.inf),)
    parameters = (("a", [math.inf, {"b": math.nan}]),)
    report = ValidationReport("m", 4, 4, "the CPU", checks, (), 0.5)

    lines = [encode(Done(1, report)), encode(Run(2, Job.VALIDATE, MaskInput("m", "", None, parameters)))]

    for line in lines:
        json.loads(line, parse_constant=pytest.fail)
    back = decode(lines[0])
    assert isinstance(back, Done)
    assert isinstance(back.report, ValidationReport)
    (check,) = back.report.checks
    assert (check.of_budget, check.largest_allowed) == (math.inf, -math.inf)
    assert check.largest_error is not None
    assert math.isnan(check.largest_error)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "not a line of JSON"),
        ("[1, 2]", "expected a JSON object"),
        ("{}", "`type` must be one of"),
        ('{"type": "run", "id": 1}', "missing 2 required"),
        ('{"type": "cancel", "id": "one"}', "cancel.id must be of type int"),
        ('{"type": "cancel", "id": true}', "cancel.id must be of type int"),
        ('{"type": "cancel", "id": 1, "why": 2}', "has no field 'why'"),
        ('{"type": "run", "id": 1, "job": "sing", "mask": {}}', "run.job must be one of validate, compile, time"),
        ('{"type": "run", "id": 1, "job": "time", "mask": 5}', "run.mask must be an object"),
        ('{"type": "done", "id": 1, "report": {"report_type": "object"}}', "report_type must be one of"),
        ("[" * 100_000, "not a line of JSON"),
    ],
)
def test_a_bad_line_is_named(line: str, said: str) -> None:
    with pytest.raises(ProtocolError, match=said.replace("[", r"\[")):
        decode(line)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(["run", "cancel", "done", "hello", "failed", "progress"])
fields = st.sampled_from(["id", "job", "mask", "options", "report", "text", "name", "protocol", "trouble"])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(names, st.dictionaries(fields, json_values, max_size=5))
def test_no_object_breaks_the_reader(kind: str, body: dict[str, object]) -> None:
    try:
        line = encode(decode(json.dumps({**body, "type": kind})))
    except ProtocolError:
        return

    assert encode(decode(line)) == line


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=60))
def test_no_text_breaks_the_reader(line: str) -> None:
    with pytest.raises(ProtocolError):
        decode(line)


def test_the_protocol_loads_neither_numpy_nor_torch() -> None:
    code = "import sys, compilemask.worker_protocol; print(sorted({'numpy', 'torch', 'triton'} & set(sys.modules)))"

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"
